// Finds the paragraphs of plain text that was wrapped by hand (mails, READMEs, text files), and
// wraps their translations.
#ifndef NIBU_TOOLS_TEXT_MARKED_LAYOUT_H_
#define NIBU_TOOLS_TEXT_MARKED_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Lines that belong together, or a line that stands by itself.
struct Paragraph {
  // The text in front of the first line: quoting marks, indentation and a bullet; and in front
  // of the lines that follow, with blanks as wide as the bullet. A line without letters and digits
  // is all in `first`.
  std::string first;
  std::string rest;
  std::string text = "";  // its lines, joined
  bool may_wrap = true;   // false for headings and other single lines
  uint64_t line = 0;      // number of its first line, from 0
};

// Finds paragraphs, line by line. A paragraph has a bounded size, unless a single line is longer.
// Not thread-safe.
//
// A paragraph ends at a blank line, at a line without letters and digits, before a bullet or
// number, where the depth of quoting or the indentation changes (the first line, and lines below a
// bullet, may be indented differently), after two trailing blanks (Markdown's line break), and
// where the next word would easily have fitted on the line. Headings with "#", rows of tables with
// "|", commands with "$", signatures (below "-- ") and fields ("Subject: ...", one below the other)
// keep their lines. Lines between fences ("```" or "~~~") stay as they are.
//
// Lines are joined with a blank. In scripts without blanks, and behind a hyphen that follows a
// letter, they are joined without one; the hyphen stays.
class ParagraphReader {
 public:
  // Takes the next line, without its end. Adds paragraphs that have ended to `ended`.
  void Add(absl::string_view line, std::deque<Paragraph>* ended);
  // Ends the open paragraph at the end of the text, and adds it to `ended`.
  void End(std::deque<Paragraph>* ended);

  struct Line;  // for layout.cc

 private:
  // Returns whether the line continues the open paragraph.
  bool Continues(const Line& line) const;
  bool IsIndentedAsBefore(const Line& line) const;
  // Returns whether the first word of `line` would have fitted behind the last line in so many
  // columns.
  bool HadRoom(const Line& line, size_t columns) const;
  // Returns the columns that a line needs at least to be followed by another of its paragraph.
  size_t LeastColumns(const Line& line) const;
  void Begin(const Line& line);
  void Append(const Line& line);

  uint64_t count_ = 0;  // number of lines so far
  char fence_ = 0;      // the character of the open fence; 0: none is open
  bool is_signature_ = false;
  size_t usual_ = 0;  // widest line of the last paragraph with several lines, at most kUsual
  // The open paragraph and its number of lines; 0: none is open.
  Paragraph open_;
  size_t lines_ = 0;
  size_t depth_ = 0;   // depth of quoting
  size_t indent_ = 0;  // column of its second line, or of the first one as long as it is alone
  int ordinal_ = -1;   // number of a list's item; 0 for a bullet, -1: it is no item
  bool is_field_ = false;
  bool is_single_ = false;  // no line continues it
  size_t last_ = 0;         // columns of the last line
  size_t widest_ = 0;       // columns of the widest line
};

// Returns a paragraph's translation with what stood in front of its lines, without a line end
// behind the last line. Lines are wrapped at `columns` where possible; 0: they are not wrapped.
std::string Reflow(const Paragraph& paragraph, absl::string_view translation, size_t columns);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_LAYOUT_H_
