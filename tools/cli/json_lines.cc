// Translates JSON objects, one in each line.

#include <atomic>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tools/cli/flags.h"
#include "tools/cli/json_request.h"
#include "tools/cli/translate_lines.h"

namespace nibu::internal {
namespace {

// Returns the translation of an object's text, which may have line feeds, on one line.
std::string OneLine(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\n", " "}, {"\r", " "}});
}

class JsonTranslator final : public LineTranslator {
 public:
  using LineTranslator::LineTranslator;

  void Submit(uint64_t index, const InputUnit& unit, Pipeline::Deliver deliver) override {
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
      if (result.ok() && result->ends_open) ++open_;
      context_.totals->Add(index, line_number, result);
      deliver(Format(index, *read, result));
    };
    if (!read->status.ok()) return end(index, read->status);
    std::shared_ptr<const Plan> plan = context_.plan;
    if (plan == nullptr || !read->key.empty()) {
      auto own = context_.translator->Prepare(context_.model, read->options);
      if (!own.ok()) return end(index, own.status());
      plan = *std::move(own);
    }
    // Only samples depend on the unit's number.
    const std::string key = absl::StrCat(read->key.size(), " ", read->key, read->prefix.size(), " ",
                                         read->prefix, read->text);
    SubmitOnce(read->options.sampling_topk == 1 ? key : "", read->text, std::move(plan),
               {.key = index, .target_prefix = read->prefix}, end);
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

  std::set<std::string> names_;     // names of members that have been checked
  std::atomic<uint64_t> open_ = 0;  // number of texts that end within markup
};

}  // namespace

std::unique_ptr<LineTranslator> NewJsonTranslator(const LineContext* context) {
  return std::make_unique<JsonTranslator>(context);
}

}  // namespace nibu::internal
