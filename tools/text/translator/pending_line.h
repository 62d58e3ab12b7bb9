// A line on its way through the engine.
//
// 1. Submit cuts a line into parts (ReadLine) and queues each of them in the plan's engine.
// 2. With two models, Continue hands the first model's translation of a part to the second model.
// 3. Take counts the parts that are done. The last one joins all parts (Finish) and calls `done`.
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_PENDING_LINE_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_PENDING_LINE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/request.h"
#include "nibu/translator.h"
#include "tools/text/lines/join.h"
#include "tools/text/lines/pivot.h"
#include "tools/text/marked/marked_text.h"
#include "tools/text/translator/plan.h"

namespace nibu::internal {

// Lives while a thread is within a function of the caller's: Done or on_step.
class CallbackScope {
 public:
  CallbackScope() { ++depth_; }
  ~CallbackScope() { --depth_; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
  static bool is_here() { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

// A line whose parts are being translated. Once they are submitted, the callbacks of the engines
// own it, and it holds its plan until `done` has returned. The callbacks of one engine come one at
// a time. No exception comes out of it.
class PendingLine : public std::enable_shared_from_this<PendingLine> {
 public:
  // `language`: see nibu::Result::source_language. The others: see nibu::Translator::Submit.
  PendingLine(std::shared_ptr<const Plan> plan, nibu::Request request, std::string language,
              nibu::Done done)
      : plan_(std::move(plan)),
        request_(std::move(request)),
        language_(std::move(language)),
        done_(std::move(done)) {}

  // Queues the line's parts, or the errors of nibu::Translator::Submit. To be called once, within a
  // use of the plan's engines (Engines::Use).
  absl::Status Submit(const MarkedLine& line, std::chrono::nanoseconds queue_timeout);

  // Ends the request with Cancelled. Does nothing once it has ended, or if the engines are not
  // those of its plan. To be called within a use of the engines.
  void Cancel(const Engines& by);

 private:
  // A part of the line on its way through two models.
  struct PivotPart {
    Request next;                 // for the second model, without its source
    PivotSentence sentence = {};  // the translation of the first model
    std::vector<std::vector<Hypothesis>> hypotheses = {};  // for each part of `sentence`
    size_t missing = 0;  // parts of `sentence` without a result, and 1 until all are submitted
    absl::Status status = {};  // the first error of a part of `sentence`
  };

  // Returns the request for a part.
  absl::StatusOr<Request> MakeRequest(size_t part, int64_t priority);
  // Returns a request for the first of two models, and keeps that for the second one.
  Request MakeFirstRequest(Request request);
  // Tells the caller of a token of a part. Tokens of one hypothesis come one at a time.
  bool Tell(size_t part, const Step& step);
  // Submits a part once more if other names are to stand for its protected parts. Returns whether
  // it has; otherwise the part has its hypotheses.
  absl::StatusOr<bool> TryAgain(size_t part, std::vector<Hypothesis> hypotheses);
  absl::Status SubmitAgain(size_t part);
  // Submits a request that follows one of the line's, so that Cancel cancels it, too. It may throw
  // before the request is submitted.
  absl::Status SubmitFollower(Translator* engine, Request request, Done done);
  // Takes the hypotheses of a part, or the error. The last part delivers the line's result.
  void Take(size_t part, Result result);
  // Takes the first model's translation of a part, and submits it to the second model
  // (SubmitPivot), in several requests if it is too long for one. TakePivot takes the result of a
  // request; the last one joins them and calls Take.
  void Continue(size_t part, const Hypothesis& translation);
  absl::Status SubmitPivot(size_t part, size_t index);
  void TakePivot(size_t part, size_t index, Result result);
  absl::StatusOr<nibu::Result> Finish();
  void Deliver(absl::StatusOr<nibu::Result> result) noexcept;
  void CancelParts(const Plan& plan) const;

  std::shared_ptr<const Plan>
      plan_;                   // null once the result is delivered; `mutex_` guards the change
  std::shared_ptr<void> use_;  // with two models: see Engines::Hold
  nibu::Request request_;
  std::string language_;
  bool ends_open_ = false;  // see nibu::Result
  nibu::Done done_;
  LineParts line_;
  std::vector<PivotPart> pivots_;  // for each part, if there are two models
  std::vector<Ticket> tickets_;    // only Submit uses them until is_submitted_, then only Cancel
  std::mutex mutex_;               // guards what follows, and the last two fields of PivotPart
  bool is_submitted_ = false;      // all parts are submitted
  size_t missing_ = 0;             // parts without a result
  absl::Status status_;            // the first error of a part
  std::vector<Ticket> followers_;  // the second model's requests, or those of TryAgain
  bool is_cancelled_ = false;
  // The tokens that on_step has been told of, for each hypothesis of each part.
  struct Told {
    std::vector<int> tokens;
    size_t bytes = 0;  // of their text
  };
  std::map<std::pair<size_t, size_t>, Told> told_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_PENDING_LINE_H_
