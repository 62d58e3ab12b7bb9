// Chooses the tokens to keep, and copies their rows of the output layer to tensors of their own.
#include "models/assembly/target_vocabulary.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/core/token_set.h"

namespace nibu::internal {
namespace {

// Returns whether a token is a character, with or without the mark of SentencePiece for a word's
// begin or that of subword-nmt for a word that goes on.
bool IsCharacter(absl::string_view token) {
  constexpr absl::string_view kBegin = "\xe2\x96\x81";
  constexpr absl::string_view kGoesOn = "@@";
  if (absl::StartsWith(token, kBegin)) token.remove_prefix(kBegin.size());
  if (token.size() > kGoesOn.size() && absl::EndsWith(token, kGoesOn)) {
    token.remove_suffix(kGoesOn.size());
  }
  const auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return std::count_if(token.begin(), token.end(), is_first) <= 1;
}

// Returns whether a token is written as special ones and bytes are: "<s>", "[CLS]", ">>de<<".
bool IsSpecial(absl::string_view token) {
  const auto encloses = [token](absl::string_view begin, absl::string_view end) {
    return absl::StartsWith(token, begin) && absl::EndsWith(token, end);
  };
  return encloses("<", ">") || encloses("[", "]") || encloses(">>", "<<");
}

// Copies elements of a vector.
template <typename T>
std::string Pick(const T* values, absl::Span<const int> chosen) {
  std::string bytes;
  for (const int i : chosen) bytes.append(reinterpret_cast<const char*>(values + i), sizeof(T));
  return bytes;
}

absl::Status AddMatrix(const std::string& from, const std::string& to, OpenedModel* model) {
  const std::vector<int>& chosen = model->config.output_tokens;
  TensorSource& source = *model->source;
  NIBU_ASSIGN_OR_RETURN(const MatrixView matrix,
                        source.GetMatrix(from, model->config.d_model, model->config.vocab_target,
                                         model->names.output_out_in));
  const auto columns = static_cast<size_t>(model->config.d_model);
  const size_t row = columns * DTypeSize(matrix.values.dtype);
  std::string bytes(chosen.size() * row, '\0');
  std::vector<float> scales;
  for (size_t i = 0; i < chosen.size(); ++i) {
    CopyRow(matrix, chosen[i], bytes.data() + i * row);
    if (!matrix.scales.empty()) {
      scales.push_back(
          matrix.scales[matrix.scales.size() == 1 ? 0 : static_cast<size_t>(chosen[i])]);
    }
  }
  StoredTensor tensor;
  tensor.file = FileBytes::InMemory(source.Find(from)->file->path(), std::move(bytes));
  tensor.view = {matrix.values.dtype,
                 {static_cast<int64_t>(chosen.size()), model->config.d_model},
                 tensor.file->bytes().data()};
  tensor.activation_scale = matrix.activation_scale;
  if (!scales.empty()) tensor.OwnScales(std::move(scales));
  return source.Add(to, std::move(tensor));
}

absl::Status AddBias(const std::string& from, const std::string& to, OpenedModel* model) {
  TensorSource& source = *model->source;
  NIBU_ASSIGN_OR_RETURN(const TensorView view, source.GetVector(from, model->config.vocab_target));
  const std::vector<int>& chosen = model->config.output_tokens;
  StoredTensor tensor;
  tensor.file = FileBytes::InMemory(source.Find(from)->file->path(),
                                    view.dtype == DType::kFloat32
                                        ? Pick(static_cast<const uint32_t*>(view.data), chosen)
                                        : Pick(static_cast<const uint16_t*>(view.data), chosen));
  tensor.view = {view.dtype, {static_cast<int64_t>(chosen.size())}, tensor.file->bytes().data()};
  return source.Add(to, std::move(tensor));
}

}  // namespace

std::vector<int> NeededTargetTokens(const OpenedModel& model) {
  const ModelConfig& config = model.config;
  const ModelVocabulary& vocabulary = model.vocabulary;
  TokenSet needed(config.vocab_target);
  const auto add = [&](int token) {
    if (0 <= token && token < config.vocab_target) needed.Add(token);
  };
  for (size_t i = 0; i < vocabulary.target_tokens.size(); ++i) {
    const std::string& token = vocabulary.target_tokens[i];
    if (IsCharacter(token) || IsSpecial(token)) add(static_cast<int>(i));
  }
  for (const int token : {config.eos, config.unk_target, config.decoder_start,
                          model.defaults.forced_bos.value_or(-1)}) {
    add(token);
  }
  for (const int token : model.defaults.end_tokens) add(token);
  for (const ModelLanguages::Language& language : vocabulary.languages.languages) {
    add(language.token);
  }
  for (const AddedToken& added : vocabulary.added_tokens) add(added.token);
  return needed.Ascending();
}

absl::Status RestrictOutput(absl::Span<const std::string> tokens, OpenedModel* model) {
  ABSL_ASSERT(model->source->packed().linears.empty());
  ModelConfig& config = model->config;
  if (!config.output_tokens.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        model->config_file, ": its output layer lacks tokens already; convert the original"));
  }
  std::unordered_map<std::string, int> ids;
  const std::vector<std::string>& vocabulary = model->vocabulary.target_tokens;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    ids.try_emplace(vocabulary[i], static_cast<int>(i));
  }
  TokenSet kept(config.vocab_target);
  for (const int token : NeededTargetTokens(*model)) kept.Add(token);
  for (const std::string& token : tokens) {
    const auto it = ids.find(token);
    if (it == ids.end()) {
      return Invalid("\"", token, "\" is no token of the target vocabulary");
    }
    kept.Add(it->second);
  }
  config.output_tokens = kept.Ascending();
  TensorNames& names = model->names.tensors["output"];
  for (const auto& [list, add] :
       {std::pair(&names.weights, &AddMatrix), {&names.biases, &AddBias}}) {
    for (std::string& name : *list) {
      if (name.empty()) continue;
      const std::string restricted = absl::StrCat(name, " of the target vocabulary");
      NIBU_RETURN_IF_ERROR(add(name, restricted, model));
      name = restricted;
    }
  }
  model->names.output_out_in = true;
  return absl::OkStatus();
}

}  // namespace nibu::internal
