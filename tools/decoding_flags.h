// The flags that nibu-translate and nibu-bench share: model, search, lengths, speed.
#ifndef NIBU_TOOLS_DECODING_FLAGS_H_
#define NIBU_TOOLS_DECODING_FLAGS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/translator.h"
#include "models/load_model.h"

namespace nibu {

// Names of the flags, for ProgramInfo.
std::vector<std::string> SearchFlags();
std::vector<std::string> SpeedFlags();

struct ModelFlags {
  std::string path;
  std::string draft;  // empty: none
  ComputeType compute_type;
};

// The codes of the languages to translate between; empty: the model's own, if it has any.
struct LanguageFlags {
  std::string source;
  std::string target;
};

// The values of the flags, checked. InvalidArgument naming the flag.
absl::StatusOr<ModelFlags> ReadModelFlags();
LanguageFlags ReadLanguageFlags();
// `defaults`: what the model wants where the command line says nothing. Both are checked together.
absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults);
absl::StatusOr<TranslatorOptions> ReadTranslatorFlags();

// What tells a multilingual model its languages; none for a model that is not to be told.
// InvalidArgument, with the codes that there are: a language is missing, unknown, or not wanted.
absl::StatusOr<std::optional<Frame>> ChooseLanguages(const LoadedModel& loaded,
                                                     const LanguageFlags& flags);
// --sentencepiece's, where it is given, in place of the model's own. An error names the file.
absl::Status ChooseSentencePiece(ModelVocabulary* vocabulary);
// The model's shortlist, or --shortlist's, or none. An error names the file.
absl::StatusOr<std::shared_ptr<const Shortlist>> ChooseShortlist(
    const ModelVocabulary& vocabulary, std::shared_ptr<const Shortlist> own);

// The draft of a model, of its compute type; a null model where there is none. InvalidArgument,
// naming both models: other vocabularies.
absl::StatusOr<LoadedModel> LoadDraft(const LoadedModel& loaded, const ModelFlags& flags);

// "auto": the fastest that this CPU really has.
absl::StatusOr<ComputeType> ParseComputeType(const std::string& text);

}  // namespace nibu

#endif  // NIBU_TOOLS_DECODING_FLAGS_H_
