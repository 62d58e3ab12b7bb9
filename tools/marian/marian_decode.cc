// Translates lines, and writes them as Marian does.
//
// Marian's n-best lists have the score of each model of an ensemble. The search knows only their
// sum, so each model by itself scores the finished translations once more.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/totals.h"
#include "tools/marian/marian_commands.h"
#include "tools/marian/marian_setup.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {
namespace {

// Logs how fast lines are translated, each time so many of them are done. Thread-safe.
class SpeedLog {
 public:
  SpeedLog(const MarianOptions& options, MarianLog* log)
      : batch_(std::max(1, options.Int("mini-batch"))),
        every_(std::max(0, options.Int("stat-freq"))),
        log_(log) {}

  void Add(int source_tokens) {
    if (every_ == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    ++lines_;
    tokens_ += source_tokens;
    if (lines_ % (every_ * batch_) != 0) return;
    Print("since last", lines_ - last_lines_, tokens_ - last_tokens_, SecondsSince(last_));
    last_lines_ = lines_;
    last_tokens_ = tokens_;
    last_ = Clock::now();
  }
  void End() {
    if (every_ > 0) Print("total", lines_, tokens_, SecondsSince(start_));
  }

 private:
  // A batch is --mini-batch lines, whatever is really decoded together.
  void Print(const char* what, int64_t lines, int64_t tokens, double seconds) {
    const int64_t batches = (lines + batch_ - 1) / batch_;
    log_->Info(absl::StrFormat(
        "Processed %d batches, %d lines, %d source tokens in %.2fs - Speed (%s): %.2f batches/s - "
        "%.2f lines/s - %.2f tokens/s",
        batches, lines, tokens, seconds, what, static_cast<double>(batches) / seconds,
        static_cast<double>(lines) / seconds, static_cast<double>(tokens) / seconds));
  }

  const int64_t batch_;
  const int64_t every_;
  MarianLog* const log_;
  std::mutex mutex_;
  int64_t lines_ = 0;
  int64_t tokens_ = 0;
  int64_t last_lines_ = 0;
  int64_t last_tokens_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

// Translates lines with a plan. What it refers to must outlive all lines.
class LineDecoder {
 public:
  LineDecoder(const MarianOptions& options, const MarianFormat& format, const MarianSetup& setup,
              nibu::Translator* translator, MarianLog* log)
      : format_(format),
        setup_(setup),
        translator_(*translator),
        log_(options.IsOn("quiet-translation") ? nullptr : log),
        speed_(options, log) {}

  // Makes the plans. Returns MarianErrors.
  absl::Status Prepare() {
    auto plan = translator_.Prepare(setup_.model, setup_.text);
    NIBU_RETURN_IF_ERROR(MarianError(plan.status()));
    plan_ = *std::move(plan);
    if (!format_.n_best) return absl::OkStatus();
    Options scoring;
    scoring.tokenized = true;
    scoring.max_input_length = 1 << 14;  // a line that was split is scored as a whole
    scoring.max_decoding_length = 1 << 14;
    for (const auto& member : setup_.members) {
      auto member_plan = translator_.Prepare(member, scoring);
      NIBU_RETURN_IF_ERROR(MarianError(member_plan.status()));
      member_plans_.push_back(*std::move(member_plan));
    }
    return absl::OkStatus();
  }

  // Submits a line; `deliver` gets its output.
  void Submit(uint64_t index, std::string source, absl::StatusOr<std::string> prefix,
              Pipeline::Deliver deliver) {
    auto line = std::make_shared<Line>();
    line->index = index;
    line->source = std::move(source);
    line->deliver = std::move(deliver);
    if (!prefix.ok()) return End(*line, prefix.status());
    const auto done = [this, line](uint64_t, absl::StatusOr<nibu::Result> result) noexcept {
      if (member_plans_.empty() || !result.ok() || result->hypotheses.empty())
        return End(*line, result);
      line->result = *std::move(result);
      ScoreByMembers(line);
    };
    const auto ticket = translator_.Submit(
        line->source, plan_, {.key = index, .target_prefix = *std::move(prefix)}, done, kForever);
    if (!ticket.ok()) End(*line, ticket.status());
  }

  const Totals& totals() const { return totals_; }
  void EndLog() { speed_.End(); }
  // The most tokens of a source, its end included, that are translated at a time.
  int max_length() const { return translator_.max_input_length(*plan_) + 1; }

 private:
  struct Line {
    uint64_t index = 0;
    std::string source;
    Pipeline::Deliver deliver;
    nibu::Result result;
    std::mutex mutex;
    std::vector<std::vector<float>> features;  // [hypothesis][model]
    size_t missing = 0;                        // how many of these
    absl::Status status;
  };

  // Returns the tokens of a hypothesis without ends of sentences.
  static std::vector<std::string> TokensOf(const nibu::Hypothesis& hypothesis) {
    std::vector<std::string> tokens = hypothesis.tokens;
    const std::string end = hypothesis.end_token.empty() ? "</s>" : hypothesis.end_token;
    std::erase(tokens, end);
    return tokens;
  }

  std::string TextOf(const nibu::Hypothesis& hypothesis) const {
    if (setup_.writes_pieces == setup_.text.tokenized) return hypothesis.text;
    const std::vector<std::string> tokens = TokensOf(hypothesis);
    return setup_.writes_pieces ? absl::StrJoin(tokens, " ")
                                : setup_.model->Detokenize(tokens).value_or("");
  }

  // Lets each model of an ensemble score each hypothesis; the last score ends the line.
  void ScoreByMembers(const std::shared_ptr<Line>& line) noexcept {
    const auto& hypotheses = line->result.hypotheses;
    line->features.assign(hypotheses.size(), std::vector<float>(member_plans_.size()));
    line->missing = hypotheses.size() * member_plans_.size();
    std::string source = line->source;
    if (!setup_.text.tokenized) {
      const auto pieces = setup_.model->Tokenize(source);
      if (pieces.ok()) source = absl::StrJoin(*pieces, " ");
    }
    // The last score may end the line, and move the hypotheses away, within the loop.
    std::vector<std::string> targets;
    targets.reserve(hypotheses.size());
    for (const nibu::Hypothesis& each : hypotheses) {
      targets.push_back(absl::StrJoin(TokensOf(each), " "));
    }
    for (size_t n = 0; n < targets.size(); ++n) {
      for (size_t m = 0; m < member_plans_.size(); ++m) {
        const auto done = [this, line, n, m](uint64_t,
                                             const absl::StatusOr<nibu::Result>& scored) noexcept {
          {
            const std::lock_guard<std::mutex> lock(line->mutex);
            line->status.Update(scored.status());
            if (scored.ok()) line->features[n][m] = scored->hypotheses[0].log_prob;
            if (--line->missing > 0) return;
          }
          End(*line, line->status.ok() ? absl::StatusOr<nibu::Result>(std::move(line->result))
                                       : line->status);
        };
        const auto ticket = translator_.Submit(source, member_plans_[m],
                                               {.key = line->index, .target = targets[n]}, done);
        if (!ticket.ok()) done(line->index, ticket.status());
      }
    }
  }

  void End(const Line& line, const absl::StatusOr<nibu::Result>& result) noexcept {
    totals_.Add(line.index, line.index, result);
    std::string output;
    for (size_t n = 0; result.ok() && n < result->hypotheses.size(); ++n) {
      const nibu::Hypothesis& hypothesis = result->hypotheses[n];
      const std::string text = TextOf(hypothesis);
      if (n == 0 && log_ != nullptr) {
        log_->Info(absl::StrCat("Best translation ", line.index, " : ", text));
      }
      output += FormatMarianLine(
          format_, line.index, text, hypothesis,
          line.features.empty() ? std::vector<float>{hypothesis.log_prob} : line.features[n]);
      if (!format_.n_best) break;
    }
    speed_.Add(result.ok() ? result->source_tokens : 0);
    // There is a line of output for each line of input.
    line.deliver(output.empty() ? "\n" : output);
  }

  const MarianFormat& format_;
  const MarianSetup& setup_;
  nibu::Translator& translator_;
  MarianLog* const log_;  // null: translations are not logged
  SpeedLog speed_;
  Totals totals_;
  std::shared_ptr<const Plan> plan_;
  std::vector<std::shared_ptr<const Plan>> member_plans_;
};

}  // namespace

absl::Status DecodeMarian(const MarianOptions& options, MarianLog* log, SignalWatcher* signals) {
  NIBU_ASSIGN_OR_RETURN(MarianFormat format, MarianFormatOf(options));
  OutputFile out(MarianOutputPath(options));
  NIBU_ASSIGN_OR_RETURN(
      MarianInput input,
      MarianInput::Open(options, "input", options.IsOn("force-decode"), out.direct()));
  NIBU_ASSIGN_OR_RETURN(MarianSetup setup, SetUpMarian(MarianCommand::kDecode, options));
  format.weight_sum = setup.weight_sum;
  if (!setup.members.empty() && format.n_best) {
    // All translations of all lines that are under way may be scored at the same time.
    constexpr int64_t kMost = 1 << 30;
    const int64_t lines = int64_t{UsableCores()} * std::max(1024, 2 * setup.speed.batch_size);
    setup.speed.queue_size =
        static_cast<int>(std::min(kMost, lines * std::max(1, options.Int("beam-size"))));
  }
  const auto translator = nibu::Translator::Create(setup.speed);
  NIBU_RETURN_IF_ERROR(MarianError(translator.status()));
  for (const std::string& note : setup.model->info().notes) log->Warn(note);
  LineDecoder lines(options, format, setup, translator->get(), log);
  NIBU_RETURN_IF_ERROR(lines.Prepare());
  Pipeline::Options pipeline;
  pipeline.submit = [&](uint64_t index, const InputUnit& unit, Pipeline::Deliver deliver) {
    std::string source = unit.source();
    absl::StatusOr<std::string> prefix = input.TakeSecond(&source);
    lines.Submit(index, std::move(source), std::move(prefix), std::move(deliver));
  };
  NIBU_ASSIGN_OR_RETURN(const double seconds,
                        RunMarianLines(options, input.first(), std::move(pipeline), **translator,
                                       setup.speed, &out, signals));
  lines.EndLog();
  if (const Totals& totals = lines.totals(); totals.too_long > 0) {
    const bool is_cut = setup.text.long_input == LongInput::kTruncate;
    const std::string message =
        absl::StrCat(totals.too_long, " line(s) of more than ", lines.max_length(), " tokens were ",
                     is_cut ? "cut" : "split and translated in parts");
    is_cut ? log->Warn(message) : PrintWarning(message);
  }
  log->TotalTime(seconds);
  NIBU_RETURN_IF_ERROR(lines.totals().Failure("translated"));
  return input.HasMore() ? Invalid("the second file of --input has more lines than the first")
                         : absl::OkStatus();
}

}  // namespace nibu::internal
