#include "models/random_model.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/json.h"
#include "models/mapped_file.h"
#include "models/model_config_json.h"

namespace nibu {
namespace {

// Hands out views of one pool of random numbers: any tensor is a piece of it.
class RandomTensors {
 public:
  RandomTensors(const ModelConfig& config, ComputeType compute_type, uint32_t seed)
      : config_(config), compute_type_(compute_type), random_(seed) {
    const auto largest =
        static_cast<size_t>(config.d_model) *
        static_cast<size_t>(std::max({config.vocab_source, config.vocab_target, config.ffn_encoder,
                                      config.ffn_decoder, 3 * config.d_model}));
    // bfloat16 of both signs and magnitudes from 0.008 to 0.06.
    pool_.resize(largest + kSpread);
    for (uint16_t& value : pool_) {
      const uint32_t bits = random_();
      value = static_cast<uint16_t>((bits & 0x8000) | (0x3c00 + (bits >> 16 & 0x17f)));
    }
  }

  TensorView View(Shape shape) {
    return {DType::kBFloat16, std::move(shape), pool_.data() + random_() % kSpread};
  }

  absl::StatusOr<Linear> Map(int in, int out, Activation activation = Activation::kNone) {
    return Linear::Create({MatrixView{View({out, in}), true, {}}}, {View({out})}, activation,
                          compute_type_);
  }

  LayerNormWeights Norm() const {
    const auto dim = static_cast<size_t>(config_.d_model);
    return {std::vector<float>(dim, 1.0f), std::vector<float>(dim, 0.0f)};
  }

  absl::StatusOr<SelfAttentionWeights> SelfAttention() {
    NIBU_ASSIGN_OR_RETURN(Linear qkv, Map(config_.d_model, 3 * config_.d_model));
    NIBU_ASSIGN_OR_RETURN(Linear out, Map(config_.d_model, config_.d_model));
    return SelfAttentionWeights{std::move(qkv), std::move(out), Norm()};
  }

  absl::StatusOr<CrossAttentionWeights> CrossAttention() {
    NIBU_ASSIGN_OR_RETURN(Linear q, Map(config_.d_model, config_.d_model));
    NIBU_ASSIGN_OR_RETURN(Linear kv, Map(config_.d_model, 2 * config_.d_model));
    NIBU_ASSIGN_OR_RETURN(Linear out, Map(config_.d_model, config_.d_model));
    return CrossAttentionWeights{std::move(q), std::move(kv), std::move(out), Norm()};
  }

  absl::StatusOr<FeedForwardWeights> FeedForward(int hidden) {
    FeedForwardWeights ffn;
    NIBU_ASSIGN_OR_RETURN(ffn.up, Map(config_.d_model, hidden, config_.activation));
    NIBU_ASSIGN_OR_RETURN(ffn.down, Map(hidden, config_.d_model));
    ffn.norm = Norm();
    return ffn;
  }

  absl::StatusOr<EmbeddingWeights> Embedding(int vocabulary) {
    NIBU_ASSIGN_OR_RETURN(EmbeddingTable table,
                          EmbeddingTable::Create(View({vocabulary, config_.d_model})));
    EmbeddingWeights weights;
    weights.tokens = std::make_shared<const EmbeddingTable>(std::move(table));
    if (config_.embedding_norm) weights.norm = Norm();
    return weights;
  }

 private:
  static constexpr size_t kSpread = 65536;  // tensors start within this many elements

  const ModelConfig& config_;
  const ComputeType compute_type_;
  std::mt19937 random_;
  std::vector<uint16_t> pool_;
};

}  // namespace

absl::StatusOr<ModelConfig> ReadModelShape(const std::string& path) {
  NIBU_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  NIBU_ASSIGN_OR_RETURN(const JsonConfig json, JsonConfig::Parse(file->bytes(), path));
  ModelConfig config;
  config.source_suffix = {config.eos};
  NIBU_RETURN_IF_ERROR(ConfigFromJson(json, &config));
  if (json.Find("embedding_scale") == nullptr) {
    config.embedding_scale = std::sqrt(static_cast<float>(config.d_model));
  }
  const absl::Status status = config.Validate();
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
  return config;
}

absl::StatusOr<std::shared_ptr<const Model>> RandomModel(const ModelConfig& config,
                                                         ComputeType compute_type, uint32_t seed) {
  RandomTensors random(config, compute_type, seed);
  auto model = std::make_shared<Model>();
  model->config = config;
  model->compute_type = compute_type;
  ModelWeights& weights = model->weights;
  NIBU_ASSIGN_OR_RETURN(weights.source, random.Embedding(config.vocab_source));
  if (config.vocab_source == config.vocab_target) {
    weights.target = weights.source;  // as trained models share it
  } else {
    NIBU_ASSIGN_OR_RETURN(weights.target, random.Embedding(config.vocab_target));
  }
  for (int i = 0; i < config.layers_encoder; ++i) {
    EncoderLayerWeights layer;
    NIBU_ASSIGN_OR_RETURN(layer.self, random.SelfAttention());
    NIBU_ASSIGN_OR_RETURN(layer.ffn, random.FeedForward(config.ffn_encoder));
    weights.encoder.push_back(std::move(layer));
  }
  for (int i = 0; i < config.layers_decoder; ++i) {
    DecoderLayerWeights layer;
    NIBU_ASSIGN_OR_RETURN(layer.self, random.SelfAttention());
    NIBU_ASSIGN_OR_RETURN(layer.cross, random.CrossAttention());
    NIBU_ASSIGN_OR_RETURN(layer.ffn, random.FeedForward(config.ffn_decoder));
    weights.decoder.push_back(std::move(layer));
  }
  if (config.final_norm) {
    weights.encoder_norm = random.Norm();
    weights.decoder_norm = random.Norm();
  }
  const TensorView bias = random.View({config.vocab_target});
  NIBU_ASSIGN_OR_RETURN(
      weights.output, OutputWeights::Create(
                          MatrixView{random.View({config.vocab_target, config.d_model}), true, {}},
                          &bias, compute_type));
  return model;
}

}  // namespace nibu
