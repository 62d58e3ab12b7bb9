// Plain text that is wrapped by hand: mails, READMEs, text files. Its paragraphs are found, and
// written again.
#ifndef NIBU_TOOLS_TEXT_LAYOUT_H_
#define NIBU_TOOLS_TEXT_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Lines that belong together, or one that stands for itself.
struct Paragraph {
  // In front of its first line, and of those that follow: quoting marks, indentation, a bullet and
  // what is as wide. All of a line without letters and digits.
  std::string first;
  std::string rest;
  std::string text = "";  // its lines, joined
  bool may_wrap = true;   // not a heading
  uint64_t line = 0;      // its first line's, from 0
};

// Finds paragraphs, line by line; of bounded size, but for that of a line. Not thread-safe.
//
// A paragraph ends at a blank line, at one without letters and digits, before a bullet or number,
// where the depth of quoting or the indentation changes (but for that of a first line, or below a
// bullet), at two blanks (Markdown's line break), and where the next word would easily have had
// room. Headings with "#", rows of tables with "|", commands with "$", signatures (below "-- ") and
// fields ("Subject: ...", one below the other) keep their lines; what is fenced by "```" or "~~~"
// stays as it is.
//
// Lines are joined by a blank, or by nothing in scripts without blanks and behind a hyphen that
// follows a letter; the hyphen stays.
class ParagraphReader {
 public:
  // Takes the next line, without its end. Adds those that have ended to `ended`.
  void Add(absl::string_view line, std::deque<Paragraph>* ended);
  // The same at the end of the text.
  void End(std::deque<Paragraph>* ended);

  struct Line;  // for layout.cc

 private:
  bool Continues(const Line& line) const;
  bool IsIndentedAsBefore(const Line& line) const;
  // Whether the next line's first word would have had room in so many columns.
  bool HadRoom(const Line& line, size_t columns) const;
  // Columns that lines have which are followed by others.
  size_t LeastColumns(const Line& line) const;
  void Begin(const Line& line);
  void Append(const Line& line);

  uint64_t count_ = 0;  // of lines
  char fence_ = 0;      // of which a fence is made that is open
  bool is_signature_ = false;
  size_t usual_ = 0;  // columns of the paragraph before, where it had several lines
  // What is open, of `lines_` lines.
  Paragraph open_;
  size_t lines_ = 0;
  size_t depth_ = 0;   // of quoting
  size_t indent_ = 0;  // column of the first line, once there is a second one of that
  int ordinal_ = -1;   // of an item; 0 of one without, -1: it is none
  bool is_field_ = false;
  bool is_single_ = false;  // no line continues it
  size_t last_ = 0;         // columns of the last line, and of the widest
  size_t widest_ = 0;
};

// A paragraph's translation, with what was in front of it; without the last line's end. Lines are
// cut at `columns` where they can be, not at all if 0.
std::string LayOut(const Paragraph& paragraph, absl::string_view translation, size_t columns);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LAYOUT_H_
