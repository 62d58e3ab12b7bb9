// Cuts a text into units for TextFeed.
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_UNIT_CUTTER_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_UNIT_CUTTER_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "nibu/text.h"
#include "nibu/translator.h"
#include "tools/text/lines/line_plan.h"

namespace nibu::internal {

// Returns options for reading texts, with the language of the source where the model knows it.
Options ReadingOptions(const LinePlan& plan);

struct CutUnit {
  TextUnit unit;
  std::string end;                     // what follows its output: its line end
  std::optional<std::string> between;  // what is in front of its output: see LineSection
};

// Cuts off one unit at a time: a line, a paragraph, or a block of a document. Lines and blocks of
// more than kMostBytes are cut at ends of sentences (CutLine), so that the decoder's queue never
// gets very many sentences at once: another client's text waits for those of one unit. Paragraphs
// are not: they are wrapped as a whole. Not thread-safe.
class UnitCutter {
 public:
  static constexpr size_t kMostBytes = 1024;

  // Refers to `text`, which must outlive it.
  UnitCutter(const std::string& text, std::shared_ptr<const Plan> plan);
  // Sets `unit` to the next unit. Returns false if there is none.
  bool Next(CutUnit* unit);

 private:
  bool Read();
  std::string EndOf(const TextUnit& unit);

  const std::string& text_;
  const std::shared_ptr<const Plan> plan_;
  nibu::TextReader reader_;
  size_t read_ = 0;           // bytes up to the end of the last unit of reader_
  std::deque<CutUnit> next_;  // the rest of that unit
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_UNIT_CUTTER_H_
