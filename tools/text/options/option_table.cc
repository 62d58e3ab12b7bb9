// Converts values of options from and to text, and implements the functions of nibu/options.h that
// use the tables.

#include "tools/text/options/option_table.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "engine/core/exception_status.h"
#include "engine/core/option_error.h"
#include "tools/text/options/nearest.h"

namespace nibu::internal {
namespace {

// Returns why a number is out of the option's range, or an empty string.
std::string CheckNumber(const OptionInfo& info, double value) {
  // Compared as floats, since most options have float values.
  const auto number = static_cast<float>(value);
  const auto least = static_cast<float>(info.least);
  const auto most = static_cast<float>(info.most);
  if ((info.is_above_least ? number > least : number >= least) &&
      (info.is_below_most ? number < most : number <= most)) {
    return "";
  }
  if (!info.is_above_least && !info.is_below_most && !std::isinf(info.most)) {
    return absl::StrCat("must be ", info.least, " to ", info.most);
  }
  std::string low =
      absl::StrCat("must be ", info.is_above_least ? "more than " : "at least ", info.least);
  if (std::isinf(info.most)) return low;
  return absl::StrCat(low, " and ", info.is_below_most ? "below " : "at most ", info.most);
}

constexpr char kNoNumber[] = "is not a number";

// Parses a whole number. A number that is not whole, or does not fit into T, gets a message with
// the possible range.
template <typename T>
std::string ParseWhole(const OptionInfo& info, absl::string_view text, T* value) {
  if (absl::SimpleAtoi(text, value)) return CheckNumber(info, static_cast<double>(*value));
  double number = 0;
  if (!absl::SimpleAtod(text, &number)) return kNoNumber;
  constexpr T kLow = std::numeric_limits<T>::min();
  constexpr T kHigh = std::numeric_limits<T>::max();
  return absl::StrCat("must be a whole number from ",
                      info.least > static_cast<double>(kLow) ? static_cast<T>(info.least) : kLow,
                      " to ",
                      info.most < static_cast<double>(kHigh) ? static_cast<T>(info.most) : kHigh);
}

std::vector<std::string> WordsOf(const OptionInfo& info) {
  return absl::StrSplit(info.values, ' ', absl::SkipEmpty());
}

// Returns the row of this name, or null.
const OptionRow* FindRow(absl::Span<const OptionRow> rows, absl::string_view name) {
  for (const OptionRow& row : rows) {
    if (name == row.info.name) return &row;
  }
  return nullptr;
}

// Returns the field of this name, or null.
const OptionField* FindField(absl::Span<const OptionField> fields, absl::string_view name) {
  for (const OptionField& field : fields) {
    if (name == field.row->info.name) return &field;
  }
  return nullptr;
}

// Returns whether a condition holds: NAME=VALUE when the option has that value, NAME when it
// differs from its default.
bool Holds(absl::Span<const OptionField> fields, absl::string_view condition) {
  const absl::string_view name = condition.substr(0, condition.find('='));
  const OptionField* const field = FindField(fields, name);
  if (field == nullptr) return false;
  const std::string value = field->row->get(field->row->info, field->object);
  return name.size() < condition.size() ? value == condition.substr(name.size() + 1)
                                        : value != field->row->default_value;
}

absl::Status SetIn(absl::Span<const OptionRow> rows, absl::string_view name,
                   absl::string_view value, void* object) try {
  const OptionRow* const row = FindRow(rows, name);
  if (row == nullptr) {
    // C has one object for the options of all tables, so the name may be meant for another of them.
    std::vector<std::string> known;
    for (const OptionInfo& info : OptionTable()) known.emplace_back(info.name);
    const std::string meant = Nearest(name, known);
    return absl::NotFoundError(absl::StrCat("there is no option ", name,
                                            meant.empty() ? ""
                                            : meant == name
                                                ? " among these; it is set in another struct"
                                                : absl::StrCat("; did you mean ", meant, "?")));
  }
  return row->set(row->info, value, object);
} catch (...) {
  return StatusOfException();
}

}  // namespace

absl::Status CheckTogether(absl::Span<const OptionField> fields, absl::string_view dashes) {
  for (const OptionField& field : fields) {
    const OptionInfo& info = field.row->info;
    if (!Holds(fields, info.name)) continue;
    for (const absl::string_view other : absl::StrSplit(info.excludes, ' ', absl::SkipEmpty())) {
      if (!Holds(fields, other)) continue;
      return InvalidOption(info.name, " and ", dashes, other, " do not go together");
    }
    std::vector<std::string> needs;  // the needed options that `fields` has
    bool is_met = false;
    for (const absl::string_view need : absl::StrSplit(info.needs, ' ', absl::SkipEmpty())) {
      // A program that lacks the other option cannot be asked for it.
      if (FindField(fields, need.substr(0, need.find('='))) == nullptr) continue;
      needs.push_back(absl::StrCat(dashes, need));
      is_met |= Holds(fields, need);
    }
    if (!needs.empty() && !is_met) {
      return InvalidOption(info.name, " means nothing without ", absl::StrJoin(needs, " or "));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> SplitList(absl::string_view text) {
  std::vector<std::string> list(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      list.emplace_back();
      continue;
    }
    if (absl::StartsWith(text.substr(i), "\\,")) ++i;
    list.back() += text[i];
  }
  return list;
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, bool* value) {
  return absl::SimpleAtob(text, value) ? "" : "must be true or false";
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, AutoBool* value) {
  *value = std::nullopt;
  if (text == "auto" || absl::SimpleAtob(text, &value->emplace())) return "";
  return "must be auto, true or false";
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, int* value) {
  return ParseWhole(info, text, value);
}

std::string ParseValue(const OptionInfo& info, absl::string_view text, uint64_t* value) {
  return ParseWhole(info, text, value);
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
  if (!text.empty()) *value = SplitList(text);
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

std::string ValueText(const OptionInfo& info, bool value) { return value ? "true" : "false"; }

std::string ValueText(const OptionInfo& info, AutoBool value) {
  return value.has_value() ? ValueText(info, *value) : "auto";
}

std::string ValueText(const OptionInfo& info, int value) { return absl::StrCat(value); }
std::string ValueText(const OptionInfo& info, uint64_t value) { return absl::StrCat(value); }

std::string ValueText(const OptionInfo& info, float value) {
  // The six digits of StrCat make 1 of 0.9999999, which is out of the range of some options.
  std::string text = absl::StrCat(value);
  float read = 0;
  return absl::SimpleAtof(text, &read) && read == value ? text : absl::StrFormat("%.9g", value);
}

std::string ValueText(const OptionInfo& info, const std::string& value) { return value; }

std::string ValueText(const OptionInfo& info, const std::vector<std::string>& value) {
  return absl::StrJoin(value, ",", [](std::string* text, const std::string& element) {
    absl::StrAppend(text, absl::StrReplaceAll(element, {{",", "\\,"}}));
  });
}

std::string ValueText(const OptionInfo& info, const std::vector<float>& value) {
  return absl::StrJoin(value, ",");
}

int PlaceOfWord(const OptionInfo& info, absl::string_view word) {
  const std::vector<std::string> words = WordsOf(info);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<int>(i);
  }
  return -1;
}

std::string WordAt(const OptionInfo& info, int place) {
  const std::vector<std::string> words = WordsOf(info);
  const auto index = static_cast<size_t>(place);
  return index < words.size() ? words[index] : absl::StrCat(place);
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

const char* FieldNameIn(absl::string_view signature) {
  const size_t begin = signature.rfind("::") + 2;
  const size_t size = signature.find_first_of("];", begin) - begin;
  char* const name = new char[size + 1]();
  signature.copy(name, size, begin);
  return name;
}

std::vector<OptionRow> OptionRows(std::vector<OptionRow> rows) {
  for (size_t i = 1; i < rows.size(); ++i) {
    if (*rows[i].info.group == 0) rows[i].info.group = rows[i - 1].info.group;
  }
  return rows;
}

}  // namespace nibu::internal

namespace nibu {

std::string ComputeTypeName(ComputeType type) {
  ModelOptions options;
  options.compute_type = type;
  for (const internal::OptionRow& row : internal::ModelOptionRows()) {
    if (absl::string_view(row.info.name) == "compute_type") return row.get(row.info, &options);
  }
  return "";
}

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
