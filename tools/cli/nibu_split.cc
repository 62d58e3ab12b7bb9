// nibu-split: text in, sentences out.

#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "nlohmann/json.hpp"
#include "tokenizer/sentences/sentence_splitter.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"

ABSL_FLAG(
    std::string, src, "-",
    "File with text (UTF-8, or compressed with gzip), split line by line; - is standard input.");
ABSL_FLAG(std::string, out, "-", "File for the sentences; - is standard output.");
ABSL_FLAG(
    std::string, language, "en",
    "Language of the text: en, de-DE, zho_Hans, ... A language that is not known gets the rules "
    "that hold for all.");
ABSL_FLAG(bool, json, false,
          "A JSON object for every line of text, with the bytes where its sentences begin and end: "
          "{\"id\":0,\"sentences\":[{\"begin\":0,\"end\":3,\"text\":\"Oh!\"}]}.");

namespace nibu::internal {
namespace {

ProgramInfo Program() {
  return {
      "nibu-split",
      "[flags] [TEXT ...]",
      "Splits each TEXT, or each line of --src, into sentences, and prints one a line; an empty\n"
      "line stays one.",
      {{"Text", "language src"}, {"Output", "out json"}},
      /*takes_text=*/true};
}

// What is printed of a line: its sentences, one a line, or a JSON object.
std::string Format(uint64_t id, absl::string_view line, const std::vector<TextSpan>& sentences) {
  const bool json = absl::GetFlag(FLAGS_json);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  for (const TextSpan& span : sentences) {
    const std::string sentence(line.substr(span.begin, span.end - span.begin));
    absl::StrAppend(&text, sentence, "\n");
    if (json) list.push_back({{"begin", span.begin}, {"end", span.end}, {"text", sentence}});
  }
  if (json) {
    const nlohmann::ordered_json object = {{"id", id}, {"sentences", list}};
    text = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return text.empty() ? "\n" : text;
}

// Every line is written as soon as it is split: the next one may have to be waited for.
absl::Status SplitLines(LineSource* source, const SentenceSplitter& splitter,
                        const OutputFile& out) {
  std::string line;
  for (uint64_t id = 0;; ++id) {
    NIBU_ASSIGN_OR_RETURN(const bool more, source->Next(&line));
    if (!more) return absl::OkStatus();
    const absl::Status written = WriteAll(out.fd(), Format(id, line, splitter.Split(line)));
    if (absl::IsCancelled(written)) return absl::OkStatus();  // nobody wants more
    if (!written.ok()) return out.Failed(written.message());
  }
}

absl::Status Run(int argc, char** argv) {
  static SignalWatcher& signals = *new SignalWatcher();
  const std::vector<std::string> texts = ParseCommandLineOrExit(Program(), argc, argv);
  const std::string language = absl::GetFlag(FLAGS_language);
  if (!language.empty() && !IsLanguageCode(language)) {
    return WrongUsage("--language must be a code such as en, de-DE or zho_Hans, not \"", language,
                      "\"");
  }
  OutputFile out(absl::GetFlag(FLAGS_out));
  NIBU_ASSIGN_OR_RETURN(InputLines source,
                        OpenLines(texts, absl::GetFlag(FLAGS_src), out.direct()));
  NIBU_ASSIGN_OR_RETURN(const auto splitter, SentenceSplitter::Create(language));
  NIBU_RETURN_IF_ERROR(out.Open());
  return WriteOutput(
      &out, &signals, [&] { return SplitLines(&source, *splitter, out); }, [] {});
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
