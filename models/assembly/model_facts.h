// Collects the facts that a model's files state about it: its licence, languages and version.
//
//   metadata.json         of Argos Translate and Firefox
//   tokenizer_config.json, config.json   of Hugging Face
//   README.md             license and language in its front matter, which is YAML between two lines
//                         "---" (a Hugging Face model card); else the first line that has "licen",
//                         or stands below a heading that has it; no row of a table of data
//   LICENSE               its first line
// The first file that has a fact counts.
#ifndef NIBU_MODELS_ASSEMBLY_MODEL_FACTS_H_
#define NIBU_MODELS_ASSEMBLY_MODEL_FACTS_H_

#include <map>
#include <string>

#include "models/files/folder.h"

namespace nibu::internal {

// The facts that the files state, word for word: "license", "languages", "source_language",
// "target_language", "package_version", "argos_version". Texts are UTF-8 without control
// characters, at most 200 bytes, and not empty.
using ModelFacts = std::map<std::string, std::string>;

// Reads the facts of a folder. Files that are missing or damaged have none.
ModelFacts ReadModelFacts(const Folder& folder);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_MODEL_FACTS_H_
