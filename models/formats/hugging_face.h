// Reads Hugging Face MarianMT directories, the form in which the OPUS-MT models are published:
//
//   config.json              sizes, activation, token ids (fields: ReadHuggingFaceConfig)
//   generation_config.json   optional; its token ids win over config.json's
//   model.safetensors        weights, or their other forms (weights_file.h)
//   vocab.json               {token: id}, every id from 0 to vocab_size - 1 once
//   target_vocab.json        the target's, if tokenizer_config.json has "separate_vocabs": true
//   source.spm, target.spm   SentencePiece models; ids come from vocab.json, not from them
//   tokenizer_config.json    optional
//
// https://huggingface.co/docs/transformers/model_doc/marian
#ifndef NIBU_MODELS_FORMATS_HUGGING_FACE_H_
#define NIBU_MODELS_FORMATS_HUGGING_FACE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assembly/opened_model.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"
#include "models/files/json.h"

namespace nibu::internal {

// The configuration in config.json.
struct HuggingFaceConfig {
  ModelConfig model;              // unk and source_suffix come from the vocabulary
  bool shared_embeddings = true;  // encoder and decoder share one embedding table
  bool tied_output = true;        // the output layer is the decoder's embedding table
};

// Reads a configuration. `config`, here and below, is config.json under generation_config.json;
// absent fields have transformers' defaults. InvalidArgument or Unimplemented naming the field: it
// is wrong, or not supported.
absl::StatusOr<HuggingFaceConfig> ReadHuggingFaceConfig(const ConfigFile& config);

// Returns the names of a MarianMT model's tensors; for tied ones, those that `source` has.
NameTable HuggingFaceNames(const HuggingFaceConfig& config, const TensorSource& source);

// Adds all names except those of the embedding tables and the output layer. fairseq has the same
// names, with an empty prefix; that of transformers is "model.".
void AddHuggingFaceNames(const ModelConfig& config, const std::string& prefix, NameTable* table);
// Adds the names of the embedding tables and the output layer. If some of them are tied, the first
// name that `source` has counts, and the others may be there as copies. `encoder`: all names of the
// table that the stacks may share, the encoder's own last.
void AddTiedNames(const HuggingFaceConfig& config, const std::vector<std::string>& encoder,
                  const std::string& decoder, const std::string& output, const TensorSource& source,
                  NameTable* table);

// Opens a file that a model must have, and that must not be empty. `expected` says in messages
// which files such a directory has.
absl::StatusOr<std::shared_ptr<const FileBytes>> OpenRequiredFile(const std::string& directory,
                                                                  const std::string& name,
                                                                  absl::string_view expected);

// An output bias that makes a token's probability 0: of tokens that a model forbids, and of one
// that is added only to be the decoder's start.
inline constexpr float kNever = -1e9f;

// The names of activations. The first name of an activation is the one to write.
inline constexpr std::pair<absl::string_view, Activation> kHuggingFaceActivations[] = {
    {"relu", Activation::kRelu},
    {"swish", Activation::kSwish},
    {"silu", Activation::kSwish},
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_fast", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"quick_gelu", Activation::kGeluSigmoid}};

// Sets eos (the first one of a list), decoder_start and suppressed (padding).
absl::Status ReadTokenIds(const ConfigFile& config, ModelConfig* model);

// Returns the id of the token that a tokenizer appends to sources: its "eos_token", </s> by
// default. Which tokens end translations is the generation's configuration's to say, and may
// differ. `absent`: the result if the vocabulary has no such token.
absl::StatusOr<int> ReadSourceEnd(const ConfigFile& tokenizer,
                                  const std::vector<std::string>& tokens, int absent);

// Returns the id in a field, if it is there. A list of one id counts as that id.
absl::StatusOr<std::optional<int>> ReadTokenId(const std::string& key, const ConfigFile& config);

absl::StatusOr<OpenedModel> OpenHuggingFaceMarian(const std::string& directory,
                                                  const ConfigFile& config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_HUGGING_FACE_H_
