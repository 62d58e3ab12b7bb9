// Reads the terms of a request: those of a glossary, and those that are not translated.
#ifndef NIBU_TOOLS_SERVE_TERMS_H_
#define NIBU_TOOLS_SERVE_TERMS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/model_store.h"
#include "tools/serve/parameters.h"
#include "tools/serve/translate_request.h"

namespace nibu::internal {

// A request may bring so many terms of its own, of so many bytes together. They are prepared for
// the model before the texts are translated.
inline constexpr size_t kMostTerms = 1000;
inline constexpr size_t kMostTermBytes = size_t{32} << 10;

// Reads two parameters, and returns null if there is neither:
//
//   glossary          the name of a glossary of the folder; or terms: in JSON {"dog": "Hund"},
//                     {"dog": ["Hund", "Köter"]} or [["dog", "Hund"]], or a text like the file of a
//                     glossary
//   do_not_translate  a list of texts that stay as they are, or a text with one in each line
//
// `source` is empty if it is to be detected, which a glossary for two languages does not allow.
// Returns NotFound if the glossary is not there, and InvalidArgument if it is for other languages,
// or if a parameter makes no sense.
absl::StatusOr<std::shared_ptr<const Terms>> ReadTerms(const Parameters& parameters,
                                                       const std::string& source,
                                                       const std::string& target,
                                                       const RequestContext& context);

// Returns an expression that matches texts where they are whole words.
std::string PatternOf(std::vector<std::string> texts);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_TERMS_H_
