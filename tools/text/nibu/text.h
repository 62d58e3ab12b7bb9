// Whole texts: lines, paragraphs and documents, cut into units and written again.
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
}  // namespace internal

// A part of a text that is translated for itself: a line, a paragraph, or a block of a document; or
// a part of a document that is left alone. Immutable; copies share what they hold.
class NIBU_EXPORT TextUnit {
 public:
  TextUnit();
  ~TextUnit();
  TextUnit(const TextUnit&);
  TextUnit(TextUnit&&) noexcept;
  TextUnit& operator=(const TextUnit&);
  TextUnit& operator=(TextUnit&&) noexcept;

  // False: a part of a document with nothing to translate, which Write("") gives back.
  bool has_text() const;
  // The text as it stands in the input, without line end; of a document's block, with each run of
  // white space collapsed into one space.
  const std::string& source() const;
  // The bytes that it holds.
  size_t size() const;
  // The line of the input in which it begins, from 0; and how many bytes of the input end with it.
  uint64_t line() const;
  uint64_t end() const;
  // Returns whether it is a line or paragraph, whose output a line feed follows; false in
  // documents, whose line breaks are among what Write returns.
  bool ends_line() const;
  // The output that stands for it, without that line feed: what surrounds the translation in the
  // input, quoting marks, indentation and tags, and the translation, wrapped as Options::wrap says.
  std::string Write(absl::string_view translation) const;

 private:
  friend class TextReader;
  friend class Translator;
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
  // Takes the next unit. False: more bytes are needed or, after End, there is none.
  bool Next(TextUnit* unit);
  // Returns whether a comment, tag or element that is left alone goes on behind the last unit. At
  // the end of a text that means that the rest, from where it begins, was not translated.
  bool is_open() const;

 private:
  std::unique_ptr<internal::TextReader> reader_;
  size_t wrap_;
};

// The markup of a file that is a document by its name (.html, .htm, .xhtml, .xml, perhaps with .gz
// behind it); no value: the name says nothing.
NIBU_EXPORT std::optional<Markup> MarkupOfFile(absl::string_view path);

}  // namespace nibu

#endif  // NIBU_TEXT_H_
