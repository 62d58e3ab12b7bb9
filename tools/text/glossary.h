#ifndef NIBU_TOOLS_TEXT_GLOSSARY_H_
#define NIBU_TOOLS_TEXT_GLOSSARY_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/request.h"
#include "tools/text/text_options.h"

namespace nibu::internal {

// Phrases of the source and the token ids of what is to stand for each. Immutable.
class Glossary {
 public:
  // The targets of one source, not empty, belong together.
  void Add(const std::string& source, std::vector<int> target);
  bool empty() const { return phrases_.empty(); }

  // One constraint for each place of a sentence where a phrase stands between the borders of words;
  // of phrases that overlap the one that begins first, then the longest. As many as there may be.
  std::vector<Constraint> Find(absl::string_view sentence) const;

 private:
  // By their bytes, the longest ones first.
  std::map<size_t, std::map<std::string, Constraint, std::less<>>, std::greater<>> phrases_;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_TEXT_GLOSSARY_H_
