// Translates JSON objects, one in each line.

#include <atomic>
#include <list>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/cli/flags.h"
#include "tools/cli/json_request.h"
#include "tools/cli/translate_lines.h"

namespace nibu::internal {
namespace {

// Keeps the plans of lines with options of their own that were used last. Used by one thread.
class PlanCache {
 public:
  struct Entry {
    uint64_t number;  // Unique: no other plan gets it, even after this one is dropped.
    absl::StatusOr<std::shared_ptr<const Plan>> plan;
  };

  // Returns the plan for a JsonRequest's options, which `prepare` makes unless it is there. The
  // result is valid until the next call.
  const Entry& Get(const std::string& key,
                   const std::function<absl::StatusOr<std::shared_ptr<const Plan>>()>& prepare) {
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->first != key) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front().second;
    }
    if (entries_.size() == kMostPlans) entries_.pop_back();
    entries_.push_front({key, {++last_number_, prepare()}});
    return entries_.front().second;
  }

 private:
  static constexpr size_t kMostPlans = 64;
  std::list<std::pair<std::string, Entry>> entries_;
  uint64_t last_number_ = 0;
};

// Returns the translation of an object's text, which may have line feeds, on one line.
std::string OneLine(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\n", " "}, {"\r", " "}});
}

class JsonTranslator final : public LineTranslator {
 public:
  using LineTranslator::LineTranslator;

  void Submit(uint64_t index, const TextUnit& unit, Pipeline::Deliver deliver) override {
    const std::string& line = unit.source();
    if (absl::StripAsciiWhitespace(line).empty()) {  // a blank line between objects
      context_.totals->Skip(index);
      return deliver(context_.output.format == OutputFormat::kText ? "\n" : "");
    }
    const auto read =
        std::make_shared<const JsonRequest>(ReadJsonRequest(line, index, context_.text));
    WarnOfNames(unit.line() + 1, *read);
    const Repeats::Done end = [this, index, line_number = unit.line(), read,
                               deliver = std::move(deliver)](
                                  uint64_t, const absl::StatusOr<nibu::Result>& result) noexcept {
      context_.totals->Add(index, line_number, result);
      deliver(Format(index, *read, result));
    };
    if (!read->status.ok()) return end(index, read->status);
    uint64_t plan_number = 0;
    std::shared_ptr<const Plan> plan = context_.plan;
    if (plan == nullptr || !read->key.empty()) {
      const PlanCache::Entry& entry = plans_.Get(
          read->key, [&] { return context_.translator->Prepare(context_.model, read->options); });
      if (!entry.plan.ok()) return end(index, entry.plan.status());
      plan_number = entry.number;
      plan = *entry.plan;
    }
    // Only samples depend on the unit's number.
    const std::string key =
        absl::StrCat(plan_number, " ", read->prefix.size(), " ", read->prefix, read->text);
    SubmitOnce(read->options.sampling_topk == 1 ? key : "", index, end, [&](nibu::Done done) {
      const auto joined = [this, plan, done = std::move(done)](
                              uint64_t number, absl::StatusOr<Translation> translation) noexcept {
        if (!translation.ok()) return done(number, translation.status());
        if (translation->ends_open) ++open_;
        done(number, JoinUnits(*translation, *plan));
      };
      const nibu::Request request = {.key = index, .target_prefix = read->prefix};
      return context_.translator->SubmitText(read->text, plan, request, joined, kForever).status();
    });
  }

  void Finish() override {
    if (open_ == 0) return;
    PrintWarning(absl::StrCat(
        open_.load(),
        " text(s) end within a comment, or an element that is left alone (as <code>); all that "
        "follows where it begins was not translated"));
  }

 private:
  std::string Format(uint64_t index, const JsonRequest& read,
                     const absl::StatusOr<nibu::Result>& result) const {
    OutputOptions output = context_.output;
    output.alignment = read.options.alignment;
    if (output.format != OutputFormat::kJsonl) {
      nibu::Result lines = result.value_or(nibu::Result());
      for (nibu::Hypothesis& h : lines.hypotheses) h.text = OneLine(h.text);
      return FormatResult(output, index, TextUnit(), lines);
    }
    std::string object =
        ToJsonWith(read.members, result.value_or(nibu::Result()), read.text, output.alignment);
    if (!result.ok()) {
      const nlohmann::json error = std::string(result.status().message());
      object.pop_back();  // the closing brace
      absl::StrAppend(&object, ",\"error\":",
                      error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "}");
    }
    return object + "\n";
  }

  // Warns, once for each name, of members that may be misspelled options.
  void WarnOfNames(uint64_t line, const JsonRequest& read) {
    constexpr size_t kMostNames = 1000;  // bounds the memory, since the input may have any number
    const auto is_new = [this](const std::string& name) {
      return names_.size() < kMostNames && names_.insert(name).second;
    };
    for (const std::string& name : read.copied) {
      if (!is_new(name)) continue;
      const std::string meant = MisspelledOption(name);
      const bool is_run_option = IsRunOption(name);
      if (meant.empty() && !is_run_option) continue;
      PrintWarning(
          absl::StrCat("line ", line, ": the field \"", name, "\" is copied to the output; ",
                       is_run_option ? "as an option it holds for all lines, with --" + name
                                     : absl::StrCat("did you mean ", meant, "?")));
    }
    for (const std::string& name : read.replaced) {
      if (!is_new(name)) continue;
      PrintWarning(absl::StrCat("line ", line, ": the field \"", name,
                                "\" is not copied, since the output has its own"));
    }
  }

  PlanCache plans_;
  std::set<std::string> names_;     // names of members that have been checked
  std::atomic<uint64_t> open_ = 0;  // number of texts that end within markup
};

}  // namespace

std::unique_ptr<LineTranslator> NewJsonTranslator(const LineContext* context) {
  return std::make_unique<JsonTranslator>(context);
}

}  // namespace nibu::internal
