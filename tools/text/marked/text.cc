// Implements nibu::TextReader and nibu::TextUnit with internal::TextReader.

#include "nibu/text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/text/marked/text_reader.h"

namespace nibu {

TextUnit::TextUnit() : parts_(std::make_shared<const internal::UnitParts>()) {}
TextUnit::~TextUnit() = default;
TextUnit::TextUnit(const TextUnit&) = default;
TextUnit::TextUnit(TextUnit&&) noexcept = default;
TextUnit& TextUnit::operator=(const TextUnit&) = default;
TextUnit& TextUnit::operator=(TextUnit&&) noexcept = default;

bool TextUnit::has_text() const { return parts_->ends_line || !parts_->marked.segments.empty(); }
const std::string& TextUnit::source() const { return parts_->source; }
size_t TextUnit::size() const { return parts_->source.size() + parts_->before.size(); }
uint64_t TextUnit::line() const { return parts_->line; }
uint64_t TextUnit::end() const { return parts_->end; }
bool TextUnit::ends_line() const { return parts_->ends_line; }

std::string TextUnit::Write(absl::string_view translation) const {
  return absl::StrCat(parts_->before, internal::Reflow(parts_->layout, translation, wrap_));
}

TextReader::TextReader(const Options& options)
    : reader_(std::make_unique<internal::TextReader>(
          options.text, options.markup, internal::MarkupReader::kMaxPiece,
          options.markup_attributes && options.markup == Markup::kHtml,
          options.src_lang == "auto" ? "" : options.src_lang)),
      wrap_(static_cast<size_t>(options.wrap)) {}
TextReader::~TextReader() = default;

void TextReader::Add(absl::string_view bytes) { reader_->Add(bytes); }
void TextReader::End() { reader_->End(); }
bool TextReader::is_open() const { return reader_->is_open(); }

bool TextReader::Next(TextUnit* unit) {
  auto parts = std::make_shared<internal::UnitParts>();
  if (!reader_->Next(parts.get())) return false;
  unit->parts_ = std::move(parts);
  unit->wrap_ = wrap_;
  return true;
}

std::optional<Markup> MarkupOfFile(absl::string_view path) {
  absl::ConsumeSuffix(&path, ".gz");
  for (const absl::string_view ending : {".html", ".htm", ".xhtml"}) {
    if (absl::EndsWithIgnoreCase(path, ending)) return Markup::kHtml;
  }
  if (absl::EndsWithIgnoreCase(path, ".xml")) return Markup::kXml;
  return std::nullopt;
}

}  // namespace nibu
