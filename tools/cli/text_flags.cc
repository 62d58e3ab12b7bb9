// Loads models, and checks flags about text.
#include "tools/cli/text_flags.h"

#include <utility>

#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "tools/cli/flags.h"

namespace nibu::internal {

absl::StatusOr<std::shared_ptr<const nibu::Model>> LoadModel(const std::string& path,
                                                             const ModelOptions& options,
                                                             bool tokenized) {
  const auto model = nibu::Model::Load(path, options);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(model.status()));
  const ModelInfo& info = (*model)->info();
  for (const std::string& note : info.notes) PrintWarning(note);
  if (tokenized || info.has_tokenizer) return *model;
  return Invalid(info.path,
                 ": has no SentencePiece model; give it with --sentencepiece, or pieces "
                 "separated by spaces with --tokenized");
}

absl::Status CheckTextFlags(const Options& options) {
  for (const auto& [flag, is_asked] :
       {std::pair("split_sentences", options.split_sentences && WasGiven("split_sentences")),
        std::pair("protect", options.protect != "none" && WasGiven("protect"))}) {
    if (options.tokenized && is_asked) {
      return WrongUsage("--", flag, " needs text, not the pieces of --tokenized; give one of them");
    }
  }
  return Refuse(
      {{(options.tokenized || !options.split_sentences) && !options.split_language.empty(),
        "--split_language means nothing without --split_sentences"}});
}

}  // namespace nibu::internal
