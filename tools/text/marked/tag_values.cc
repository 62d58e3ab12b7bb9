// Lists the attributes of HTML that are texts, and says how the language of a page is written.
#include "tools/text/marked/tag_values.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "tokenizer/unicode/language_code.h"
#include "tools/text/marked/markup_tags.h"

namespace nibu::internal {
namespace {

using Attributes = std::vector<MarkupAttribute>;

constexpr absl::string_view kTexts = " alt aria-label placeholder title ";
// The elements whose titles are no texts, but names of style sheets.
constexpr absl::string_view kNoTitle = " link script style ";
constexpr absl::string_view kButtons = " button reset submit ";
// The scripts that are written from right to left.
constexpr absl::string_view kRightToLeft = " Adlm Arab Hebr Mand Nkoo Rohg Samr Syrc Thaa ";

// Returns the value of an attribute in lower case, or an empty text.
std::string ValueOf(const Attributes& attributes, absl::string_view name) {
  const auto found = absl::c_find_if(
      attributes, [&](const auto& each) { return absl::EqualsIgnoreCase(each.name, name); });
  return found == attributes.end() ? "" : absl::AsciiStrToLower(found->value);
}

bool IsText(const std::string& tag, absl::string_view name, const Attributes& attributes) {
  if (IsIn(kTexts, name)) return !IsIn(kNoTitle, tag);
  if (tag == "input" && name == "value") return IsIn(kButtons, ValueOf(attributes, "type"));
  return tag == "meta" && name == "content" &&
         (absl::EndsWith(ValueOf(attributes, "name"), "description") ||
          absl::EndsWith(ValueOf(attributes, "property"), "description"));
}

}  // namespace

std::vector<TagValue> FindValues(absl::string_view tag, bool has_texts, absl::string_view source) {
  std::vector<TagValue> values;
  if (tag.size() < 2 || tag[0] != '<' || !absl::ascii_isalpha(tag[1])) return values;
  if (!has_texts && !absl::StartsWithIgnoreCase(tag, "<html")) return values;
  MarkupTag read;
  Attributes attributes;
  const size_t end = BeginTag(Markup::kHtml, tag, 0, /*is_whole=*/true, &read, &attributes);
  const bool is_left = read.no_translation || IsForeign(read, source);
  if (end == 0 || end > tag.size() || is_left) return values;
  for (const MarkupAttribute& each : attributes) {
    const std::string name = absl::AsciiStrToLower(each.name);
    const size_t begin = each.value.data() - tag.data();
    const TextSpan span = {begin, begin + each.value.size()};
    if (read.name == "html" && (name == "lang" || name == "xml:lang")) {
      values.push_back({span, each.quote, PageValue::kLanguage});
      const size_t behind = span.end + (each.quote == 0 ? 0 : 1);
      if (name == "lang" && ValueOf(attributes, "dir").empty()) {
        values.push_back({{behind, behind}, each.quote, PageValue::kNewDirection});
      }
    } else if (read.name == "html" && name == "dir") {
      values.push_back({span, each.quote, PageValue::kDirection});
    } else if (has_texts && IsText(read.name, name, attributes)) {
      values.push_back({span, each.quote, PageValue::kNone});
    }
  }
  return values;
}

std::string WritePageValue(const MarkedText& value, const std::string& language) {
  if (language.empty()) return value.text;
  if (value.page == PageValue::kLanguage) return ShortLanguageCode(language);
  const bool is_rtl = IsIn(kRightToLeft, LanguageCode(language).script);
  if (value.page == PageValue::kNewDirection) return is_rtl ? " dir=\"rtl\"" : "";
  return is_rtl ? "rtl" : "ltr";
}

}  // namespace nibu::internal
