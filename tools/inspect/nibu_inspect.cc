// nibu-inspect: what a model is made of, and what it attends to.

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/model_flags.h"
#include "tools/cli/output_file.h"
#include "tools/inspect/inspect.h"

namespace nibu::internal {
namespace {

struct InspectOptions {
  bool tensors = true;
  bool json = false;
  std::optional<std::string> target;
  std::string html;
  bool ascii = false;
  std::optional<int> layer;
  std::optional<int> head;
};

struct Settings {
  CliOptions cli;
  ModelOptions model;
  Options text;
  InspectOptions inspect;
};

absl::Span<const OptionRow> InspectOptionRows() {
  static const auto& rows = *new std::vector<OptionRow>{
      Row<&InspectOptions::tensors>(
          {.name = "tensors",
           .help = "List every tensor: name, type, shape, bytes, smallest and largest value, NaNs; "
                   "a .nibu file's checksums are verified.",
           .group = "Model",
           .programs = "inspect"}),
      Row<&InspectOptions::target>(
          {.name = "target",
           .help =
               "The translation to look at (text or, with --tokenized, pieces), in place of the "
               "model's own.",
           .group = "Text",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::json>(
          {.name = "json", .help = "Print one JSON object instead of text.", .group = "Output"}),
      Row<&InspectOptions::html>(
          {.name = "html",
           .help = "File for a page that a browser shows; - is standard output.",
           .group = "Output",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::ascii>(
          {.name = "ascii",
           .help =
               "Print one layer's cross-attention as characters, and all heads' entropies: what "
               "is printed where neither --json nor --html is given.",
           .group = "Output",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::layer>(
          {.name = "layer",
           .help =
               "The decoder layer shown, from 0; -1: the last, and so on. Unless given: that of "
               "alignments.",
           .group = "Output",
           .default_value = "-1",
           .programs = "inspect-attention"}),
      Row<&InspectOptions::head>(
          {.name = "head",
           .help = "Its head shown, from 0; -1: the mean of all. Unless given: that of alignments, "
                   "if they are of one, else the mean.",
           .group = "Output",
           .default_value = "-1",
           .programs = "inspect-attention"}),
  };
  return rows;
}

ProgramInfo Program(Settings* settings) {
  return {
      "nibu-inspect",
      "inspect",
      "--model=PATH [flags]",
      "Tells a model's format, licence, languages, architecture, size, vocabulary and tensors,\n"
      "and what loading it costs. Exit status 1: it, or a part of it, cannot be used.\n"
      "nibu-inspect attention TEXT shows what a model attends to; see nibu-inspect attention "
      "--help.",
      {{CliOptionRows(), &settings->cli},
       {ModelOptionRows(), &settings->model},
       {InspectOptionRows(), &settings->inspect}}};
}

ProgramInfo AttentionProgram(Settings* settings) {
  return {"nibu-inspect",
          "inspect-attention",
          "attention [flags] TEXT",
          "Shows what a model attends to while it translates TEXT: self-attention of encoder and\n"
          "decoder, and cross-attention, of all layers and heads. TEXT is one piece to it: its\n"
          "sentences are not translated one by one, and nothing in it is protected.",
          {{CliOptionRows(), &settings->cli},
           {ModelOptionRows(), &settings->model},
           {TextOptionRows(), &settings->text},
           {InspectOptionRows(), &settings->inspect}},
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
  Settings settings;
  const std::vector<std::string> texts =
      ParseCommandLineOrExit(AttentionProgram(&settings), argc, argv);
  const InspectOptions& options = settings.inspect;
  const std::string& html = options.html;
  const bool json = options.json;
  const bool ascii = options.ascii || (!json && html.empty());
  NIBU_RETURN_IF_ERROR(
      Refuse({{texts.size() != 1, absl::StrCat("give one TEXT (in quotes), not ", texts.size())},
              {json + ascii + (html == "-") > 1,
               "give one of --json, --ascii and --html=-, which all go to standard output"}}));
  NIBU_ASSIGN_OR_RETURN(const ModelFlags flags,
                        ReadOneModelFlags(settings.cli.model, settings.model));
  NIBU_ASSIGN_OR_RETURN(AttentionView view,
                        ViewAttention(flags, settings.text, texts[0], options.target));

  const int layers = view.config.layers_decoder;
  if (options.layer || options.head) view.head = options.head.value_or(-1);
  view.layer = options.layer.value_or(view.layer);
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
  Settings settings;
  ParseCommandLineOrExit(Program(&settings), argc, argv);
  const InspectOptions& options = settings.inspect;
  NIBU_ASSIGN_OR_RETURN(const ModelFlags flags,
                        ReadOneModelFlags(settings.cli.model, settings.model));
  NIBU_ASSIGN_OR_RETURN(const Inspection inspection,
                        Inspect(flags.path, flags.compute_type, options.tensors));
  const std::string text =
      options.json
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
