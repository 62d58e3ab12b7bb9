// Finds the phrases of a glossary in sentences, as constraints of the search.
#ifndef NIBU_TOOLS_TEXT_LINES_GLOSSARY_H_
#define NIBU_TOOLS_TEXT_LINES_GLOSSARY_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/request.h"
#include "nibu/options.h"

namespace nibu::internal {

// Source phrases, and for each the token ids of the target phrases that may stand for it. Threads
// may share it once all phrases have been added.
class Glossary {
 public:
  // Adds a target of a phrase. Several targets of the same source are alternatives of one
  // constraint. REQUIRES: neither is empty.
  void Add(const std::string& source, std::vector<int> target);
  bool empty() const { return phrases_.empty(); }

  // Returns one constraint for each place of a sentence where a phrase stands between word borders.
  // If phrases overlap, the one that begins first is taken, and of several the longest. Returns at
  // most kMostConstraints.
  std::vector<Constraint> Find(absl::string_view sentence) const;

 private:
  // By their lengths in bytes, the longest ones first.
  std::map<size_t, std::map<std::string, Constraint, std::less<>>, std::greater<>> phrases_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_LINES_GLOSSARY_H_
