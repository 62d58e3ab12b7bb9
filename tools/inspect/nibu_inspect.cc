// nibu-inspect: what a model is made of, and what it attends to.

#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"
#include "tools/cli/decoding_flags.h"
#include "tools/cli/flags.h"
#include "tools/cli/output_file.h"
#include "tools/inspect/inspect.h"

ABSL_FLAG(bool, tensors, true,
          "Every tensor: name, type, shape, bytes, smallest and largest value, "
          "NaNs; a .nibu file's checksums are verified.");
ABSL_FLAG(bool, json, false, "One JSON object instead of text.");
ABSL_FLAG(std::string, target, "",
          "The translation to look at (text or, with --tokenized, pieces), in place of the model's "
          "own.");
ABSL_FLAG(bool, tokenized, false, "TEXT is pieces separated by single spaces.");
ABSL_FLAG(std::string, html, "", "File for a page that a browser shows; - is standard output.");
ABSL_FLAG(bool, ascii, false,
          "One layer's cross-attention as characters, and all heads' entropies: what is printed "
          "where neither --json nor --html is given.");
ABSL_FLAG(int, layer, -1,
          "The decoder layer shown, from 0; -1: the last, and so on. Unless given: that of "
          "alignments.");
ABSL_FLAG(int, head, -1,
          "Its head shown, from 0; -1: the mean of all. Unless given: that of alignments, if they "
          "are of one, else the mean.");

namespace nibu::internal {
namespace {

ProgramInfo Program() {
  return {
      "nibu-inspect",
      "--model=PATH [flags]",
      "Tells a model's format, licence, languages, architecture, size, vocabulary and tensors,\n"
      "and what loading it costs. Exit status 1: it, or a part of it, cannot be used.\n"
      "nibu-inspect attention TEXT shows what a model attends to; see nibu-inspect attention "
      "--help.",
      {{"What", "model tensors compute_type"}, {"Output", "json"}}};
}

ProgramInfo AttentionProgram() {
  return {"nibu-inspect",
          "attention [flags] TEXT",
          "Shows what a model attends to while it translates TEXT: self-attention of encoder and\n"
          "decoder, and cross-attention, of all layers and heads. TEXT is one piece to it: its\n"
          "sentences are not translated one by one, and nothing in it is protected.",
          {{"Model and text", "model src_lang tgt_lang sentencepiece tokenized target"},
           {"Search and type", "beam_size shortlist compute_type encoder_attention"},
           {"Output", "html json ascii layer head"}},
          /*takes_text=*/true};
}

// The file is whole, or not there under its name.
absl::Status Write(const std::string& path, const std::string& text, SignalWatcher* signals) {
  OutputFile out(path);
  NIBU_RETURN_IF_ERROR(out.Open());
  const auto write = [&] {
    absl::Status status = WriteAll(out.fd(), text);
    if (absl::IsCancelled(status)) status = absl::OkStatus();  // nobody wants more
    return status.ok() ? status : out.Failed(status.message());
  };
  return WriteOutput(&out, signals, write, [] {});
}

absl::Status ShowAttention(int argc, char** argv, SignalWatcher* signals) {
  const std::vector<std::string> texts = ParseCommandLineOrExit(AttentionProgram(), argc, argv);
  const std::string html = absl::GetFlag(FLAGS_html);
  const bool json = absl::GetFlag(FLAGS_json);
  const bool ascii = absl::GetFlag(FLAGS_ascii) || (!json && html.empty());
  NIBU_RETURN_IF_ERROR(
      Refuse({{texts.size() != 1, absl::StrCat("give one TEXT (in quotes), not ", texts.size())},
              {json + ascii + (html == "-") > 1,
               "give one of --json, --ascii and --html=-, which all go to standard output"}}));
  NIBU_ASSIGN_OR_RETURN(const ModelFlags flags, ReadOneModelFlags());
  const TextOptions options = ReadTextFlags(absl::GetFlag(FLAGS_tokenized));
  std::optional<std::string> target;
  if (WasGiven("target")) target = absl::GetFlag(FLAGS_target);
  NIBU_ASSIGN_OR_RETURN(AttentionView view, ViewAttention(flags, options, texts[0], target));

  const int layers = view.config.layers_decoder;
  if (WasGiven("layer")) view.layer = absl::GetFlag(FLAGS_layer);
  if (WasGiven("layer") || WasGiven("head")) view.head = absl::GetFlag(FLAGS_head);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(CheckRange("layer", view.layer, -layers, layers - 1)));
  if (view.layer < 0) view.layer += layers;
  NIBU_RETURN_IF_ERROR(
      UsageOfFlag(CheckRange("head", view.head, -1, view.config.heads_decoder - 1)));
  if (!html.empty()) NIBU_RETURN_IF_ERROR(Write(html, AttentionPage(view), signals));
  if (json) return Write("-", AttentionJson(view), signals);
  if (ascii) return Write("-", AttentionGrid(view), signals);
  return absl::OkStatus();
}

absl::Status ShowModel(int argc, char** argv, SignalWatcher* signals) {
  ParseCommandLineOrExit(Program(), argc, argv);
  NIBU_ASSIGN_OR_RETURN(const ModelFlags flags, ReadOneModelFlags());
  NIBU_ASSIGN_OR_RETURN(const Inspection inspection,
                        Inspect(flags.path, flags.compute_type, absl::GetFlag(FLAGS_tensors)));
  const std::string text =
      absl::GetFlag(FLAGS_json)
          ? inspection.facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
          : inspection.text;
  NIBU_RETURN_IF_ERROR(Write("-", text, signals));
  return inspection.status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  static nibu::internal::SignalWatcher& signals = *new nibu::internal::SignalWatcher();
  const bool attention = argc > 1 && std::string(argv[1]) == "attention";
  return nibu::internal::ExitStatus(
      attention ? nibu::internal::ShowAttention(argc - 1, argv + 1, &signals)
                : nibu::internal::ShowModel(argc, argv, &signals));
}
