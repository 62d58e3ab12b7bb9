// Cuts whole texts into units (lines, paragraphs, or blocks of documents), and writes them again.
#ifndef NIBU_TEXT_H_
#define NIBU_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "nibu/export.h"
#include "nibu/options.h"

namespace nibu {

namespace internal {
struct UnitParts;
class TextReader;
class UnitCutter;
}  // namespace internal

// A part of a text that is translated by itself: a line, a paragraph, or a block of a document; or
// a part of a document that is not translated. Immutable; copies share the contents.
class NIBU_EXPORT TextUnit {
 public:
  TextUnit();
  ~TextUnit();
  TextUnit(const TextUnit&);
  TextUnit(TextUnit&&) noexcept;
  TextUnit& operator=(const TextUnit&);
  TextUnit& operator=(TextUnit&&) noexcept;

  // Returns false for a part of a document with nothing to translate, which Write("") returns.
  bool has_text() const;
  // Returns the text as it stands in the input, without line end. In a document's block, each run
  // of white space is collapsed into one space.
  const std::string& source() const;
  // Returns the number of bytes that it holds.
  size_t size() const;
  // Return the line of the input in which it begins, from 0; and the number of bytes of the input
  // up to its end.
  uint64_t line() const;
  uint64_t end() const;
  // Returns whether a line feed follows its output. It does for lines and paragraphs. In documents,
  // Write returns the line breaks.
  bool ends_line() const;
  // Returns its output, without that line feed: the quoting marks, indentation and tags around the
  // text in the input, and the translation, wrapped as Options::wrap says.
  std::string Write(absl::string_view translation) const;

 private:
  friend class TextReader;
  friend class Translator;
  friend class internal::UnitCutter;
  std::shared_ptr<const internal::UnitParts> parts_;
  size_t wrap_ = 0;
};

// Cuts a text into units, as Options::text and Options::markup say. The text may come in pieces of
// any size; the units do not depend on them. It holds no more than a line, a paragraph or 1 MB of a
// document at a time. Any bytes are a text: nothing is lost and nothing is refused. Not
// thread-safe.
//
//   TextReader reader(options);
//   reader.Add(text);
//   reader.End();
//   for (TextUnit unit; reader.Next(&unit);) { ... }
class NIBU_EXPORT TextReader {
 public:
  explicit TextReader(const Options& options);
  ~TextReader();
  TextReader(const TextReader&) = delete;
  TextReader& operator=(const TextReader&) = delete;

  void Add(absl::string_view bytes);
  // Says that no more bytes come.
  void End();
  // Sets `unit` to the next unit. Returns false if more bytes are needed or, after End, none is
  // left.
  bool Next(TextUnit* unit);
  // Returns whether a comment, tag or element that is not translated goes on behind the last unit.
  // At the end of a text that means that the text from its beginning on was not translated.
  bool is_open() const;

 private:
  std::unique_ptr<internal::TextReader> reader_;
  size_t wrap_;
};

// Returns the markup of a file that is a document by its name (.html, .htm, .xhtml, .xml, perhaps
// with .gz behind it), or nullopt if the name says nothing.
NIBU_EXPORT std::optional<Markup> MarkupOfFile(absl::string_view path);

}  // namespace nibu

#endif  // NIBU_TEXT_H_
