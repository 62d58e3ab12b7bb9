// Scores given translations; and the input and output that both commands share.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/totals.h"
#include "tools/marian/gzip_writer.h"
#include "tools/marian/marian_commands.h"
#include "tools/marian/marian_setup.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {

absl::StatusOr<MarianInput> MarianInput::Open(const MarianOptions& options, const char* name,
                                              bool has_second, const std::string& out) {
  const bool is_tsv = options.IsOn("tsv");
  const int fields = options.Int("tsv-fields");
  const std::vector<std::string> paths = options.List(name);
  const size_t files = has_second && !is_tsv ? 2 : 1;
  NIBU_RETURN_IF_ERROR(
      Refuse({{paths.size() != files,
               absl::StrCat("--", name, " must name ", files, files == 1 ? " file" : " files",
                            ", not ", paths.size())},
              {is_tsv && fields != 0 && fields != (has_second ? 2 : 1),
               absl::StrCat("--tsv-fields must be ", has_second ? 2 : 1, ", not ", fields,
                            "; models of several sources are not supported")}}));
  const auto open = [&](const std::string& path) {
    return OpenLines({}, path == "stdin" ? "-" : path, out);
  };
  NIBU_ASSIGN_OR_RETURN(InputLines first, open(paths[0]));
  std::optional<InputLines> second;
  if (files == 2) {
    NIBU_ASSIGN_OR_RETURN(second, open(paths[1]));
  }
  return MarianInput(std::move(first), std::move(second), is_tsv, has_second);
}

absl::StatusOr<std::string> MarianInput::TakeSecond(std::string* line) {
  std::string taken;
  if (second_.has_value()) {
    NIBU_ASSIGN_OR_RETURN(const bool more, second_->Next(&taken));
    return more ? taken
                : absl::StatusOr<std::string>(Invalid("the second file has no line for it"));
  }
  if (!is_tsv_) return taken;
  const size_t tab = line->find('\t');
  if (tab == std::string::npos && has_second_) return Invalid("it has no tab");
  if (tab == std::string::npos) return taken;
  if (has_second_) taken = line->substr(tab + 1, line->find('\t', tab + 1) - tab - 1);
  line->resize(tab);
  return taken;
}

bool MarianInput::HasMore() {
  std::string line;
  return second_.has_value() && second_->Next(&line).value_or(false);
}

std::string MarianOutputPath(const MarianOptions& options) {
  const std::string path = options.Text("output");
  return path == "stdout" ? "-" : path;
}

absl::StatusOr<double> RunMarianLines(const MarianOptions& options, InputLines* lines,
                                      Pipeline::Options pipeline,
                                      const nibu::Translator& translator, const SpeedOptions& speed,
                                      OutputFile* out, SignalWatcher* signals) {
  if (absl::EndsWith(options.Text("output"), ".gz")) {
    out->SetBinary();
    const auto gzip = std::make_shared<GzipWriter>();
    pipeline.encode = [gzip](const std::string& bytes, bool is_last) {
      return gzip->Write(bytes, is_last);
    };
  }
  UnitSource units(lines, Options());
  CliOptions cli;
  cli.progress = false;
  return RunLines(&units, std::move(pipeline), translator, speed, cli, out, signals);
}

absl::Status ScoreMarian(const MarianOptions& options, MarianLog* log, SignalWatcher* signals) {
  OutputFile out(MarianOutputPath(options));
  NIBU_ASSIGN_OR_RETURN(MarianInput input, MarianInput::Open(options, "train-sets",
                                                             /*has_second=*/true, out.direct()));
  NIBU_ASSIGN_OR_RETURN(const MarianSetup setup, SetUpMarian(MarianCommand::kScore, options));
  const auto translator = nibu::Translator::Create(setup.speed);
  NIBU_RETURN_IF_ERROR(MarianError(translator.status()));
  const auto plan = (*translator)->Prepare(setup.model, setup.text);
  NIBU_RETURN_IF_ERROR(MarianError(plan.status()));
  Totals totals;
  Pipeline::Options pipeline;
  pipeline.submit = [&](uint64_t index, const InputUnit& unit, Pipeline::Deliver deliver) {
    const auto end = [&totals, deliver = std::move(deliver)](
                         uint64_t key, const absl::StatusOr<nibu::Result>& result) noexcept {
      totals.Add(key, key, result);
      // With its length penalty, the score is the sum of log-probabilities divided as asked.
      deliver(result.ok() ? absl::StrCat(result->hypotheses[0].score, "\n") : "\n");
    };
    std::string source = unit.source();
    absl::StatusOr<std::string> target = input.TakeSecond(&source);
    if (!target.ok()) return end(index, target.status());
    const auto ticket =
        (*translator)
            ->Submit(source, *plan, {.key = index, .target = *std::move(target)}, end, kForever);
    if (!ticket.ok()) end(index, ticket.status());
  };
  NIBU_ASSIGN_OR_RETURN(const double seconds,
                        RunMarianLines(options, input.first(), std::move(pipeline), **translator,
                                       setup.speed, &out, signals));
  log->TotalTime(seconds);
  NIBU_RETURN_IF_ERROR(totals.Failure("scored"));
  return input.HasMore() ? Invalid("the second file of --train-sets has more lines than the first")
                         : absl::OkStatus();
}

}  // namespace nibu::internal
