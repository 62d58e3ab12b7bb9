// What a model's files say of it beside the weights: its licence, languages and version.
//
//   README.md             license and language of its front matter, YAML between two lines "---" (a
//                         Hugging Face model card); else the first paragraph that has "licen"
//   metadata.json         of Argos Translate and Firefox
//   tokenizer_config.json, config.json   of Hugging Face
//   LICENSE               its first line, where the others have none
#ifndef NIBU_MODELS_ASSEMBLY_MODEL_FACTS_H_
#define NIBU_MODELS_ASSEMBLY_MODEL_FACTS_H_

#include <map>
#include <string>

#include "models/files/folder.h"

namespace nibu::internal {

// "license", "languages", "source_language", "target_language", "package_version", "argos_version":
// those that are said, as they are said: UTF-8, without control characters, not empty.
using ModelFacts = std::map<std::string, std::string>;

// What cannot be read says nothing.
ModelFacts ReadModelFacts(const Folder& folder);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_ASSEMBLY_MODEL_FACTS_H_
