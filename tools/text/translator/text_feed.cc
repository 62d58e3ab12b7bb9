// Implements nibu::TextFeed. A text goes through these steps:
//
// 1. Submit puts it into ready_, the texts that have more units to cut, in the order of their tags.
// 2. Run (the feed's thread) takes the text with the lowest tag, as long as there is room for a
//    unit, and calls Advance, which cuts its next unit and submits it. The text goes back to ready_
//    with a higher tag.
// 3. TakeResult (a thread of the translator, or the feed's own) writes the translations of a unit
//    behind those of the unit in front of it, if they are there, and before those of the next.
// 4. The last one or an error (Conclude), or Cancel, ends the text.

#include "nibu/text_feed.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/exception_status.h"
#include "engine/core/holds_lock.h"
#include "tokenizer/unicode/characters.h"
#include "tools/text/translator/translation_runs.h"
#include "tools/text/translator/unit_cutter.h"

namespace nibu {
namespace {

using Lock = std::unique_lock<std::mutex>;

// The fewest bytes that a unit counts as. Short units cost about the same, so their tags should not
// differ as their lengths do.
constexpr int64_t kLeastUnitCost = 256;
// Units whose tags fall into the same span of so many bytes have the same priority, so that the
// decoder can batch sentences of similar length.
constexpr int64_t kTagSpan = 1024;
// The time after which the feed looks again whether fewer sentences wait: they are decoded in
// batches, of which none takes much less.
constexpr auto kPause = std::chrono::milliseconds(2);

using Translations = internal::TranslationRuns::Translations;

// A unit that is being translated.
struct UnitUnderWay : internal::CutUnit {
  int64_t tag = 0;
  Ticket ticket = {};
};

// Where a text stands among those that are ready: its tag, and its number, by which it is unique.
using Place = std::pair<int64_t, uint64_t>;

}  // namespace

class TextFeed::Text {
 public:
  explicit Text(FeedText text) : fed(std::move(text)) {}

  FeedText fed;
  // The feed's thread uses it. It is null before the first unit and behind the last one.
  std::unique_ptr<internal::UnitCutter> cutter;

  // State::mutex_ guards what follows.
  Place place;
  uint64_t cut = 0;  // the number of units so far
  bool is_cut = false;
  std::map<uint64_t, UnitUnderWay> under_way;  // by the numbers of the units
  internal::TranslationRuns runs;
  // The first unit that failed, and why.
  uint64_t failed = std::numeric_limits<uint64_t>::max();
  absl::Status status;
  bool has_ended = false;
};

class TextFeed::State : public std::enable_shared_from_this<TextFeed::State> {
 public:
  explicit State(Translator* translator)
      : translator_(translator),
        submit_(std::make_shared<const SubmitUnit>([translator](const TextUnit& unit,
                                                                std::shared_ptr<const Plan> plan,
                                                                Request request, Done done) {
          return translator->Submit(unit, std::move(plan), std::move(request), std::move(done),
                                    kForever);
        })) {}

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }

  // Ends the thread, and all texts.
  void Stop() {
    {
      const Lock lock(mutex_);
      is_stopped_ = true;
    }
    changed_.notify_one();
    thread_.join();
    while (true) {
      Lock lock(mutex_);
      if (texts_.empty()) return;
      End(&lock, texts_.begin()->second.get());
    }
  }

  std::shared_ptr<Text> Submit(FeedText fed) {
    auto text = std::make_shared<Text>(std::move(fed));
    {
      const Lock lock(mutex_);
      text->place = {text->fed.tag, numbers_++};
      texts_.emplace(text->place.second, text);
      try {
        ready_.emplace(text->place, text);
      } catch (...) {
        texts_.erase(text->place.second);
        throw;
      }
    }
    changed_.notify_one();
    return text;
  }

  void Cancel(Text* text) {
    Lock lock(mutex_);
    if (!text->has_ended) End(&lock, text);
  }

  size_t units() const {
    const Lock lock(mutex_);
    return units_;
  }
  void SetSubmitUnit(SubmitUnit submit) {
    auto shared = std::make_shared<const SubmitUnit>(std::move(submit));
    const Lock lock(mutex_);
    submit_.swap(shared);
  }

 private:
  void Run() {
    Lock lock(mutex_);
    while (true) {
      changed_.wait(lock,
                    [this] { return is_stopped_ || (!ready_.empty() && units_ < kMostUnits); });
      if (is_stopped_) return;
      if (units_ > 0 && translator_->activity().waiting >= kMostSentences) {
        changed_.wait_for(lock, kPause);  // The decoder tells of units, not of sentences.
        continue;
      }
      // The node is used again, so that a text that waits cannot be lost for lack of memory.
      auto node = ready_.extract(ready_.begin());
      const std::shared_ptr<Text> text = node.mapped();
      lock.unlock();
      const bool has_more = Advance(text);
      lock.lock();
      if (!has_more || text->has_ended) continue;
      text->place.first = text->fed.tag;
      node.key() = text->place;
      ready_.insert(std::move(node));
    }
  }

  // Cuts the next unit of a text and submits it. Returns false if there is none, or the text has
  // ended or failed.
  bool Advance(const std::shared_ptr<Text>& text) try {
    FeedText& fed = text->fed;
    if (std::chrono::steady_clock::now() >= fed.deadline) {
      Conclude(text.get(), absl::DeadlineExceededError("the request's deadline has passed"));
      return false;
    }
    if (text->cutter == nullptr) {
      text->cutter = std::make_unique<internal::UnitCutter>(fed.text, fed.plan);
    }
    UnitUnderWay next;
    if (!text->cutter->Next(&next)) {
      text->cutter.reset();
      Lock lock(mutex_);
      text->is_cut = true;
      EndIfDone(&lock, text.get());
      return false;
    }
    const int64_t before = fed.tag;
    std::shared_ptr<const Translations> known = Known(fed, next.unit);
    if (known == nullptr) {
      const auto size = static_cast<int64_t>(next.unit.source().size());
      fed.tag += fed.share * std::max(kLeastUnitCost, size);
    }
    next.tag = fed.tag;
    const TextUnit unit = next.unit;
    std::shared_ptr<const SubmitUnit> submit;
    uint64_t number = 0;
    {
      const Lock lock(mutex_);
      if (text->has_ended || !text->status.ok()) return false;
      submit = submit_;
      number = text->cut++;
      text->under_way.emplace(number, std::move(next));
      ++units_;
    }
    if (known != nullptr) {
      Lock lock(mutex_);
      Write(&lock, text.get(), number, *known);
      return true;
    }
    Request request;
    request.first_priority = -(before / kTagSpan);
    request.priority = -(fed.tag / kTagSpan);
    request.deadline = fed.deadline;
    absl::StatusOr<Ticket> ticket =
        (*submit)(unit, fed.plan, std::move(request),
                  [self = shared_from_this(), text, number](uint64_t, absl::StatusOr<Result> r) {
                    self->TakeResult(text.get(), number, std::move(r));
                  });
    if (!ticket.ok()) {
      TakeResult(text.get(), number, ticket.status());
    } else if (!Keep(text.get(), number, *ticket)) {
      translator_->Cancel(*ticket);
    }
    return true;
  } catch (...) {
    Conclude(text.get(), internal::StatusOfException());
    return false;
  }

  // Returns the translations of a unit that is not translated, or null. A line without words is
  // copied.
  static std::shared_ptr<const Translations> Known(const FeedText& fed, const TextUnit& unit) {
    if (!unit.has_text() || (unit.ends_line() && internal::IsBlank(unit.source()))) {
      return std::make_shared<const Translations>(1, unit.has_text() ? unit.source() : "");
    }
    return fed.find != nullptr ? fed.find(unit) : nullptr;
  }

  // Keeps the ticket of a unit until its result is there. Returns false if the unit is not wanted
  // any more.
  bool Keep(Text* text, uint64_t number, const Ticket& ticket) {
    const Lock lock(mutex_);
    if (text->has_ended || number > text->failed) return false;
    const auto unit = text->under_way.find(number);
    if (unit != text->under_way.end()) unit->second.ticket = ticket;
    return true;
  }

  // Takes the result of a unit.
  void TakeResult(Text* text, uint64_t number, absl::StatusOr<Result> result) try {
    Lock lock(mutex_);
    const auto found = text->under_way.find(number);
    if (found == text->under_way.end())
      return;  // the text has ended, or an earlier unit has failed
    if (!result.ok()) return FailUnit(&lock, text, number, result.status());
    auto translations = std::make_shared<Translations>();
    for (Hypothesis& each : result->hypotheses) translations->push_back(std::move(each.text));
    if (translations->empty()) translations->emplace_back();
    const FedUnit unit = {found->second.unit, translations, result->source_tokens,
                          result->target_tokens, found->second.tag};
    lock.unlock();
    if (text->fed.on_unit != nullptr) text->fed.on_unit(unit);
    lock.lock();
    Write(&lock, text, number, *translations);
  } catch (...) {
    Conclude(text, internal::StatusOfException());
  }

  // Joins the translations of a unit with those beside it. REQUIRES: `lock` holds mutex_, which it
  // no longer does afterwards.
  void Write(Lock* lock, Text* text, uint64_t number, const Translations& translations) {
    ABSL_ASSERT(internal::HoldsLock(*lock, mutex_));
    const auto found = text->under_way.find(number);
    if (found == text->under_way.end()) return lock->unlock();
    const UnitUnderWay& under_way = found->second;
    Translations written;
    for (const std::string& translation : translations) {
      written.push_back(absl::StrCat(under_way.unit.Write(translation), under_way.end));
    }
    text->runs.Add(number, std::move(written), under_way.between);
    Remove(text, found);
    EndIfDone(lock, text);
  }

  // Takes the error of a unit. Units in front of it may still fail, those behind it do not matter.
  // REQUIRES: `lock` holds mutex_, which it no longer does afterwards.
  void FailUnit(Lock* lock, Text* text, uint64_t number, absl::Status status) {
    ABSL_ASSERT(internal::HoldsLock(*lock, mutex_) && number < text->failed);
    text->failed = number;
    text->status = std::move(status);
    std::vector<Ticket> unwanted;
    for (auto unit = text->under_way.find(number); unit != text->under_way.end();) {
      unwanted.push_back(unit->second.ticket);
      unit = Remove(text, unit);
    }
    EndIfDone(lock, text);
    for (const Ticket& ticket : unwanted) translator_->Cancel(ticket);
  }

  // Forgets a unit, which makes room for another. REQUIRES: the caller holds mutex_.
  std::map<uint64_t, UnitUnderWay>::iterator Remove(
      Text* text, std::map<uint64_t, UnitUnderWay>::iterator unit) {
    --units_;
    changed_.notify_one();
    return text->under_way.erase(unit);
  }

  // Ends a text of which no unit is missing. REQUIRES: `lock` holds mutex_, which it no longer does
  // afterwards.
  void EndIfDone(Lock* lock, Text* text) {
    ABSL_ASSERT(internal::HoldsLock(*lock, mutex_));
    const bool is_complete = text->is_cut || !text->status.ok();
    if (!is_complete || !text->under_way.empty() || text->has_ended) return lock->unlock();
    absl::StatusOr<Translations> translations = Translations();
    if (text->status.ok()) {
      translations = text->runs.TakeAll();
    } else {
      translations = text->status;
    }
    lock->unlock();
    Conclude(text, std::move(translations));
  }

  // Ends a text, unless it has ended already.
  void Conclude(Text* text, absl::StatusOr<Translations> translations) {
    {
      Lock lock(mutex_);
      if (text->has_ended) return;
      End(&lock, text);
    }
    try {
      text->fed.done(std::move(translations));
    } catch (...) {
      try {  // A status takes less memory than translations.
        text->fed.done(internal::StatusOfException());
      } catch (...) {  // see Done
      }
    }
  }

  // Forgets a text and cancels its units. REQUIRES: it has not ended, and `lock` holds mutex_,
  // which it no longer does afterwards.
  void End(Lock* lock, Text* text) {
    ABSL_ASSERT(internal::HoldsLock(*lock, mutex_) && !text->has_ended);
    text->has_ended = true;
    std::map<uint64_t, UnitUnderWay> dropped;
    dropped.swap(text->under_way);
    units_ -= dropped.size();
    text->runs.Clear();
    ready_.erase(text->place);
    const auto known = texts_.find(text->place.second);
    const std::shared_ptr<Text> alive = std::move(known->second);  // until this returns
    texts_.erase(known);
    lock->unlock();
    changed_.notify_one();
    for (const auto& [number, unit] : dropped) translator_->Cancel(unit.ticket);
  }

  Translator* const translator_;
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const SubmitUnit> submit_;
  std::condition_variable changed_;
  std::map<Place, std::shared_ptr<Text>> ready_;
  std::map<uint64_t, std::shared_ptr<Text>> texts_;  // all that have not ended, by their numbers
  uint64_t numbers_ = 0;                             // the number of texts so far
  size_t units_ = 0;
  bool is_stopped_ = false;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<TextFeed>> TextFeed::Create(Translator* translator) try {
  auto state = std::make_shared<State>(translator);
  std::unique_ptr<TextFeed> feed(new TextFeed(state));
  state->Start();
  return feed;
} catch (...) {
  return internal::StatusOfException();
}

TextFeed::~TextFeed() { state_->Stop(); }

absl::StatusOr<std::shared_ptr<TextFeed::Text>> TextFeed::Submit(FeedText text) try {
  if (text.plan == nullptr) return internal::Invalid("a plan is missing; see Translator::Prepare");
  if (text.share < 1) return internal::Invalid("share is ", text.share, ", expected at least 1");
  return state_->Submit(std::move(text));
} catch (...) {
  return internal::StatusOfException();
}

void TextFeed::Cancel(const std::shared_ptr<Text>& text) { state_->Cancel(text.get()); }

// Exact for texts of one line, and for those whose lines are all short or all long.
int64_t TextFeed::CostOf(absl::string_view text) {
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  return std::max(kLeastUnitCost * lines, static_cast<int64_t>(text.size()));
}

size_t TextFeed::units() const { return state_->units(); }
void TextFeed::SetSubmitUnit(SubmitUnit submit) { state_->SetSubmitUnit(std::move(submit)); }

}  // namespace nibu
