// Makes tensors that are views of one pool of random numbers.
#include "models/random_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/name_table.h"
#include "models/files/file_bytes.h"
#include "models/files/json.h"
#include "models/native/model_config_json.h"
#include "models/native/native.h"

namespace nibu::internal {
namespace {

constexpr uint16_t kOne = 0x3f80;  // 1 as a bfloat16

// A pool of bfloat16 numbers: ones, zeros, and random numbers of both signs with magnitudes from
// 0.008 to 0.06. Every tensor is a piece of it, so that a large model takes little memory and time.
class RandomTensors {
 public:
  RandomTensors(const std::vector<ListedWeight>& list, uint32_t seed) : random_(seed) {
    size_t largest = 0;
    for (const ListedWeight& weight : list) {
      size_t& most = weight.kind == ListedWeight::Kind::kNorm ? flat_ : largest;
      most = std::max(most, static_cast<size_t>(weight.rows) * static_cast<size_t>(weight.columns));
    }
    std::vector<uint16_t> pool(2 * flat_ + largest + kSpread, 0);
    std::fill_n(pool.begin(), flat_, kOne);
    for (size_t i = 2 * flat_; i < pool.size(); ++i) {
      const uint32_t bits = random_();
      pool[i] = static_cast<uint16_t>((bits & 0x8000) | (0x3c00 + (bits >> 16 & 0x17f)));
    }
    std::string bytes(pool.size() * sizeof(uint16_t), '\0');
    std::memcpy(bytes.data(), pool.data(), bytes.size());
    file_ = FileBytes::InMemory("random weights", std::move(bytes));
  }

  StoredTensor Random(Shape shape) { return At(2 * flat_ + random_() % kSpread, std::move(shape)); }
  StoredTensor Ones(int n) const { return At(0, {n}); }
  StoredTensor Zeros(int n) const { return At(flat_, {n}); }

 private:
  static constexpr size_t kSpread = 65536;  // random tensors start within this many elements

  StoredTensor At(size_t element, Shape shape) const {
    StoredTensor tensor;
    tensor.view = {DType::kBFloat16, std::move(shape),
                   file_->bytes().data() + element * sizeof(uint16_t)};
    tensor.file = file_;
    return tensor;
  }

  std::mt19937 random_;
  size_t flat_ = 0;  // the number of ones, and of zeros
  std::shared_ptr<const FileBytes> file_;
};

std::vector<std::string> MadeUpTokens(int size, const ModelConfig& config) {
  std::vector<std::string> tokens(static_cast<size_t>(size));
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = absl::StrCat("t", i);
  tokens[static_cast<size_t>(config.unk)] = "<unk>";
  tokens[static_cast<size_t>(config.eos)] = "</s>";
  return tokens;
}

}  // namespace

absl::StatusOr<ModelConfig> ReadModelShape(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(path));
  NIBU_ASSIGN_OR_RETURN(const ConfigFile json, ConfigFile::Parse(file->bytes(), path));
  ModelConfig config;
  config.source_suffix = {config.eos};
  NIBU_RETURN_IF_ERROR(ConfigFromJson(json, &config));
  if (json.Find("embedding_scale") == nullptr) {
    config.embedding_scale = std::sqrt(static_cast<float>(config.d_model));
  }
  const absl::Status status = config.Validate();
  if (!status.ok()) return Invalid(path, ": ", status.message());
  return config;
}

absl::StatusOr<OpenedModel> OpenRandom(const ModelConfig& config, uint32_t seed) {
  ABSL_ASSERT(config.Validate().ok());
  const std::vector<ListedWeight> list = ListWeights(config);
  RandomTensors random(list, seed);
  OpenedModel opened;
  opened.format = opened.config_file = "random weights";
  opened.config = config;
  opened.vocabulary.source_tokens = MadeUpTokens(config.vocab_source, config);
  opened.vocabulary.target_tokens = MadeUpTokens(config.vocab_target, config);
  opened.source = std::make_unique<TensorSource>("random weights");
  TensorSource& source = *opened.source;
  const bool shared = config.vocab_source == config.vocab_target;
  const bool tied = shared && config.outputs() == config.vocab_target;
  opened.names = NativeNames(config, nullptr);
  for (const ListedWeight& weight : list) {
    const TensorNames& names = opened.names.tensors[weight.name];
    const bool again =
        (shared && weight.name == "decoder.tokens") || (tied && weight.name == "output");
    const bool norm = weight.kind == ListedWeight::Kind::kNorm;
    const int rows = weight.rows / static_cast<int>(names.weights.size());
    for (const std::string& name : names.weights) {
      NIBU_RETURN_IF_ERROR(source.Add(name, again  ? *source.Find("encoder.tokens")
                                            : norm ? random.Ones(rows)
                                                   : random.Random({rows, weight.columns})));
    }
    for (const std::string& name : names.biases) {
      NIBU_RETURN_IF_ERROR(source.Add(name, norm ? random.Zeros(rows) : random.Random({rows})));
    }
  }
  return opened;
}

}  // namespace nibu::internal
