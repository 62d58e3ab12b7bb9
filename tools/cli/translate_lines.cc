// Translates lines of text, and shares results among equal lines for all input formats.
#include "tools/cli/translate_lines.h"

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"

namespace nibu::internal {
namespace {

class UnitTranslator final : public LineTranslator {
 public:
  // Equal lines may differ: samples are drawn for each line, and markup depends on the lines
  // before.
  explicit UnitTranslator(const LineContext* context)
      : LineTranslator(context),
        has_repeats_(context->text.sampling_topk == 1 && context->text.markup == Markup::kNone) {}

  void Submit(uint64_t index, const InputUnit& unit, Pipeline::Deliver deliver) override {
    const OutputOptions& output = context_.output;
    if (!unit.has_text()) {
      context_.totals->Skip(index);
      return deliver(output.format == OutputFormat::kText ? unit.Write("") : "");
    }
    const Repeats::Done end = [this, index, unit, deliver = std::move(deliver)](
                                  uint64_t key,
                                  const absl::StatusOr<nibu::Result>& result) noexcept {
      context_.totals->Add(index, unit.line(), result);
      deliver(FormatResult(context_.output, key, unit, result.value_or(nibu::Result())));
    };
    nibu::Request request = {.key = index};
    const absl::Status prefix = NextPrefix(&request.target_prefix);
    if (!prefix.ok()) return end(index, prefix);
    const std::string key =
        has_repeats_ ? absl::StrCat(unit.source(), "\n", request.target_prefix) : "";
    SubmitOnce(key, unit, context_.plan, std::move(request), end);
  }

 private:
  const bool has_repeats_;
};

}  // namespace

nibu::Done Repeats::Add(const std::string& key, uint64_t index, Done done) {
  std::unique_lock<std::mutex> lock(mutex_);
  ABSL_ASSERT(lines_.empty() || lines_.back().first < index);
  const auto [place, is_new] = entries_.try_emplace(key);
  Entry& entry = place->second;
  ++entry.lines;
  lines_.emplace_back(index, &*place);
  // The first of equal lines makes the result. Later ones wait for it, or get it at once.
  if (const std::shared_ptr<const Result> known = entry.result) {
    lock.unlock();
    done(index, *known);
    return nullptr;
  }
  entry.waiting.emplace_back(index, std::move(done));
  if (!is_new) return nullptr;
  return [this, &entry](uint64_t, Result result) noexcept {
    const auto shared = std::make_shared<const Result>(std::move(result));
    std::unique_lock<std::mutex> again(mutex_);
    entry.result = shared;
    const auto waiting = std::exchange(entry.waiting, {});
    again.unlock();
    for (const auto& [line, waits] : waiting) waits(line, *shared);
  };
}

void Repeats::Forget(uint64_t index) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (; !lines_.empty() && lines_.front().first < index; lines_.pop_front()) {
    auto* entry = lines_.front().second;
    if (--entry->second.lines == 0) entries_.erase(entries_.find(entry->first));
  }
}

absl::Status LineTranslator::NextPrefix(std::string* prefix) {
  if (context_.prefixes == nullptr) return absl::OkStatus();
  NIBU_ASSIGN_OR_RETURN(const bool more, context_.prefixes->Next(prefix));
  if (more) return absl::OkStatus();
  return Invalid(context_.prefix_file, " has no line for it; give one for each, or empty");
}

std::unique_ptr<LineTranslator> NewUnitTranslator(const LineContext* context) {
  return std::make_unique<UnitTranslator>(context);
}

}  // namespace nibu::internal
