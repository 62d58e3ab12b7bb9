// Unpacks linears one by one, and cuts them into the tensors that native.h names.
#include "models/native/unpack.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/ops/linear.h"
#include "models/native/native.h"

namespace nibu::internal {
namespace {

// Unpacks a linear, or the blocks of the output layer, which follow one another in the result.
// Without any, the result has no outputs.
absl::StatusOr<PlainLinear> Unpack(const std::string& name, const TensorSource& source) {
  const auto& linears = source.packed().linears;
  PlainLinear all;
  auto it = linears.find(name);
  if (it == linears.end()) it = linears.find(absl::StrCat(name, "/", 0));
  for (int i = 1; it != linears.end(); ++i) {
    absl::StatusOr<PlainLinear> block = Linear::Unpack({it->second.data(), it->second.size()});
    const bool fits = block.ok() && (i == 1 || (block->in == all.in && block->dtype == all.dtype &&
                                                block->bias.empty() == all.bias.empty()));
    if (!fits) {
      return Invalid(source.description(), ": the packed form of \"", name,
                     "\" is damaged; convert the model again");
    }
    if (i == 1) {
      all = *std::move(block);
    } else {
      all.out += block->out;
      all.values.append(block->values);
      all.scales.insert(all.scales.end(), block->scales.begin(), block->scales.end());
      all.bias.insert(all.bias.end(), block->bias.begin(), block->bias.end());
    }
    source.DropPages();
    it = linears.find(absl::StrCat(name, "/", i));
  }
  return all;
}

// Adds the tensors that a linear consists of to `source`.
absl::Status AddTensors(const TensorNames& names, PlainLinear plain, TensorSource* source) {
  const size_t parts = names.weights.size();
  const size_t each = static_cast<size_t>(plain.out) / parts;
  const std::string& path = source->description();
  const auto bias =
      FileBytes::InMemory(path, std::string(reinterpret_cast<const char*>(plain.bias.data()),
                                            plain.bias.size() * sizeof(float)));
  const auto values = FileBytes::InMemory(path, std::move(plain.values));
  const auto rows = static_cast<int64_t>(each);
  for (size_t i = 0; i < parts; ++i) {
    StoredTensor matrix;
    matrix.file = values;
    matrix.view = {plain.dtype, {rows, plain.in}, nullptr};
    matrix.view.data = values->bytes().data() + i * matrix.view.bytes();
    matrix.activation_scale = plain.activation_scale;
    if (!plain.scales.empty()) {
      const auto first = plain.scales.begin() + static_cast<std::ptrdiff_t>(i * each);
      matrix.OwnScales({first, first + static_cast<std::ptrdiff_t>(each)});
    }
    NIBU_RETURN_IF_ERROR(source->Add(names.weights[i], std::move(matrix)));
    if (plain.bias.empty()) continue;
    StoredTensor vector;
    vector.file = bias;
    vector.view = {DType::kFloat32, {rows}, bias->bytes().data() + i * each * sizeof(float)};
    NIBU_RETURN_IF_ERROR(source->Add(names.biases[i], std::move(vector)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UnpackLinears(OpenedModel* model) {
  TensorSource& source = *model->source;
  if (source.packed().linears.empty()) return absl::OkStatus();
  NameTable names = NativeNames(model->config, nullptr);
  for (const ListedWeight& weight : ListWeights(model->config)) {
    if (weight.kind != ListedWeight::Kind::kLinear) continue;
    const TensorNames& tensors = names.tensors[weight.name];
    NIBU_ASSIGN_OR_RETURN(PlainLinear plain, Unpack(tensors.weights[0], source));
    if (plain.out > 0) NIBU_RETURN_IF_ERROR(AddTensors(tensors, std::move(plain), &source));
  }
  source.SetPacked({});
  const StoredTensor* const output = source.Find(names.Tensor("output"));
  for (const char* tokens : {"encoder.tokens", "decoder.tokens"}) {
    if (output != nullptr && !source.Has(tokens)) {
      NIBU_RETURN_IF_ERROR(source.Add(tokens, *output));
    }
  }
  model->names = NativeNames(model->config, &source);
  return absl::OkStatus();
}

}  // namespace nibu::internal
