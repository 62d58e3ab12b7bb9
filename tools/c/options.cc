// Implements the options of nibu/c.h, which are those of all three structs of nibu/options.h.

#include "absl/strings/str_join.h"
#include "tools/c/handles.h"

using nibu::internal::CheckText;
using nibu::internal::Guard;
using nibu::internal::Missing;
using nibu::internal::OrNull;
using nibu::internal::TextOf;

namespace {

// Sets an option. It is a field of one of the three structs, which are tried one by one.
absl::Status Set(nibu_options* options, absl::string_view name, absl::string_view value) {
  absl::Status status = nibu::SetOption(name, value, &options->text);
  if (absl::IsNotFound(status)) status = nibu::SetOption(name, value, &options->model);
  if (absl::IsNotFound(status)) status = nibu::SetOption(name, value, &options->speed);
  return status;
}

// Returns the row of the table with this index, or null.
const nibu::OptionInfo* Row(size_t option) {
  return OrNull([&]() -> const nibu::OptionInfo* {
    const std::vector<nibu::OptionInfo>& rows = nibu::OptionTable();
    return option < rows.size() ? &rows[option] : nullptr;
  });
}

}  // namespace

nibu_options* nibu_options_new(void) {
  return OrNull([] { return new nibu_options(); });
}

nibu_options* nibu_options_copy(const nibu_options* options) {
  if (options == nullptr) return nullptr;
  return OrNull([&] { return new nibu_options(*options); });
}

void nibu_options_free(nibu_options* options) { delete options; }

nibu_status nibu_options_set(nibu_options* options, const char* name, const char* value,
                             nibu_error** error) {
  return Guard(error, [&] {
    if (options == nullptr) return Missing("options");
    if (name == nullptr) return Missing("name");
    if (value == nullptr) return Missing("value");
    return Set(options, name, value);
  });
}

nibu_status nibu_options_set_list(nibu_options* options, const char* name,
                                  const char* const* values, size_t count, nibu_error** error) {
  return Guard(error, [&] {
    if (options == nullptr) return Missing("options");
    if (name == nullptr) return Missing("name");
    if (values == nullptr && count > 0) return Missing("values");
    std::vector<std::string> list;
    for (size_t i = 0; i < count; ++i) {
      if (values[i] == nullptr) return Missing("a value");
      list.emplace_back(values[i]);
    }
    absl::Status status = nibu::SetOption(name, list, &options->text);
    return absl::IsNotFound(status) ? Set(options, name, absl::StrJoin(list, ",")) : status;
  });
}

nibu_status nibu_options_add_term(nibu_options* options, const char* source, size_t source_length,
                                  const char* target, size_t target_length, nibu_error** error) {
  return Guard(error, [&] {
    if (options == nullptr) return Missing("options");
    if (source == nullptr) return Missing("source");
    if (target == nullptr) return Missing("target");
    options->text.glossary.push_back(
        {std::string(source, source_length), std::string(target, target_length)});
    return absl::OkStatus();
  });
}

nibu_status nibu_options_set_glossary(nibu_options* options, const char* text, size_t length,
                                      nibu_error** error) {
  return Guard(error, [&] {
    if (options == nullptr) return Missing("options");
    absl::Status status = CheckText(text, length, "text");
    if (!status.ok()) return status;
    auto terms = nibu::ParseGlossary(TextOf(text, length));
    if (!terms.ok()) return terms.status();
    options->text.glossary = *std::move(terms);
    return absl::OkStatus();
  });
}

size_t nibu_option_count(void) {
  size_t count = 0;
  while (Row(count) != nullptr) ++count;
  return count;
}

const char* nibu_option_name(size_t option) {
  const nibu::OptionInfo* const row = Row(option);
  return row == nullptr ? nullptr : row->name;
}

const char* nibu_option_help(size_t option) {
  const nibu::OptionInfo* const row = Row(option);
  return row == nullptr ? nullptr : row->help;
}

const char* nibu_option_type(size_t option) {
  const nibu::OptionInfo* const row = Row(option);
  return row == nullptr ? nullptr : row->type;
}

const char* nibu_option_default(size_t option) {
  const nibu::OptionInfo* const row = Row(option);
  return row == nullptr ? nullptr : row->default_value;
}

const char* nibu_option_values(size_t option) {
  const nibu::OptionInfo* const row = Row(option);
  return row == nullptr ? nullptr : row->values;
}
