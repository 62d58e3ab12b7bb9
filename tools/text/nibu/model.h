// A model: loaded once, shared by any number of threads and translators.
#ifndef NIBU_MODEL_H_
#define NIBU_MODEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nibu/export.h"
#include "nibu/options.h"

namespace nibu {

namespace internal {
struct ModelParts;
class TextCoder;
}  // namespace internal

// Facts about a model, or about the first model of an ensemble. With two models in a row, the
// defaults and the facts about targets are those of the second model, and all others those of the
// first.
struct ModelInfo {
  std::string path = {};                   // The directory or file.
  std::vector<std::string> ensemble = {};  // The paths of the other models of an ensemble.
  std::string pivot = {};   // The path of the second of two models in a row; else empty.
  std::string format = {};  // "Hugging Face MarianMT", "Marian", "CTranslate2", ...

  // These have the words of the model's files, or are empty if the files say nothing.
  std::string license = {};
  std::string languages = {};
  std::string source_language = {};  // "en", "eng_Latn"
  std::string target_language = {};

  // The codes that Options::src_lang and Options::tgt_lang choose from, sorted. They are empty if
  // the model does not have to be told its languages.
  std::vector<std::string> source_languages = {};
  std::vector<std::string> target_languages = {};
  // The languages that hold if src_lang or tgt_lang is not given; empty: they have to be given.
  std::string default_source_language = {};
  std::string default_target_language = {};
  // Tokens that choose the target language if they stand in front of a line: ">>deu<<", "<2de>".
  std::vector<std::string> language_tokens = {};

  ComputeType compute_type = ComputeType::kFloat32;  // The one in effect, never kAuto.
  size_t weight_bytes = 0;  // Memory of the weights, those of an ensemble and a draft included.
  int source_vocabulary_size = 0;  // In pieces.
  int target_vocabulary_size = 0;
  bool has_tokenizer = false;  // False: it translates only pieces; see Options::tokenized.
  bool has_shortlist = false;

  // The model's own defaults, for options without a value; the others have no value here either.
  Options defaults = {};
  // Notes for the user about the model's files, one sentence each: weights that had to be packed
  // again, an ensemble's shortlist that is not used.
  std::vector<std::string> notes = {};
};

// Calls visit(name, value) with each fact in its order here, except for `defaults`. Of a value of
// compute_type, it gets the name.
template <typename Visitor>
void VisitFacts(const ModelInfo& info, Visitor visit) {
  visit("path", info.path);
  visit("ensemble", info.ensemble);
  visit("pivot", info.pivot);
  visit("format", info.format);
  visit("license", info.license);
  visit("languages", info.languages);
  visit("source_language", info.source_language);
  visit("target_language", info.target_language);
  visit("source_languages", info.source_languages);
  visit("target_languages", info.target_languages);
  visit("default_source_language", info.default_source_language);
  visit("default_target_language", info.default_target_language);
  visit("language_tokens", info.language_tokens);
  visit("compute_type", ComputeTypeName(info.compute_type));
  visit("weight_bytes", info.weight_bytes);
  visit("source_vocabulary_size", info.source_vocabulary_size);
  visit("target_vocabulary_size", info.target_vocabulary_size);
  visit("has_tokenizer", info.has_tokenizer);
  visit("has_shortlist", info.has_shortlist);
  visit("notes", info.notes);
}

// Immutable: any number of threads may use one model. A Translator's plan keeps its model alive.
class NIBU_EXPORT Model {
 public:
  // Loads a model of any supported format. `path` names a directory or a file; several with commas
  // between them make an ensemble, and "\," is a comma within a path; a path that exists is taken
  // as it is written. A name without a slash that is no path stands for a model that
  // tools/get_model.sh has fetched: $NIBU_MODELS/NAME or, where that variable is not set,
  // ${XDG_DATA_HOME:-$HOME/.local/share}/nibu/models/NAME. The empty path is the bundled
  // English-German model, where it is installed.
  //
  // An error's message is one line that names the file or the option (see OptionOfError). NotFound:
  // no such file; InvalidArgument: the file or an option makes no sense; Unimplemented: a kind of
  // model that nibu does not know; DataLoss: the file cannot be read; ResourceExhausted: there is
  // not enough memory.
  static absl::StatusOr<std::shared_ptr<const Model>> Load(const std::string& path,
                                                           const ModelOptions& options = {});

  // Returns the facts about a model that are known without reading its weights: its path, format,
  // license and languages. The other facts have their default values. `path` and the errors are
  // those of Load, except for errors that only the weights show.
  static absl::StatusOr<ModelInfo> ReadInfo(const std::string& path);

  // Puts two models in a row: the second one translates, sentence by sentence, what the first one
  // has translated (pivoting). Options hold for both; the first one searches for its best
  // translation alone. Tags, protected parts and terms of a glossary are placed once, by the
  // product of both models' alignments, and scores are those of the second model. A model that has
  // to be told its languages reads or writes the other's language, or English if both have a
  // choice. Both models are shared with their other users. A target cannot be scored.
  //
  // InvalidArgument: one of them is two models in a row already, or has no tokenizer. Prepare
  // refuses models of languages that do not meet.
  static absl::StatusOr<std::shared_ptr<const Model>> Pivot(std::shared_ptr<const Model> first,
                                                            std::shared_ptr<const Model> second);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelInfo& info() const;

  // Cuts text, which may be any bytes, into the pieces that the model reads or writes. These are
  // the pieces that a Translator makes of a sentence without protected parts; a language token
  // comes first. Returns FailedPrecondition if the model has no tokenizer (see
  // ModelOptions::sentencepiece).
  absl::StatusOr<std::vector<std::string>> Tokenize(absl::string_view source) const;
  absl::StatusOr<std::vector<std::string>> TokenizeTarget(absl::string_view target) const;

  // Returns the text of pieces of the target, or FailedPrecondition as above.
  absl::StatusOr<std::string> Detokenize(absl::Span<const std::string> target_pieces) const;

  // Return the ids of pieces, from 0 to the vocabulary's size. A piece that the vocabulary lacks
  // has the id of the unknown token.
  std::vector<int> SourceIds(absl::Span<const std::string> pieces) const;
  std::vector<int> TargetIds(absl::Span<const std::string> pieces) const;

  // Return the pieces of ids, or OutOfRange if an id is not in the vocabulary.
  absl::StatusOr<std::vector<std::string>> SourcePieces(absl::Span<const int> ids) const;
  absl::StatusOr<std::vector<std::string>> TargetPieces(absl::Span<const int> ids) const;

 private:
  friend class Translator;
  friend struct internal::ModelParts;
  using Parts = std::shared_ptr<const internal::ModelParts>;
  Model(ModelInfo info, Parts parts, Parts pivot);
  const internal::TextCoder& target_coder() const;
  const ModelInfo info_;
  const Parts parts_;
  const Parts pivot_;  // The second of two models in a row, or null.
};

// How installed models translate between two languages.
struct ModelChoice {
  std::string path = {};      // For Model::Load.
  std::string pivot = {};     // For ModelOptions: the second of two models in a row, or empty.
  std::string src_lang = {};  // For Options; empty for models that do not have to be told.
  std::string tgt_lang = {};
};

// Chooses among the models that tools/get_model.sh has fetched, and the bundled one: a model that
// translates between the two languages, or else two with English or any other language between
// them. Languages are codes in any common form. InvalidArgument: one of them is no language;
// NotFound: there is no such model, or no two.
NIBU_EXPORT absl::StatusOr<ModelChoice> ChooseModel(absl::string_view source,
                                                    absl::string_view target);

}  // namespace nibu

#endif  // NIBU_MODEL_H_
