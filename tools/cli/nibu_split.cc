// nibu-split splits text into sentences.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "nibu/nibu.h"
#include "nlohmann/json.hpp"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_file.h"

namespace nibu::internal {
namespace {

ProgramInfo Program(CliOptions* options) {
  return {
      "nibu-split",
      "split",
      "[flags] [TEXT ...]",
      "Splits each TEXT, or each line of --src, into sentences, and prints one a line; an empty\n"
      "line stays one.",
      {{CliOptionRows(), options}},
      /*takes_text=*/true};
}

// Returns the output for a line: its sentences, each on a line, or a JSON object.
std::string Format(bool json, uint64_t id, absl::string_view line,
                   const std::vector<ByteSpan>& sentences) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  for (const ByteSpan& span : sentences) {
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

// Splits all lines. Each is written as soon as it is split, since the next one may be long in
// coming.
absl::Status SplitLines(InputLines* source, const nibu::SentenceSplitter& splitter, bool json,
                        const OutputFile& out) {
  std::string line;
  for (uint64_t id = 0;; ++id) {
    NIBU_ASSIGN_OR_RETURN(const bool more, source->Next(&line));
    if (!more) return absl::OkStatus();
    NIBU_ASSIGN_OR_RETURN(const std::vector<ByteSpan> sentences, splitter.Split(line));
    const absl::Status written = WriteAll(out.fd(), Format(json, id, line, sentences));
    if (absl::IsCancelled(written)) return absl::OkStatus();  // the reader of the pipe is gone
    if (!written.ok()) return out.Failed(written.message());
  }
}

absl::Status Run(int argc, char** argv) {
  static SignalWatcher& signals = *new SignalWatcher();
  CliOptions cli;
  const std::vector<std::string> texts = ParseCommandLineOrExit(Program(&cli), argc, argv);
  const auto splitter = nibu::SentenceSplitter::Create(cli.language);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(splitter.status()));
  OutputFile out(cli.out);
  NIBU_ASSIGN_OR_RETURN(InputLines source, OpenLines(texts, cli.src, out.direct()));
  NIBU_RETURN_IF_ERROR(out.Open());
  OutputGuard guard(&out, &signals);
  return guard.End(SplitLines(&source, **splitter, cli.json, out));
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
