// nibu-inspect shows what a model contains, and its attention for a line.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/check_range.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "models/files/float_json.h"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/model_flags.h"
#include "tools/cli/output_file.h"
#include "tools/inspect/convolution.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/inspect_options.h"
#include "tools/text/options/engine_options.h"

namespace nibu::internal {
namespace {

struct Settings {
  CliOptions cli;
  ModelOptions model;
  Options text;
  InspectOptions inspect;
};

ProgramInfo AttentionProgram(Settings* settings) {
  return {
      "nibu-inspect attention",
      "inspect-attention",
      "[flags] TEXT",
      "Shows what a model attends to while it translates TEXT: self-attention of encoder and\n"
      "decoder, and cross-attention, of every layer and head. TEXT is translated in one piece:\n"
      "its sentences are not split, and nothing in it is protected. A text whose matrices have\n"
      "more than 4,194,304 weights in all is refused.",
      {{CliOptionRows(), &settings->cli},
       {ModelOptionRows(), &settings->model},
       {TextOptionRows(), &settings->text},
       {InspectOptionRows(), &settings->inspect}},
      /*takes_text=*/true,
      /*lists=*/"",
      /*commands=*/{},
      /*repeats=*/"compare"};
}

ProgramInfo ConvolutionProgram(Settings* settings) {
  return {"nibu-inspect convolution",
          "inspect-convolution",
          "[flags]",
          "Shows how self-attention becomes a convolution (Cordonnier, Loukas and Jaggi 2020): an\n"
          "encoder layer with one head for each tap of --kernel and a quadratic encoding of\n"
          "distances, whose difference to the convolution shrinks as --alpha grows.",
          {{CliOptionRows(), &settings->cli}, {InspectOptionRows(), &settings->inspect}}};
}

ProgramInfo Program(Settings* settings) {
  return {
      "nibu-inspect",
      "inspect",
      "[flags]",
      "Prints a model's format, licence, languages, architecture, number of parameters,\n"
      "vocabulary, defaults, load time, memory and tensors. Exit status 1 means that the model,\n"
      "or a part of it, cannot be used. nibu-inspect attention TEXT shows what a model attends\n"
      "to, and nibu-inspect convolution how attention becomes a convolution; see their --help.",
      {{CliOptionRows(), &settings->cli},
       {ModelOptionRows(), &settings->model},
       {InspectOptionRows(), &settings->inspect}},
      /*takes_text=*/false,
      /*lists=*/"",
      {AttentionProgram(settings), ConvolutionProgram(settings)}};
}

// Writes a file, which appears under its name only if it is complete.
absl::Status Write(const std::string& path, const std::string& text, SignalWatcher* signals) {
  OutputFile out(path);
  NIBU_RETURN_IF_ERROR(out.Open());
  OutputGuard guard(&out, signals);
  absl::Status status = WriteAll(out.fd(), text);
  if (absl::IsCancelled(status)) status = absl::OkStatus();  // the reader of the pipe is gone
  return guard.End(status.ok() ? status : out.Failed(status.message()));
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
  NIBU_ASSIGN_OR_RETURN(const std::string model,
                        ReadOneModelFlag(settings.cli.model, settings.model));
  std::vector<std::string> compare;
  if (WasGiven("compare")) compare = FlagValues("compare");
  for (const std::string& mechanism : compare) {
    NIBU_RETURN_IF_ERROR(
        Refuse({{mechanism.empty(), "--compare needs a mechanism, such as full"}}));
    NIBU_RETURN_IF_ERROR(UsageOfFlag(ParseMixers(mechanism, "compare").status()));
  }
  NIBU_ASSIGN_OR_RETURN(AttentionView view, ViewAttention(model, settings.model, settings.text,
                                                          texts[0], options.target, compare));

  view.kind = options.kind;
  const bool is_encoder = view.kind == AttentionKind::kEncoder;
  const int layers = is_encoder ? view.config.layers_encoder : view.config.layers_decoder;
  if (view.kind != AttentionKind::kCross) {
    view.layer = -1;
    view.head = -1;
  }
  if (options.layer || options.head) view.head = options.head.value_or(-1);
  view.layer = options.layer.value_or(view.layer);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(CheckRange("layer", view.layer, -layers, layers - 1)));
  if (view.layer < 0) view.layer += layers;
  int heads = 0;
  for (const AttentionMap& map : view.MapsOf(view.kind)) {
    if (map.layer == view.layer) heads += map.heads;
  }
  NIBU_RETURN_IF_ERROR(UsageOfFlag(CheckRange("head", view.head, -1, heads - 1)));
  if (!html.empty()) NIBU_RETURN_IF_ERROR(Write(html, AttentionPage(view), signals));
  if (json) return Write("-", AttentionJson(view), signals);
  if (ascii) return Write("-", AttentionGrid(view), signals);
  return absl::OkStatus();
}

absl::Status ShowConvolution(int argc, char** argv, SignalWatcher* signals) {
  Settings settings;
  ParseCommandLineOrExit(ConvolutionProgram(&settings), argc, argv);
  const InspectOptions& options = settings.inspect;
  NIBU_RETURN_IF_ERROR(Refuse({{options.json && options.html == "-",
                                "give one of --json and --html=-, which both go to standard "
                                "output"}}));
  const auto view = ViewConvolution(options.kernel, options.alpha);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(view.status()));
  if (!options.html.empty()) {
    NIBU_RETURN_IF_ERROR(Write(options.html, ConvolutionPage(*view), signals));
    if (!options.json) return absl::OkStatus();
  }
  return Write("-", options.json ? ConvolutionJson(*view) : ConvolutionText(*view), signals);
}

absl::Status ShowModel(int argc, char** argv, SignalWatcher* signals) {
  Settings settings;
  ParseCommandLineOrExit(Program(&settings), argc, argv);
  const InspectOptions& options = settings.inspect;
  NIBU_ASSIGN_OR_RETURN(const std::string model,
                        ReadOneModelFlag(settings.cli.model, settings.model));
  NIBU_RETURN_IF_ERROR(ChooseComputeType(settings.model.compute_type).status());
  NIBU_ASSIGN_OR_RETURN(const Inspection inspection,
                        Inspect(model, settings.model.compute_type, options.tensors));
  std::string text = inspection.text;
  if (options.json) {
    // The facts have floats as doubles, with the digits of doubles.
    text = inspection.facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    text = FloatJson::parse(text).dump() + "\n";
  }
  NIBU_RETURN_IF_ERROR(Write("-", text, signals));
  return inspection.status;
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  static nibu::internal::SignalWatcher& signals = *new nibu::internal::SignalWatcher();
  const std::string command = argc > 1 ? argv[1] : "";
  const auto show = command == "attention"     ? nibu::internal::ShowAttention
                    : command == "convolution" ? nibu::internal::ShowConvolution
                                               : nibu::internal::ShowModel;
  const int skipped = show == nibu::internal::ShowModel ? 0 : 1;
  return nibu::internal::ExitStatus(show(argc - skipped, argv + skipped, &signals));
}
