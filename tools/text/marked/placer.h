// Places the tags and protected parts of a source in its translation, by the tokens' alignment.
//
// 1. ReadUnits: the tokens become units, which are disjoint spans of the target. Where two words
//    attend to one, and none to the word beside it, SpreadWords gives one to that.
// 2. ReadNodes: the annotations become a tree. A node's parent is the innermost element around it.
// 3. FindName: a protected part replaces its name, or the words that come from the name.
// 4. PlaceElement: an element, outer before inner, takes units of its parent that no sibling has:
//    those that are a copy of its text (FindCopy), else those that are aligned with it (FindRun),
//    else the nearest word (FindNearest). All copies are found before the first run, and all runs
//    before the first nearest word, so that no element takes the words of another one.
// 5. PlacePoint: all nodes without units become points between two units, inside of their parent's:
//    tags like <br>, parts whose name is missing, elements for which no word is left.
// 6. Write: writes the target with elements around their units, and points with blanks (AsPoint)
//    where the target has none (Padded).
//
// Why outer before inner, each within its parent's units: tags must come out nested, however the
// alignment crosses. Why parts are found by their names first: models copy a name more reliably
// than the attention points to it.
#ifndef NIBU_TOOLS_TEXT_MARKED_PLACER_H_
#define NIBU_TOOLS_TEXT_MARKED_PLACER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tokenizer/unicode/text_span.h"
#include "tools/text/marked/marked_text.h"

namespace nibu::internal {

// A run of units [begin, end); empty: there is none.
struct UnitRun {
  bool empty() const { return begin == end; }
  bool operator==(const UnitRun& other) const = default;

  size_t begin = 0;
  size_t end = 0;
};

class Placer {
 public:
  Placer(const MarkedText& source, absl::string_view target, absl::Span<const AlignedToken> tokens,
         size_t prefix);

  std::string Write();
  const Misplaced& misplaced() const { return misplaced_; }
  // Returns whether an element that had words has none in the translation.
  bool has_emptied() const { return has_emptied_; }

 private:
  // A token, or several that are not separated: they share a character or a replaced name.
  struct Unit : AlignedToken {
    size_t owner;          // the innermost element around it
    bool is_part = false;  // it is written as a protected part
  };

  // An annotation, as a node of the tree: around the units [begin, end), a run inside of its
  // parent's and disjoint from its siblings'; or one place, before unit `begin`, if these are none.
  // So Write writes each tag once, and nested.
  struct Node : Annotation {
    // Returns whether it is an element around text.
    bool IsStretch() const { return !replaces && span.begin < span.end; }
    // Returns whether both of its tags are in this text.
    bool IsWhole() const { return !before.empty() && !after.empty(); }

    size_t parent;
    bool is_placed = false;  // FindName or PlaceElement has found its place
    size_t begin = 0;
    size_t end = 0;
    std::string behind = "";  // the points at an element's end, in front of its closing tag
  };

  // place_parts.cc: units, and the protected parts that replace them.
  void ReadUnits(absl::Span<const AlignedToken> tokens);
  void SpreadWords();
  void ReadNodes();
  UnitRun UnitsIn(const TextSpan& target) const;
  bool Replace(TextSpan target, const TextSpan& source, std::string text);
  TextSpan NameBehind(const Unit& unit, absl::string_view name) const;
  void FindName(size_t i);
  void JoinWords();

  // place_elements.cc: elements.
  void CutUnit(size_t at);
  UnitRun CutOut(const TextSpan& target);
  bool IsFree(const Node& element, const UnitRun& run) const;
  UnitRun FindEnding(const TextSpan& number);
  UnitRun FindPartOfWord(const Node& element);
  UnitRun FindCopy(const Node& element);
  UnitRun WithOwnSigns(const Node& element, const UnitRun& run);
  UnitRun FindRun(const Node& element) const;
  UnitRun FindNearest(const Node& element);
  bool Widen(size_t i);
  bool HasWordsIn(size_t begin, size_t end) const;
  bool HasOwnWords(const Node& element) const;
  void PlaceElement(size_t i, int pass);

  // place.cc: points.
  size_t Anchor(const Annotation& point) const;
  void PlacePoint(size_t i);
  std::string Padded(size_t i, absl::string_view text, size_t at) const;

  bool IsCut(size_t unit) const;  // returns whether a word begins there, or the text ends
  absl::string_view TextOf(size_t unit) const;

  const MarkedText& source_;
  const absl::string_view target_;
  const size_t prefix_;
  const size_t root_;  // the last node: an element around all of the text
  std::vector<Unit> units_;
  std::vector<Node> nodes_;
  Misplaced misplaced_;
  bool has_emptied_ = false;
  std::vector<Annotation> replaced_;  // what Replace did, as protected parts of the target
};

// Returns a span without the white space at its ends.
TextSpan WithoutBlanks(absl::string_view text, TextSpan span);

inline bool IsInside(const TextSpan& inner, const TextSpan& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_MARKED_PLACER_H_
