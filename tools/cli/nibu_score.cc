// nibu-score prints the log-probabilities of given translations.

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "nibu/nibu.h"
#include "nlohmann/json.hpp"
#include "tools/cli/cli_options.h"
#include "tools/cli/flags.h"
#include "tools/cli/lines.h"
#include "tools/cli/output_format.h"
#include "tools/cli/run_lines.h"
#include "tools/cli/text_flags.h"
#include "tools/cli/totals.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {
namespace {

struct Settings {
  CliOptions cli;
  ModelOptions model;
  SpeedOptions speed;
  Options text;
};

ProgramInfo Program(Settings* settings) {
  return {
      "nibu-score",
      "score",
      "[flags]",
      "Scores each line of --tgt as a translation of the same line of --src, sentence by sentence\n"
      "where both have equally many, else as one sentence. An output line for every pair, in "
      "order.\n"
      "A score is the mean log-probability of its tokens, each among all tokens: penalties and\n"
      "shortlists do not count, and no token is excluded. --min_decoding_length=1 excludes what\n"
      "nibu-translate never generates, and gives its scores.",
      {{CliOptionRows(), &settings->cli},
       {ModelOptionRows(), &settings->model},
       {TextOptionRows(), &settings->text},
       {SpeedOptionRows(), &settings->speed}}};
}

// Opens the file of the targets, if there is one.
absl::StatusOr<std::optional<InputLines>> OpenTargets(const CliOptions& cli,
                                                      const std::string& out) {
  NIBU_RETURN_IF_ERROR(Refuse(
      {{cli.tsv != cli.tgt.empty(),
        "give the targets with --tgt, or a file that has both with --src and --tsv"},
       {WasGiven("shard") && cli.shard.empty(), "--shard is empty; give K/N"},
       {!cli.shard.empty() && cli.tgt == "-", "--shard needs files, and --tgt is standard input"},
       {cli.src == "-" && cli.tgt == "-",
        "--src and --tgt cannot both be standard input; use --tsv"}}));
  if (cli.tgt.empty()) return std::nullopt;
  return OpenLines({}, cli.tgt, out);
}

// Returns the target of a line: the next line of the targets' file or, if there is none, the text
// behind a tab, which is removed from the line.
absl::StatusOr<std::string> TakeTarget(std::optional<InputLines>* targets, std::string* line) {
  std::string target;
  if (targets->has_value()) {
    NIBU_ASSIGN_OR_RETURN(const bool more, (*targets)->Next(&target));
    if (!more) return Invalid("--tgt has no line for it; give one target for each source");
    return target;
  }
  const size_t tab = line->find('\t');
  if (tab == std::string::npos) return Invalid("it has no tab; give source, tab, target");
  target = line->substr(tab + 1);
  line->resize(tab);
  return target;
}

void PrintStats(const Totals& totals, double load_seconds, double seconds) {
  const auto tokens = static_cast<double>(totals.scored_tokens);
  const nlohmann::ordered_json stats = {
      {"sentences", totals.lines},
      {"source_tokens", totals.source_tokens},
      {"target_tokens", totals.target_tokens},
      {"log_prob", totals.log_prob},
      {"perplexity", tokens > 0 ? std::exp(-totals.log_prob / tokens) : 1.0},
      {"load_seconds", load_seconds},
      {"seconds", seconds},
      {"tokens_per_second", static_cast<double>(totals.target_tokens) / seconds},
      {"peak_rss_bytes", PeakMemoryBytes()}};
  std::fprintf(stderr, "%s\n", stats.dump().c_str());
}

// Returns an error if the model gives a token a probability of 0.
absl::StatusOr<nibu::Result> CheckScores(absl::StatusOr<nibu::Result> result) {
  if (!result.ok() || result->hypotheses.empty()) return result;
  const nibu::Hypothesis& scored = result->hypotheses[0];
  for (size_t i = 0; i < scored.token_scores.size(); ++i) {
    if (std::isfinite(scored.token_scores[i])) continue;
    return Invalid("its target has \"", scored.tokens[i],
                   "\" where the model never generates it; leave it out");
  }
  return result;
}

absl::Status Run(int argc, char** argv) {
  const Clock::time_point start = Clock::now();
  static SignalWatcher& signals = *new SignalWatcher();
  Settings settings;
  const CliOptions& cli = settings.cli;
  ModelOptions& loading = settings.model;
  const SpeedOptions& speed = settings.speed;
  Options& asked = settings.text;
  ParseCommandLineOrExit(Program(&settings), argc, argv);
  NIBU_RETURN_IF_ERROR(CheckTextFlags(asked));
  loading.shortlist = "none";  // probabilities are those among all tokens
  // A score is the mean log-probability, without the search's penalties. A target may be as long as
  // the model has positions.
  asked.beam_size = 1;
  asked.length_penalty = 1;
  asked.word_penalty = 0;
  asked.max_decoding_length = std::numeric_limits<int>::max();
  OutputFile out(cli.out);
  NIBU_ASSIGN_OR_RETURN(std::optional<InputLines> targets, OpenTargets(cli, out.direct()));
  NIBU_ASSIGN_OR_RETURN(InputLines source, OpenLines({}, cli.src, out.direct()));
  NIBU_ASSIGN_OR_RETURN(const UnitRange range,
                        ShardRange(cli.shard, cli.src, source, /*counts_units=*/!cli.tsv));
  NIBU_ASSIGN_OR_RETURN(const auto translator, UsageError(nibu::Translator::Create(speed)));
  NIBU_ASSIGN_OR_RETURN(const auto model, LoadModel(cli.model, loading, asked.tokenized));
  const auto plan = translator->Prepare(model, asked);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(plan.status()));
  const double load_seconds = SecondsSince(start);

  Totals totals;
  UnitSource units(&source, asked);
  Pipeline::Options options;
  NIBU_ASSIGN_OR_RETURN(options.first, units.Start(range, 0));
  if (targets.has_value()) NIBU_RETURN_IF_ERROR(SkipLines(options.first, &*targets));
  options.submit = [&](uint64_t index, const TextUnit& unit, Pipeline::Deliver deliver) {
    const auto end = [&, deliver = std::move(deliver)](
                         uint64_t key, absl::StatusOr<nibu::Result> found) noexcept {
      const absl::StatusOr<nibu::Result> result = CheckScores(std::move(found));
      totals.Add(key, key, result);
      deliver(FormatScore(cli.output_format == OutputFormat::kJsonl, key,
                          result.value_or(nibu::Result())));
    };
    std::string sentence = unit.source();
    const absl::StatusOr<std::string> target = TakeTarget(&targets, &sentence);
    if (!target.ok()) return end(index, target.status());
    const auto ticket =
        translator->Submit(sentence, *plan, {.key = index, .target = *target}, end, kForever);
    if (!ticket.ok()) end(index, ticket.status());
  };
  NIBU_ASSIGN_OR_RETURN(const double seconds, RunLines(&units, std::move(options), *translator,
                                                       speed, cli, &out, &signals));
  if (cli.stats) PrintStats(totals, load_seconds, seconds);
  NIBU_RETURN_IF_ERROR(totals.Failure("scored"));
  if (totals.scored_whole > 0) {
    PrintWarning(absl::StrCat(
        totals.scored_whole, " line(s) were scored as one sentence, the first is line ",
        totals.first_scored_whole + 1, ": source and target do not split into the same sentences"));
  }
  std::string line;
  if (range.is_last && targets.has_value() && targets->Next(&line).value_or(false)) {
    return Invalid("--src has fewer lines than --tgt; give one target for each source");
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace nibu::internal

int main(int argc, char** argv) {
  return nibu::internal::ExitStatus(nibu::internal::Run(argc, argv));
}
