// The table of options. It has one row for each option, which names a field of a struct and says
// all that flags, help, man pages, configuration files and bindings need to know of it.
//
// To add an option, add its field to a struct (nibu/options.h, or a program's own), a row to the
// struct's table, and the code that obeys it.
#ifndef NIBU_TOOLS_TEXT_OPTIONS_OPTION_TABLE_H_
#define NIBU_TOOLS_TEXT_OPTIONS_OPTION_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nibu/options.h"

namespace nibu::internal {

// A row, with the functions that reach the field in a struct of its type.
struct OptionRow {
  OptionInfo info;
  // Sets the field from text. Returns InvalidArgument with the option's name if the text is no
  // value.
  absl::Status (*set)(const OptionInfo& info, absl::string_view text, void* object);
  // Sets a field that is a list of texts from its elements; null for other fields.
  void (*set_list)(absl::Span<const std::string> values, void* object);
  // Returns the field's value as text, in a form that `set` reads.
  std::string (*get)(const OptionInfo& info, const void* object);
  // Returns whether two structs have the same value. A default that is given is not the same as no
  // value, which stands for the model's own default.
  bool (*equal)(const void* a, const void* b);
  // The default value as text: info.default_value, or that of a default-constructed struct.
  std::string default_value;
};

// A row, and the struct that its value is in.
struct OptionField {
  const OptionRow* row;
  const void* object;
};

// Refuses values that their rows do not take: those out of their range or enumeration. All errors
// of this and the next function have the option's name.
template <typename S>
absl::Status CheckValues(absl::Span<const OptionRow> rows, const S& object) {
  S copy;
  for (const OptionRow& row : rows) {
    absl::Status status = row.set(row.info, row.get(row.info, &object), &copy);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Refuses options that exclude each other, and an option without another one that it needs, if
// `fields` has the other one. `dashes` stand in front of the names in messages.
absl::Status CheckTogether(absl::Span<const OptionField> fields, absl::string_view dashes);

// A Boolean that the circumstances decide unless it is set: --name, --noname, --name=auto.
using AutoBool = std::optional<bool>;

// Splits a list at its commas. A comma within an element is written "\,".
std::vector<std::string> SplitList(absl::string_view text);

// Convert text to a value and back, for each type that a field may have. ParseValue returns the
// reason why the text is no value, or an empty string if it is one.
std::string ParseValue(const OptionInfo& info, absl::string_view text, bool* value);
std::string ParseValue(const OptionInfo& info, absl::string_view text, AutoBool* value);
std::string ParseValue(const OptionInfo& info, absl::string_view text, int* value);
std::string ParseValue(const OptionInfo& info, absl::string_view text, uint64_t* value);
std::string ParseValue(const OptionInfo& info, absl::string_view text, float* value);
std::string ParseValue(const OptionInfo& info, absl::string_view text, std::string* value);
std::string ParseValue(const OptionInfo& info, absl::string_view text,
                       std::vector<std::string>* value);
std::string ParseValue(const OptionInfo& info, absl::string_view text, std::vector<float>* value);
template <typename T>
std::string ParseValue(const OptionInfo& info, absl::string_view text, std::optional<T>* value) {
  return ParseValue(info, text, &value->emplace());
}
std::string ValueText(const OptionInfo& info, bool value);
std::string ValueText(const OptionInfo& info, AutoBool value);
std::string ValueText(const OptionInfo& info, int value);
std::string ValueText(const OptionInfo& info, uint64_t value);
std::string ValueText(const OptionInfo& info, float value);
std::string ValueText(const OptionInfo& info, const std::string& value);
std::string ValueText(const OptionInfo& info, const std::vector<std::string>& value);
std::string ValueText(const OptionInfo& info, const std::vector<float>& value);
template <typename T>
std::string ValueText(const OptionInfo& info, const std::optional<T>& value) {
  return value.has_value() ? ValueText(info, *value) : info.default_value;
}

// PlaceOfWord returns the place of a word among info.values, or -1 if it is none of them. WordAt
// returns the word at a place, or the place as a number if there is no word.
int PlaceOfWord(const OptionInfo& info, absl::string_view word);
std::string WordAt(const OptionInfo& info, int place);
// Returns "must be a, b or c", with the words of info.values.
std::string MustBeAWord(const OptionInfo& info);

// Returns InvalidArgument, which says that `text` is no value of the option. `why` is the reason,
// as in "must be a number"; it may be empty.
absl::Status NotAValue(const OptionInfo& info, absl::string_view text, absl::string_view why);
// Returns "bool", "int" and so on (see OptionInfo::type). A row of type "path" names it itself.
template <typename T>
constexpr const char* TypeName() {
  if constexpr (std::is_enum_v<T>) return "word";
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, AutoBool>) return "auto";
  if constexpr (std::is_same_v<T, int> || std::is_same_v<T, uint64_t> ||
                std::is_same_v<T, std::optional<int>>) {
    return "int";
  }
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::optional<float>>) return "float";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "words";
  if constexpr (std::is_same_v<T, std::vector<float>>) return "numbers";
  return "text";
}

template <typename T, typename S>
T TypeOfField(T S::*);
template <typename T, typename S>
S StructOfField(T S::*);

// Returns the name of a field, which lives forever, from what the compiler says of a function that
// has it as parameter: "... [with auto field = &nibu::Options::src_lang]".
const char* FieldNameIn(absl::string_view signature);

// Returns the row of a field, which gives the option its name. An enumeration must have the words
// of info.values in the same order.
template <auto field>
OptionRow Row(OptionInfo info) {
  info.name = FieldNameIn(__PRETTY_FUNCTION__);
  using T = decltype(TypeOfField(field));
  using S = decltype(StructOfField(field));
  if (*info.type == 0) info.type = TypeName<T>();
  OptionRow row = {info, nullptr, nullptr, nullptr, nullptr, ""};
  row.equal = [](const void* a, const void* b) {
    return static_cast<const S*>(a)->*field == static_cast<const S*>(b)->*field;
  };
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    row.set_list = [](absl::Span<const std::string> values, void* object) {
      (static_cast<S*>(object)->*field).assign(values.begin(), values.end());
    };
  }
  if constexpr (std::is_enum_v<T>) {
    row.set = [](const OptionInfo& i, absl::string_view text, void* object) {
      const int place = PlaceOfWord(i, text);
      if (place < 0) return NotAValue(i, text, MustBeAWord(i));
      static_cast<S*>(object)->*field = static_cast<T>(place);
      return absl::OkStatus();
    };
    row.get = [](const OptionInfo& i, const void* object) {
      return WordAt(i, static_cast<int>(static_cast<const S*>(object)->*field));
    };
  } else {
    row.set = [](const OptionInfo& i, absl::string_view text, void* object) {
      T value{};
      const std::string why = ParseValue(i, text, &value);
      if (!why.empty()) return NotAValue(i, text, why);
      static_cast<S*>(object)->*field = std::move(value);
      return absl::OkStatus();
    };
    row.get = [](const OptionInfo& i, const void* object) {
      return ValueText(i, static_cast<const S*>(object)->*field);
    };
  }
  const S defaults;
  row.default_value = *info.default_value != 0 ? info.default_value : row.get(info, &defaults);
  return row;
}

// Returns these rows. A row that names no group is in that of the row above it.
std::vector<OptionRow> OptionRows(std::vector<OptionRow> rows);

// Return the rows of the library's structs.
absl::Span<const OptionRow> ModelOptionRows();
absl::Span<const OptionRow> SpeedOptionRows();
absl::Span<const OptionRow> TextOptionRows();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_OPTIONS_OPTION_TABLE_H_
