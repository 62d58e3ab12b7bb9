#include "models/assembly/build_model.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"

namespace nibu {
namespace {

bool HoldsFiniteValues(const TensorView& view) {
  constexpr size_t kChunk = 4096;
  float values[kChunk];
  const size_t element = DTypeSize(view.dtype);
  const auto n = static_cast<size_t>(view.elements());
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    ConvertToFloat(view.dtype, static_cast<const char*>(view.data) + i * element, count, values);
    if (!AllFinite(values, count)) return false;
  }
  return true;
}

// The transpose of a matrix, element by element.
std::string Transposed(const TensorView& view) {
  const auto rows = static_cast<size_t>(view.shape[0]);
  const auto columns = static_cast<size_t>(view.shape[1]);
  const size_t size = DTypeSize(view.dtype);
  std::string result(view.bytes(), '\0');
  const char* from = static_cast<const char*>(view.data);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c, from += size) {
      std::memcpy(result.data() + (c * rows + r) * size, from, size);
    }
  }
  return result;
}

// Makes `*matrix` one of [out, in], which points into `*buffer` if it was not one already.
void TurnAround(MatrixView* matrix, std::string* buffer) {
  if (matrix->out_in) return;
  *buffer = Transposed(matrix->values);
  matrix->values.data = buffer->data();
  std::swap(matrix->values.shape[0], matrix->values.shape[1]);
  matrix->out_in = true;
}

class Builder {
 public:
  Builder(const ModelConfig& config, const NameTable& names, ComputeType compute_type,
          TensorSource* source)
      : config_(config), names_(names), compute_type_(compute_type), source_(*source) {}

  absl::StatusOr<std::shared_ptr<const Model>> Build() {
    NIBU_RETURN_IF_ERROR(config_.Validate());
    auto model = std::make_shared<Model>();
    model->config = config_;
    model->compute_type = compute_type_;
    ModelWeights& weights = model->weights;
    NIBU_RETURN_IF_ERROR(Embeddings(&weights));
    for (int i = 0; i < config_.layers_encoder; ++i) {
      NIBU_ASSIGN_OR_RETURN(EncoderLayerWeights layer, EncoderLayer(names_.encoder.layer(i)));
      weights.encoder.push_back(std::move(layer));
      source_.DropPages();
    }
    for (int i = 0; i < config_.layers_decoder; ++i) {
      NIBU_ASSIGN_OR_RETURN(DecoderLayerWeights layer, DecoderLayer(names_.decoder.layer(i)));
      weights.decoder.push_back(std::move(layer));
      source_.DropPages();
    }
    if (config_.final_norm) {
      NIBU_ASSIGN_OR_RETURN(weights.encoder_norm, Norm(names_.encoder.final_norm));
      NIBU_ASSIGN_OR_RETURN(weights.decoder_norm, Norm(names_.decoder.final_norm));
      for (float& gamma : weights.decoder_norm.gamma) gamma *= config_.output_scale;
      for (float& beta : weights.decoder_norm.beta) beta *= config_.output_scale;
    }
    NIBU_ASSIGN_OR_RETURN(weights.output, Output());
    NIBU_RETURN_IF_ERROR(CheckLeftovers(names_, &source_));
    source_.DropPages();
    return model;
  }

 private:
  // `status` of building something from `tensors`, made to name what is wrong with which tensor.
  absl::Status Explain(const absl::Status& status, const std::vector<std::string>& tensors) const {
    for (const std::string& name : tensors) {
      if (name.empty()) continue;
      const StoredTensor* tensor = source_.Find(name);
      if (!HoldsFiniteValues(tensor->view)) {
        return absl::InvalidArgumentError(
            absl::StrCat(tensor->file->path(), ": tensor \"", name,
                         "\" holds NaN or infinite values; the file is damaged"));
      }
    }
    return absl::Status(status.code(),
                        absl::StrCat(source_.description(), ": tensor \"",
                                     absl::StrJoin(tensors, "\", \""), "\": ", status.message()));
  }

  // The map `name` as the source holds it packed for this CPU and compute type. NotFound: it does
  // not.
  absl::StatusOr<Linear> Packed(const std::string& name, int in, int out,
                                Activation activation) const {
    const PackedMaps& packed = source_.packed();
    const auto it = packed.maps.find(name);
    if (it == packed.maps.end() || packed.compute_type != compute_type_ ||
        packed.fingerprint != PackFingerprint()) {
      return absl::NotFoundError("");
    }
    absl::StatusOr<Linear> linear = Linear::FromPacked(it->second, packed.owner);
    if (absl::IsFailedPrecondition(linear.status())) return absl::NotFoundError("");
    if (linear.ok() &&
        (linear->in() != in || linear->out() != out || linear->activation() != activation ||
         linear->compute_type() != compute_type_)) {
      linear = absl::InvalidArgumentError("it is another map");
    }
    if (linear.ok()) return linear;
    return absl::InvalidArgumentError(absl::StrCat(source_.description(), ": the packed form of \"",
                                                   name, "\": ", linear.status().message(),
                                                   "; convert the model again"));
  }

  absl::StatusOr<Linear> Map(const MapNames& names, int in, int out,
                             Activation activation = Activation::kNone) {
    const int each = out / static_cast<int>(names.weights.size());
    std::vector<MatrixView> matrices;
    std::vector<TensorView> biases;
    for (const std::string& name : names.weights) {
      NIBU_ASSIGN_OR_RETURN(const MatrixView matrix,
                            source_.GetMatrix(name, in, each, names_.out_in));
      matrices.push_back(matrix);
    }
    const std::vector<float> zeros(static_cast<size_t>(each), 0.0f);
    for (const std::string& name : names.biases) {
      if (name.empty()) {
        biases.push_back({DType::kFloat32, {each}, zeros.data()});
        continue;
      }
      NIBU_ASSIGN_OR_RETURN(const TensorView bias, source_.GetVector(name, each));
      biases.push_back(bias);
    }
    // The maps of tied layers are one.
    Linear& map = maps_[absl::StrCat(in, " ", out, " ", static_cast<int>(activation), " ") +
                        KeyOf(matrices, biases, zeros.data())];
    if (map.packed() != nullptr) return map;
    absl::StatusOr<Linear> linear = Packed(names.weights[0], in, out, activation);
    if (absl::IsNotFound(linear.status())) {
      linear = Linear::Create(matrices, biases, activation, compute_type_);
      if (!linear.ok()) {
        std::vector<std::string> all = names.weights;
        all.insert(all.end(), names.biases.begin(), names.biases.end());
        return Explain(linear.status(), all);
      }
    }
    if (linear.ok()) map = *linear;
    return linear;
  }

  // Tells apart what maps are made of, whatever its names: where the tensors lie, and their scales.
  static std::string KeyOf(const std::vector<MatrixView>& matrices,
                           const std::vector<TensorView>& biases, const void* zeros) {
    std::string key;
    const auto add = [&key](const void* bytes, size_t size) {
      key.append(static_cast<const char*>(bytes), size);
    };
    for (const MatrixView& matrix : matrices) {
      add(&matrix.values.data, sizeof(matrix.values.data));
      add(&matrix.activation_scale, sizeof(matrix.activation_scale));
      add(matrix.scales.data(), matrix.scales.size() * sizeof(float));
    }
    for (const TensorView& bias : biases) {
      const void* data = bias.data == zeros ? nullptr : bias.data;
      add(&data, sizeof(data));
    }
    return key;
  }

  absl::StatusOr<std::vector<float>> Floats(const std::string& name) {
    NIBU_ASSIGN_OR_RETURN(const TensorView view, source_.GetVector(name, config_.d_model));
    std::vector<float> values(static_cast<size_t>(config_.d_model));
    ConvertToFloat(view.dtype, view.data, values.size(), values.data());
    if (!AllFinite(values.data(), values.size())) {
      return Explain(absl::InvalidArgumentError("not finite"), {name});
    }
    return values;
  }

  absl::StatusOr<LayerNormWeights> Norm(const NormNames& names) {
    LayerNormWeights norm;
    NIBU_ASSIGN_OR_RETURN(norm.gamma, Floats(names.gamma));
    if (!names.beta.empty()) {
      NIBU_ASSIGN_OR_RETURN(norm.beta, Floats(names.beta));
    }
    return norm;
  }

  absl::StatusOr<SelfAttentionWeights> SelfAttention(const LayerNames& names, int inner) {
    SelfAttentionWeights self;
    NIBU_ASSIGN_OR_RETURN(self.qkv, Map(names.self_qkv, config_.d_model, 3 * inner));
    NIBU_ASSIGN_OR_RETURN(self.out, Map(names.self_out, inner, config_.d_model));
    NIBU_ASSIGN_OR_RETURN(self.norm, Norm(names.self_norm));
    return self;
  }

  absl::StatusOr<FeedForwardWeights> FeedForward(const LayerNames& names, int f) {
    FeedForwardWeights ffn;
    NIBU_ASSIGN_OR_RETURN(ffn.up, Map(names.ffn_up, config_.d_model, f, config_.activation));
    if (config_.gated_ffn) {
      NIBU_ASSIGN_OR_RETURN(ffn.gate, Map(names.ffn_gate, config_.d_model, f));
    }
    NIBU_ASSIGN_OR_RETURN(ffn.down, Map(names.ffn_down, f, config_.d_model));
    NIBU_ASSIGN_OR_RETURN(ffn.norm, Norm(names.ffn_norm));
    return ffn;
  }

  absl::StatusOr<EncoderLayerWeights> EncoderLayer(const LayerNames& names) {
    EncoderLayerWeights layer;
    NIBU_ASSIGN_OR_RETURN(layer.self, SelfAttention(names, config_.inner_encoder()));
    NIBU_ASSIGN_OR_RETURN(layer.ffn, FeedForward(names, config_.ffn_encoder));
    return layer;
  }

  absl::StatusOr<DecoderLayerWeights> DecoderLayer(const LayerNames& names) {
    const int d = config_.d_model;
    const int inner = config_.inner_decoder();
    DecoderLayerWeights layer;
    if (config_.decoder_memory == DecoderMemory::kSsru) {
      NIBU_ASSIGN_OR_RETURN(layer.ssru.gate_value, Map(names.ssru, d, 2 * d));
      NIBU_ASSIGN_OR_RETURN(layer.ssru.norm, Norm(names.ssru_norm));
    } else {
      NIBU_ASSIGN_OR_RETURN(layer.self, SelfAttention(names, inner));
    }
    NIBU_ASSIGN_OR_RETURN(layer.cross.q, Map(names.cross_q, d, inner));
    NIBU_ASSIGN_OR_RETURN(layer.cross.kv, Map(names.cross_kv, d, 2 * inner));
    NIBU_ASSIGN_OR_RETURN(layer.cross.out, Map(names.cross_out, inner, d));
    NIBU_ASSIGN_OR_RETURN(layer.cross.norm, Norm(names.cross_norm));
    NIBU_ASSIGN_OR_RETURN(layer.ffn, FeedForward(names, config_.ffn_decoder));
    return layer;
  }

  // A table [rows, D]; `other`, the table `other_name`, is returned when the two hold the same.
  absl::StatusOr<std::shared_ptr<const EmbeddingTable>> Table(
      const std::string& name, int rows, const std::string& other_name,
      const std::shared_ptr<const EmbeddingTable>& other) {
    NIBU_ASSIGN_OR_RETURN(const MatrixView matrix,
                          source_.GetMatrix(name, config_.d_model, rows, true));
    if (!matrix.out_in) {
      return Explain(absl::InvalidArgumentError("a table cannot be stored transposed"), {name});
    }
    const StoredTensor& stored = *source_.Find(name);
    const bool shared = source_.shared();
    if (other != nullptr) {
      const StoredTensor& other_stored = *source_.Find(other_name);
      const bool same =
          shared ? stored.view.data == other_stored.view.data : SameTensor(stored, other_stored);
      if (same) return other;
    }
    absl::StatusOr<EmbeddingTable> table =
        shared ? EmbeddingTable::Share(matrix.values, matrix.scales, stored.file)
               : EmbeddingTable::Create(matrix.values, matrix.scales);
    if (!table.ok()) return Explain(table.status(), {name});
    return std::make_shared<const EmbeddingTable>(*std::move(table));
  }

  // From a table [buckets, H].
  absl::StatusOr<std::vector<float>> Biases(const std::string& name, int heads, bool both_ways) {
    NIBU_ASSIGN_OR_RETURN(MatrixView matrix,
                          source_.GetMatrix(name, heads, config_.position_buckets, true));
    std::string transposed;
    TurnAround(&matrix, &transposed);
    absl::StatusOr<EmbeddingTable> table = EmbeddingTable::Create(matrix.values, matrix.scales);
    if (!table.ok()) return Explain(table.status(), {name});
    std::vector<float> values(static_cast<size_t>(matrix.values.elements()));
    for (int r = 0; r < table->rows(); ++r) table->Lookup(r, 1.0f, values.data() + r * heads);
    return DistanceBiases(values, heads, both_ways, config_.position_max_distance);
  }

  absl::Status Embeddings(ModelWeights* weights) {
    const StackNames& encoder = names_.encoder;
    const StackNames& decoder = names_.decoder;
    NIBU_ASSIGN_OR_RETURN(weights->source.tokens,
                          Table(encoder.tokens, config_.vocab_source, "", nullptr));
    NIBU_ASSIGN_OR_RETURN(weights->target.tokens, Table(decoder.tokens, config_.vocab_target,
                                                        encoder.tokens, weights->source.tokens));
    if (config_.position_kind == PositionKind::kLearned) {
      const int rows = config_.position_offset + config_.max_positions;
      NIBU_ASSIGN_OR_RETURN(weights->source.positions, Table(encoder.positions, rows, "", nullptr));
      NIBU_ASSIGN_OR_RETURN(
          weights->target.positions,
          Table(decoder.positions, rows, encoder.positions, weights->source.positions));
    }
    if (config_.position_kind == PositionKind::kRelative) {
      NIBU_ASSIGN_OR_RETURN(weights->source.distance_biases,
                            Biases(encoder.positions, config_.heads_encoder, true));
      NIBU_ASSIGN_OR_RETURN(weights->target.distance_biases,
                            Biases(decoder.positions, config_.heads_decoder, false));
    }
    if (config_.embedding_norm) {
      NIBU_ASSIGN_OR_RETURN(weights->source.norm, Norm(encoder.embedding_norm));
      NIBU_ASSIGN_OR_RETURN(weights->target.norm, Norm(decoder.embedding_norm));
    }
    source_.DropPages();
    return absl::OkStatus();
  }

  absl::StatusOr<OutputWeights> PackedOutput() const {
    OutputWeights output;
    for (int first = 0; first < config_.vocab_target; first += OutputWeights::kBlock) {
      const int n = std::min(OutputWeights::kBlock, config_.vocab_target - first);
      const std::string name = absl::StrCat(names_.output, "/", output.blocks.size());
      NIBU_ASSIGN_OR_RETURN(Linear block, Packed(name, config_.d_model, n, Activation::kNone));
      output.blocks.push_back(std::move(block));
    }
    return output;
  }

  absl::StatusOr<OutputWeights> Output() {
    NIBU_ASSIGN_OR_RETURN(MatrixView matrix,
                          source_.GetMatrix(names_.output, config_.d_model, config_.vocab_target,
                                            names_.output_out_in));
    std::string transposed;
    TurnAround(&matrix, &transposed);
    std::vector<std::string> tensors = {names_.output};
    TensorView bias;
    const bool has_bias = !names_.output_bias.empty();
    if (has_bias) {
      NIBU_ASSIGN_OR_RETURN(bias, source_.GetVector(names_.output_bias, config_.vocab_target));
      tensors.push_back(names_.output_bias);
    }
    absl::StatusOr<OutputWeights> packed = PackedOutput();
    if (!absl::IsNotFound(packed.status())) return packed;
    absl::StatusOr<OutputWeights> output =
        OutputWeights::Create(matrix, has_bias ? &bias : nullptr, compute_type_);
    if (!output.ok()) return Explain(output.status(), tensors);
    return output;
  }

  const ModelConfig& config_;
  const NameTable& names_;
  const ComputeType compute_type_;
  TensorSource& source_;
  std::map<std::string, Linear> maps_;  // by shape, activation and KeyOf
};

}  // namespace

absl::Status CheckLeftovers(const NameTable& names, TensorSource* source) {
  for (const auto& [copy, original] : names.copies) {
    const StoredTensor* stored = source->Find(copy);
    if (stored == nullptr) continue;
    if (!SameTensor(*stored, *source->Find(original))) {
      return absl::InvalidArgumentError(
          absl::StrCat(stored->file->path(), ": tensor \"", copy, "\" differs from \"", original,
                       "\", although the configuration says that they are tied"));
    }
    source->Ignore(copy);
  }
  for (const std::string& name : names.ignored) source->Ignore(name);
  return source->CheckAllUsed();
}

absl::StatusOr<std::shared_ptr<const Model>> BuildModel(const ModelConfig& config,
                                                        const NameTable& names,
                                                        ComputeType compute_type,
                                                        TensorSource* source) {
  return Builder(config, names, compute_type, source).Build();
}

}  // namespace nibu
