// Translates whole texts of many clients, fairly and in bounded memory. It is for servers: the
// units of a text are cut and submitted one by one, and handed on in order while later ones are
// still being translated, so that a text costs little more than its bytes, however many units it
// has.
#ifndef NIBU_TEXT_FEED_H_
#define NIBU_TEXT_FEED_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/export.h"
#include "nibu/result.h"
#include "nibu/text.h"
#include "nibu/translator.h"

namespace nibu {

// A unit of a text that has been translated.
struct FedUnit {
  TextUnit unit;
  std::shared_ptr<const std::vector<std::string>> translations;  // Best first; at least one.
  int source_tokens = 0;
  int target_tokens = 0;
  int64_t tag = 0;
};

// A text for TextFeed::Submit. The functions are called on threads of the feed and of its
// translator, which they must not block for long. They must not destroy the feed.
struct FeedText {
  std::string text;
  // Its Options::text and Options::markup say how the text is cut into units.
  std::shared_ptr<const Plan> plan;
  // The tag of the text's beginning, and the factor by which its units' costs count: see TextFeed.
  int64_t tag = 0;
  int64_t share = 1;
  // A text that has not ended by then ends with DeadlineExceeded, at the latest when its next unit
  // is due or ends.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // Returns the translations of a unit, best first and at least one, if they are known; otherwise
  // null. May be null itself.
  std::function<std::shared_ptr<const std::vector<std::string>>(const TextUnit& unit)> find =
      nullptr;
  // Called with each unit that has been translated, in any order, perhaps on several threads at a
  // time. May be null.
  std::function<void(const FedUnit& unit)> on_unit = nullptr;
  // Called once: with the translations of the text, best first, or with the error of the first
  // unit that failed. The n-th translation of a text joins the n-th ones of its units, of which
  // those with fewer repeat their last one. With TextKind::kLines, line ends are those of the
  // source. Not called if the text is cancelled; called again, with a status, if it throws.
  std::function<void(absl::StatusOr<std::vector<std::string>> translations)> done;
};

// Units of all texts are cut, tokenized and decoded in the order of their tags. The tag of a unit
// is
//
//   tag = tag of the unit in front of it (FeedText::tag for the first one)
//         + share * max(256, bytes of the unit)
//
// where units without words cost nothing. Whoever sets the first tags to the virtual time of fair
// queueing (A. Demers, S. Keshav and S. Shenker, "Analysis and simulation of a fair queueing
// algorithm", SIGCOMM 1989) gets its guarantees: short texts pass long ones, and nobody waits for
// ever.
//
// At most kMostUnits units exist at a time, from where they are cut to where their results are
// written, and none is cut while kMostSentences wait in the translator. A line, or a block of a
// document, of more than 1 KB is cut at ends of sentences into several units. So apart from its
// bytes, twice, and those of its translations, a text takes no memory of its own.
//
// Thread-safe. It has one thread, which cuts and tokenizes.
class NIBU_EXPORT TextFeed {
 public:
  // Enough for the decoder to find sentences of similar length for its batches. A unit takes some
  // 3 KB, and a sentence that waits as much.
  static constexpr size_t kMostUnits = 4096;
  static constexpr size_t kMostSentences = 4096;

  // Submits a unit, as Translator::Submit does. Tests replace it.
  using SubmitUnit = std::function<absl::StatusOr<Ticket>(
      const TextUnit& unit, std::shared_ptr<const Plan> plan, Request request, Done done)>;

  // The translator must outlive the feed. Returns ResourceExhausted if there is no thread for it.
  static absl::StatusOr<std::unique_ptr<TextFeed>> Create(Translator* translator);
  // Cancels all texts.
  ~TextFeed();
  TextFeed(const TextFeed&) = delete;
  TextFeed& operator=(const TextFeed&) = delete;

  // A text that was submitted, for Cancel.
  class Text;
  // Takes a text and returns at once. The caller bounds the number of texts and their bytes.
  absl::StatusOr<std::shared_ptr<Text>> Submit(FeedText text);
  // Ends a text whose result is not needed. No function of its FeedText is called afterwards, but
  // one that has begun may still run. Does nothing once the text has ended.
  void Cancel(const std::shared_ptr<Text>& text);

  // Returns what the lines of a text cost together at least, without cutting it.
  static int64_t CostOf(absl::string_view text);

  // Returns the number of units that exist.
  size_t units() const;
  void SetSubmitUnit(SubmitUnit submit);

 private:
  class State;
  explicit TextFeed(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // The translator's threads share it, as long as they have units.
  std::shared_ptr<State> state_;
};

}  // namespace nibu

#endif  // NIBU_TEXT_FEED_H_
