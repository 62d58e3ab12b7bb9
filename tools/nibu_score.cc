// nibu-score: log-probabilities of given translations.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/files/errors.h"
#include "nlohmann/json.hpp"
#include "tools/decoding_flags.h"
#include "tools/flags.h"
#include "tools/lines.h"
#include "tools/output_format.h"
#include "tools/run_lines.h"
#include "tools/text/resources.h"

ABSL_FLAG(std::string, src, "-", "File with one source a line; - is standard input.");
ABSL_FLAG(std::string, tgt, "", "File with the translations to be scored, line by line.");
ABSL_FLAG(bool, tsv, false, "--src has both: source, tab, target.");
ABSL_FLAG(bool, tokenized, false, "Both are pieces separated by single spaces.");
ABSL_FLAG(std::string, output_format, "text",
          "text: the mean log-probability of a line's tokens, end of sentence included; or jsonl: "
          "tokens and token_scores, too.");
ABSL_FLAG(bool, stats, false,
          "At the end one line of JSON on standard error: counts, times, memory; log_prob is of "
          "all tokens, perplexity of a token.");

namespace nibu {
namespace {

ProgramInfo Program() {
  return {
      "nibu-score",
      "[flags]",
      "Scores each line of --tgt as a translation of the same line of --src. An output line for\n"
      "every pair, in order.",
      {{"Model and text",
        "model ensemble_weights src_lang tgt_lang src tgt tsv tokenized sentencepiece "
        "encoder_attention max_input_length"},
       {"Speed (only compute_type can change a result)",
        "compute_type threads batch_size batch_type"},
       {"Output", "out output_format progress stats"}}};
}

// Pairs of lines, as "source<tab>target". A tab of the source itself is a blank.
class Pairs : public LineSource {
 public:
  Pairs(InputLines sources, InputLines targets)
      : sources_(std::move(sources)), targets_(std::move(targets)) {}

  absl::StatusOr<bool> Next(std::string* line) override {
    std::string target;
    NIBU_ASSIGN_OR_RETURN(const bool has_source, sources_.Next(line));
    NIBU_ASSIGN_OR_RETURN(const bool has_target, targets_.Next(&target));
    if (has_source != has_target) {
      return Invalid(has_source ? "--tgt" : "--src",
                     " has fewer lines than the other file: ", count_,
                     "; give one target for each source");
    }
    ++count_;
    std::replace(line->begin(), line->end(), '\t', ' ');
    absl::StrAppend(line, "\t", target);
    return has_source;
  }
  double progress() const override { return sources_.progress(); }

 private:
  InputLines sources_;
  InputLines targets_;
  uint64_t count_ = 0;
};

absl::StatusOr<std::unique_ptr<LineSource>> OpenPairs(const std::string& out) {
  const std::string src = absl::GetFlag(FLAGS_src);
  const std::string tgt = absl::GetFlag(FLAGS_tgt);
  NIBU_RETURN_IF_ERROR(Refuse(
      {{absl::GetFlag(FLAGS_tsv) != tgt.empty(),
        "give the targets with --tgt, or a file that has both with --src and --tsv"},
       {src == "-" && tgt == "-", "--src and --tgt cannot both be standard input; use --tsv"}}));
  NIBU_ASSIGN_OR_RETURN(InputLines sources, OpenLines({}, src, out));
  if (tgt.empty()) return std::make_unique<InputLines>(std::move(sources));
  NIBU_ASSIGN_OR_RETURN(InputLines targets, OpenLines({}, tgt, out));
  return std::make_unique<Pairs>(std::move(sources), std::move(targets));
}

void PrintStats(const Totals& totals, double load_seconds, double seconds) {
  const auto tokens = static_cast<double>(totals.target_tokens);
  const nlohmann::ordered_json stats = {
      {"sentences", totals.lines},
      {"source_tokens", totals.source_tokens},
      {"target_tokens", totals.target_tokens},
      {"log_prob", totals.log_prob},
      {"perplexity", tokens > 0 ? std::exp(-totals.log_prob / tokens) : 1.0},
      {"load_seconds", load_seconds},
      {"seconds", seconds},
      {"tokens_per_second", tokens / seconds},
      {"peak_rss_bytes", PeakMemoryBytes()}};
  std::fprintf(stderr, "%s\n", stats.dump().c_str());
}

// An error where the model gives a token no probability at all.
absl::StatusOr<TextResult> CheckScores(absl::StatusOr<TextResult> result) {
  if (!result.ok() || result->hypotheses.empty()) return result;
  const TextHypothesis& scored = result->hypotheses[0];
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
  ParseCommandLineOrExit(Program(), argc, argv);
  NIBU_ASSIGN_OR_RETURN(const ModelFlags model, ReadModelFlags());
  NIBU_ASSIGN_OR_RETURN(const bool json,
                        Choose<bool>("output_format", {{"text", false}, {"jsonl", true}}));
  NIBU_ASSIGN_OR_RETURN(TranslatorOptions speed, ReadTranslatorFlags());
  speed.max_decoding_length =
      std::numeric_limits<int>::max();  // as long as the model has positions
  OutputFile out(absl::GetFlag(FLAGS_out));
  NIBU_ASSIGN_OR_RETURN(const auto source, OpenPairs(out.direct()));
  TextOptions text = ReadTextFlags(absl::GetFlag(FLAGS_tokenized));
  text.split_sentences = false;
  NIBU_ASSIGN_OR_RETURN(const auto translator, LoadTranslator(model, speed, &text));
  text.decoding = DecodingOptions();  // the mean of what the model itself says of all tokens
  const auto plan = translator->Prepare(text);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(plan.status()));
  const double load_seconds = SecondsSince(start);

  Totals totals;
  Pipeline::Options options;
  options.submit = [&](uint64_t index, const std::string& line, Pipeline::Deliver deliver) {
    const auto end = [&, deliver = std::move(deliver)](uint64_t key,
                                                       absl::StatusOr<TextResult> found) noexcept {
      const absl::StatusOr<TextResult> result = CheckScores(std::move(found));
      totals.Add(key, key, result);
      deliver(FormatScore(json, key, result.value_or(TextResult())));
    };
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      return end(index, Invalid("it has no tab; give source, tab, target"));
    }
    const auto ticket = translator->Submit(
        line.substr(0, tab), {.plan = *plan, .key = index, .target = line.substr(tab + 1)}, end,
        TextTranslator::kForever);
    if (!ticket.ok()) end(index, ticket.status());
  };
  NIBU_ASSIGN_OR_RETURN(const double seconds,
                        RunLines(source.get(), std::move(options), speed, &out, &signals));
  if (absl::GetFlag(FLAGS_stats)) PrintStats(totals, load_seconds, seconds);
  return totals.Failure("scored");
}

}  // namespace
}  // namespace nibu

int main(int argc, char** argv) { return nibu::ExitStatus(nibu::Run(argc, argv)); }
