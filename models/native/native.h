// Reads the native format, .nibu: one file that has a whole model, and is used where it lies, as
// mapped memory. Everything is little-endian.
//
//   0   u8[8]  0x89 "nibu" CR LF 0x1a
//   8   u32    version, 2
//   12  u32    CRC-32 of the header (polynomial 0xedb88320, as in zip and PNG)
//   16  u64    offset of the header
//   24  u64    bytes of the header, with which the file ends
//   32  u8[32] zeros
//   64  blocks, each at a multiple of 64 bytes, zeros between them
//   ... header
//
// The header is a JSON object; BLOCK is [offset, bytes, CRC-32 of the bytes], and several may be
// the same (tied weights):
//
//   "config": {...}                the fields of ModelConfig (model_config_json.h)
//   "vocabulary": {
//     "source_tokens": BLOCK, "target_tokens": BLOCK,
//     "source_sentencepiece": BLOCK, "target_sentencepiece": BLOCK,      absent: the model has none
//     "source_language": "en",
//     "words_follow_added": true,
//     "added_tokens_decoder": {"32100": {"content": "{", "special": false, ...}, ...}}
//                                    optional: added tokens, as in tokenizer_config.json
//                                    (models/vocabulary/added_tokens.h)
//   "languages": {"tokens": {"de": 17, ...}, "source_in_front": true,
//                 "target_follows_start": true, "default_source": "", "default_target": ""}
//                                                                  optional: ModelLanguages
//   "defaults": {"beam_size": 4, "length_penalty": 1.0, ...}       the ModelDefaults that are set
//   "facts": {"license": "apache-2.0", "source_language": "en"}    optional: ModelFacts
//   "shortlist": BLOCK                                             optional
//   "tensors": {NAME: {"dtype": "float32", "shape": [rows, columns], "data": BLOCK,
//                      "scales": BLOCK, "activation_scale": 12.5}}
//   "linears": {"compute_type": "int8", "fingerprint": "avx512_core_vnni, oneDNN 2.6.3, ...",
//               "packed": {NAME: BLOCK}}                                  optional
//   "packed"     ignored; older files have linears of an older layout there, beside all tensors
//
// "compute_type" int4: linears that are not read in every step of decoding are int8.
//
// Tensors are row-major; linears are [out, in]. dtype is float32, float16, bfloat16, int8 or int16.
// Integers have scales, f32, one or one for each row: weight = value / scale. activation_scale: see
// MatrixView. Names: {encoder,decoder}.tokens, .positions (learned ones: position_offset +
// max_positions rows; relative ones: [buckets, heads]), .embedding_norm, .final_norm;
// {encoder,decoder}.N.self.{q,k,v,out}, .self.norm, .self.relative_{keys,values},
// .ffn.{up,gate,down}, .ffn.norm; decoder.N.cross.{q,k,v,out}, .cross.norm,
// decoder.N.ssru.{gate,value}, .ssru.norm; output. Mechanisms other than full attention may have
// more: {encoder,decoder}.N.mixer.NAME, and encoder.N.grid.NAME for a layer's second part
// (ForEachWeight lists them). Linears and output have .weight and .bias, norms .gamma and .beta; a
// bias or beta that is not there means zeros.
//
// Tokens: u32 n | u32 bytes of each token | the tokens, one after the other.
//
// Shortlist, u32 each: first | copy_source | n always | always[] | n offsets | offsets[] | n ids |
//   ids[] | n phrases | n x {n source | source[] | n targets | targets[]} (see Shortlist)
//
// Packed linears are the bytes of Linear::packed_bytes(), named by their first matrix; those of the
// output layer are "output.weight/0", ... A file with packed linears has no tensors for them, nor
// for tables of tokens that are tied to the output layer. They are used where they lie if the CPU
// and oneDNN are those of the fingerprint, and for this compute type. Otherwise they are packed
// anew at load.
//
// Reading checks the preamble, the header's checksum, every offset, size and shape, and the
// checksums of all blocks except those of tensors and packed linears. Those are not touched, so
// that the time to open a file does not depend on their size.
#ifndef NIBU_MODELS_NATIVE_NATIVE_H_
#define NIBU_MODELS_NATIVE_NATIVE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "models/assembly/opened_model.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"

namespace nibu::internal {

constexpr char kNativeMagic[] = "\x89nibu\r\n\x1a";
// The version that is written, and the oldest one that is read. A version is read for two releases
// after the last one that wrote it.
constexpr uint32_t kNativeVersion = 2;
constexpr uint32_t kOldestNativeVersion = 2;
constexpr size_t kNativePreamble = 64;
constexpr size_t kNativeAlignment = 64;

// Returns true if the bytes begin like a .nibu file.
bool IsNative(absl::string_view bytes);

// Embedding tables and packed linears are used where they lie in `file`; packed ones only if it was
// opened with copy_on_write. InvalidArgument naming it: it is damaged. Unimplemented: it has
// another version, or a field that is not known.
absl::StatusOr<OpenedModel> OpenNative(std::shared_ptr<const FileBytes> file);

// Reads the whole file and checks all checksums. InvalidArgument naming the first tensor or part
// whose checksum is wrong.
absl::Status VerifyNative(const FileBytes& file);

// Returns the names above. If `source` is not null, biases and betas that it lacks, which mean
// zeros, have no names; tables of tokens that it lacks beside packed linears have the output
// layer's.
// REQUIRES: config.Validate() is OK.
NameTable NativeNames(const ModelConfig& config, const TensorSource* source);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_NATIVE_NATIVE_H_
