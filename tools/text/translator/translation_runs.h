// Joins the translations of a text's units, which come in any order.
#ifndef NIBU_TOOLS_TEXT_TRANSLATOR_TRANSLATION_RUNS_H_
#define NIBU_TOOLS_TEXT_TRANSLATOR_TRANSLATION_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nibu::internal {

// Keeps the units that are there as runs of neighbours, each a single text. So there are no more
// runs than units that are missing, and one more, however many units there are. The n-th
// translation of the text joins the n-th ones of its units, of which those with fewer repeat their
// last one. Not thread-safe.
class TranslationRuns {
 public:
  using Translations = std::vector<std::string>;  // of a unit or a run, best first; at least one

  // Adds the translations of a unit. Units are counted from 0. `between`: the white space between
  // this unit and the one before it if both are sentences of a line (see BetweenTranslations).
  // REQUIRES: there is a translation, and the unit has not been added.
  void Add(uint64_t unit, Translations translations,
           std::optional<std::string> between = std::nullopt);
  // Returns the translations of all units: a single empty one if there are none. To be called once.
  // REQUIRES: none is missing.
  Translations TakeAll();
  void Clear() { runs_.clear(); }
  size_t runs() const { return runs_.size(); }

 private:
  struct Run {
    uint64_t end;  // the number of the unit behind the last one
    Translations joined;
    std::optional<std::string> between;  // in front of it
  };
  static void Append(const Run& more, Translations* joined);

  std::map<uint64_t, Run> runs_;  // by the numbers of their first units
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_TRANSLATOR_TRANSLATION_RUNS_H_
