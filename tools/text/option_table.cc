// Values of options as text, and the functions of nibu/options.h that stand on the tables.

#include "tools/text/option_table.h"

#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/exception_status.h"
#include "engine/core/option_error.h"

namespace nibu::internal {
namespace {

std::string CheckNumber(const OptionInfo& info, double value) {
  // As floats, which the values of most options are.
  if (static_cast<float>(value) >= static_cast<float>(info.least) &&
      static_cast<float>(value) <= static_cast<float>(info.most)) {
    return "";
  }
  if (std::isinf(info.most)) return absl::StrCat("must be at least ", info.least);
  return absl::StrCat("must be ", info.least, " to ", info.most);
}

constexpr char kNoNumber[] = "is not a number";

std::vector<std::string> WordsOf(const OptionInfo& info) {
  return absl::StrSplit(info.values, ' ', absl::SkipEmpty());
}

// The row of this name; null: there is none.
const OptionRow* FindRow(absl::Span<const OptionRow> rows, absl::string_view name) {
  for (const OptionRow& row : rows) {
    if (name == row.info.name) return &row;
  }
  return nullptr;
}

absl::Status SetIn(absl::Span<const OptionRow> rows, absl::string_view name,
                   absl::string_view value, void* object) try {
  const OptionRow* const row = FindRow(rows, name);
  if (row == nullptr) return absl::NotFoundError(absl::StrCat("there is no option ", name));
  return row->set(row->info, value, object);
} catch (...) {
  return StatusOfException();
}

}  // namespace

std::string ParseValue(const OptionInfo& info, absl::string_view text, bool* value) {
  return absl::SimpleAtob(text, value) ? "" : "must be true or false";
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, AutoBool* value) {
  *value = std::nullopt;
  if (text == "auto" || absl::SimpleAtob(text, &value->emplace())) return "";
  return "must be auto, true or false";
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, int* value) {
  return absl::SimpleAtoi(text, value) ? CheckNumber(info, *value) : kNoNumber;
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, uint64_t* value) {
  return absl::SimpleAtoi(text, value) ? CheckNumber(info, static_cast<double>(*value)) : kNoNumber;
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, float* value) {
  return absl::SimpleAtof(text, value) ? CheckNumber(info, *value) : kNoNumber;
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, std::string* value) {
  *value = std::string(text);
  return "";
}

std::string ParseValue(const OptionInfo& info, absl::string_view text,
                       std::vector<std::string>* value) {
  if (!text.empty()) *value = absl::StrSplit(text, ',');
  return "";
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, std::vector<float>* value) {
  if (text.empty()) return "";
  for (const absl::string_view number : absl::StrSplit(text, ',')) {
    if (!absl::SimpleAtof(number, &value->emplace_back())) return "must be numbers";
    if (std::string why = CheckNumber(info, value->back()); !why.empty()) return why;
  }
  return "";
}

std::string ParseValue(const OptionInfo& info, absl::string_view text,
                       std::optional<std::string>* value) {
  return ParseValue(info, text, &value->emplace());
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, std::optional<int>* value) {
  return ParseValue(info, text, &value->emplace());
}

std::string ParseValue(const OptionInfo& info, absl::string_view text,
                       std::optional<float>* value) {
  return ParseValue(info, text, &value->emplace());
}

std::string ValueText(const OptionInfo& info, bool value) { return value ? "true" : "false"; }

std::string ValueText(const OptionInfo& info, AutoBool value) {
  return value.has_value() ? ValueText(info, *value) : "auto";
}

std::string ValueText(const OptionInfo& info, int value) { return absl::StrCat(value); }
std::string ValueText(const OptionInfo& info, uint64_t value) { return absl::StrCat(value); }
std::string ValueText(const OptionInfo& info, float value) { return absl::StrCat(value); }
std::string ValueText(const OptionInfo& info, const std::string& value) { return value; }

std::string ValueText(const OptionInfo& info, const std::vector<std::string>& value) {
  return absl::StrJoin(value, ",");
}

std::string ValueText(const OptionInfo& info, const std::vector<float>& value) {
  return absl::StrJoin(value, ",");
}

std::string ValueText(const OptionInfo& info, const std::optional<std::string>& value) {
  return value.value_or(info.default_value);
}

std::string ValueText(const OptionInfo& info, std::optional<int> value) {
  return value.has_value() ? ValueText(info, *value) : info.default_value;
}

std::string ValueText(const OptionInfo& info, std::optional<float> value) {
  return value.has_value() ? ValueText(info, *value) : info.default_value;
}

int PlaceOfWord(const OptionInfo& info, absl::string_view word) {
  const std::vector<std::string> words = WordsOf(info);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<int>(i);
  }
  return -1;
}

std::string WordAt(const OptionInfo& info, int place) {
  return WordsOf(info)[static_cast<size_t>(place)];
}

std::string MustBeAWord(const OptionInfo& info) {
  std::vector<std::string> words = WordsOf(info);
  const std::string last = words.back();
  words.pop_back();
  return words.empty() ? absl::StrCat("must be ", last)
                       : absl::StrCat("must be ", absl::StrJoin(words, ", "), " or ", last);
}

absl::Status NotAValue(const OptionInfo& info, absl::string_view text, absl::string_view why) {
  if (why == kNoNumber) return InvalidOption(info.name, ": \"", text, "\" ", why);
  const absl::string_view type = info.type;
  const char* const quote = type == "int" || type == "float" ? "" : "\"";
  return InvalidOption(info.name, " ", why, ", not ", quote, text, quote);
}

}  // namespace nibu::internal

namespace nibu {

const std::vector<OptionInfo>& OptionTable() {
  static const std::vector<OptionInfo>& table = *[] {
    auto* rows = new std::vector<OptionInfo>();
    for (const auto& part :
         {internal::ModelOptionRows(), internal::TextOptionRows(), internal::SpeedOptionRows()}) {
      for (const internal::OptionRow& row : part) {
        rows->push_back(row.info);
        rows->back().default_value = row.default_value.c_str();
      }
    }
    return rows;
  }();
  return table;
}

absl::Status SetOption(absl::string_view name, absl::string_view value, ModelOptions* options) {
  return internal::SetIn(internal::ModelOptionRows(), name, value, options);
}

absl::Status SetOption(absl::string_view name, absl::string_view value, SpeedOptions* options) {
  return internal::SetIn(internal::SpeedOptionRows(), name, value, options);
}

absl::Status SetOption(absl::string_view name, absl::string_view value, Options* options) {
  return internal::SetIn(internal::TextOptionRows(), name, value, options);
}

absl::Status SetOption(absl::string_view name, absl::Span<const std::string> values,
                       Options* options) {
  const internal::OptionRow* const row = internal::FindRow(internal::TextOptionRows(), name);
  if (row == nullptr || row->set_list == nullptr) {
    return SetOption(name, absl::StrJoin(values, ","), options);
  }
  row->set_list(values, options);
  return absl::OkStatus();
}

std::string OptionOfError(const absl::Status& status) { return internal::OptionOf(status); }

}  // namespace nibu
