// Reads fairseq's Transformer checkpoints:
//
//   NAME.pt        {"args": options or None, "cfg": {"model": options, "task": options, ...},
//                   "model": {name: tensor}, ...}; options are a dictionary or an object
//   dict.XX.txt    beside it, one for source_lang and one for target_lang, with lines
//                  "token count"; the ids begin at 4, behind <s>, <pad>, </s> and <unk>
//   *.model, *.spm optional: SentencePiece models; or bpecodes, bpe.codes or code, the merges of
//                  subword-nmt or fastBPE
//
// A line of a dictionary that ends in "#fairseq:overwrite" may have a token for the second time.
//
// Positions are counted from 2: sinusoidal (sin | cos halves, 10000^(-i / (d/2 - 1))) or learned.
// The source ends in </s>, the decoder starts from it. <pad> is never generated.
//
// The task "translation_multi_simple_epoch", of M2M-100's own checkpoints, has one dictionary for
// all languages (the option fixed_dictionary, model_dict.*.txt or any dict.XX.txt), whose tokens
// "__xx__" are the languages. They stand as in Hugging Face's M2M-100 (multilingual.h).
//
// https://github.com/facebookresearch/fairseq
#ifndef NIBU_MODELS_FORMATS_FAIRSEQ_H_
#define NIBU_MODELS_FORMATS_FAIRSEQ_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assembly/opened_model.h"
#include "models/containers/torch_file.h"
#include "models/files/json.h"
#include "models/formats/hugging_face.h"

namespace nibu::internal {

// Returns true if a checkpoint is fairseq's.
bool IsFairseq(const TorchFile& torch);

// The configuration in a checkpoint's options. The sizes of the vocabularies come from the
// dictionaries, and final_norm from the tensors.
struct FairseqConfig : HuggingFaceConfig {
  std::string source_language;
  std::string target_language;
  bool is_multilingual = false;             // in place of the two languages:
  std::vector<std::string> languages = {};  // may be empty
  std::string dictionary = "";              // its path at training; may be empty
};

// Returns the options of a checkpoint of any age.
ConfigFile FairseqOptions(const TorchFile& torch);
// Reads the options; absent ones have fairseq's defaults. InvalidArgument or Unimplemented naming
// the option: it is wrong, or not supported.
absl::StatusOr<FairseqConfig> ReadFairseqConfig(const ConfigFile& options);

// Returns the tokens of a dict.XX.txt by id, fairseq's four special tokens first. InvalidArgument
// naming file and line: it is damaged.
absl::StatusOr<std::vector<std::string>> ReadFairseqDictionary(absl::string_view text,
                                                               const std::string& file);

absl::StatusOr<OpenedModel> OpenFairseq(const TorchFile& torch);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FORMATS_FAIRSEQ_H_
