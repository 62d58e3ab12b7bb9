// Recognizes the block of language tokens in a vocabulary.
#include "models/formats/ctranslate2_languages.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/formats/hugging_face.h"
#include "models/formats/hugging_face_defaults.h"
#include "models/formats/multilingual.h"

namespace nibu::internal {
namespace {

// The spellings of language tokens.
enum class LanguageForm { kNone, kMBart, kOther };

LanguageForm FormOf(absl::string_view token) {
  // 'a' stands for any lower-case letter, 'A' for any upper-case one.
  static constexpr struct {
    absl::string_view pattern;
    LanguageForm form;
  } kForms[] = {{"__aa__", LanguageForm::kOther},  // M2M-100
                {"__aaa__", LanguageForm::kOther},
                {"aaa_Aaaa", LanguageForm::kOther},  // NLLB
                {"aa_AA", LanguageForm::kMBart}};
  const auto matches = [](char c, char pattern) {
    const auto byte = static_cast<unsigned char>(c);
    if (pattern == 'a') return absl::ascii_islower(byte);
    return pattern == 'A' ? absl::ascii_isupper(byte) : c == pattern;
  };
  for (const auto& [pattern, form] : kForms) {
    if (std::equal(token.begin(), token.end(), pattern.begin(), pattern.end(), matches)) {
      return form;
    }
  }
  return LanguageForm::kNone;
}

// A run of language tokens of one form in the vocabulary.
struct LanguageBlock {
  LanguageForm form = LanguageForm::kNone;  // kNone: these are no language tokens
  size_t first = 0;
  size_t size = 0;
};

// Returns the language tokens of a converted M2M-100, NLLB or mBART; form kNone for other models.
// The vocabularies of these models are shared, begin with fairseq's special tokens, and have the
// languages in one block, the longest of all.
LanguageBlock FindLanguages(const ModelVocabulary& vocabulary) {
  constexpr size_t kFewest = 2;  // a single one could be a piece of text
  constexpr absl::string_view kFirst[] = {"<s>", "<pad>", "</s>", "<unk>"};
  const std::vector<std::string>& tokens = vocabulary.source_tokens;
  if (tokens.size() < 4 || !std::equal(std::begin(kFirst), std::end(kFirst), tokens.begin()) ||
      tokens != vocabulary.target_tokens) {
    return {};
  }
  LanguageBlock block;
  LanguageBlock longest;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const LanguageForm form = FormOf(tokens[i]);
    if (form != block.form) block = {form, i, 0};
    ++block.size;
    if (form != LanguageForm::kNone && block.size > longest.size) longest = block;
  }
  return longest.size >= kFewest ? longest : LanguageBlock{};
}

}  // namespace

absl::Status ReadCTranslate2Languages(const Folder& folder, const ConfigFile& config,
                                      bool no_decoder_start, OpenedModel* opened) {
  ModelVocabulary& vocabulary = opened->vocabulary;
  const LanguageBlock block = FindLanguages(vocabulary);
  if (no_decoder_start && block.form != LanguageForm::kMBart) {
    return NotSupported(folder.path(), ": targets whose first token has to be given ",
                        "(decoder_start_token is null) are supported for mBART alone");
  }
  if (block.form == LanguageForm::kNone) return absl::OkStatus();
  if (vocabulary.source_sentencepiece.empty()) {
    return absl::NotFoundError(absl::StrCat(folder.PathOf(kMultilingualSentencePiece),
                                            ": no such file; copy it from the Hugging Face ",
                                            "directory that the model was converted from"));
  }
  NIBU_ASSIGN_OR_RETURN(ConfigFile generation,
                        ConfigFile::OpenOptional(folder, "generation_config.json"));
  const ConfigFile both = config.Under(std::move(generation));
  MultilingualParts parts;
  NIBU_ASSIGN_OR_RETURN(parts.forced_target, ReadTokenId("forced_bos_token_id", both));
  NIBU_ASSIGN_OR_RETURN(parts.tokenizer, ConfigFile::OpenOptional(folder, "tokenizer_config.json"));
  parts.tokens = std::move(vocabulary.source_tokens);
  for (size_t i = block.first; i < parts.tokens.size(); ++i) {
    // These tokens pad the vocabulary to the size of the embedding table.
    if (absl::StartsWith(parts.tokens[i], "madeupword")) parts.tokens[i].clear();
  }
  parts.first_language = static_cast<int>(block.first);
  parts.sentencepiece = std::move(vocabulary.source_sentencepiece);
  parts.is_mbart = block.form == LanguageForm::kMBart;
  parts.language_starts = no_decoder_start;
  NIBU_ASSIGN_OR_RETURN(vocabulary,
                        MultilingualVocabulary(folder.path(), std::move(parts), &opened->config));
  NIBU_ASSIGN_OR_RETURN(opened->defaults,
                        ReadHuggingFaceDefaults(both, vocabulary.languages, &opened->config));
  return absl::OkStatus();
}

}  // namespace nibu::internal
