// Builds a model: for each weight of ForEachWeight,
//   1. use the packed linear of the file, where there is one, or pack it anew for another CPU;
//   2. otherwise find its tensors in the table of names, and take them from the source by shape and
//      type;
//   3. reuse what was made of the same tensors before (tied weights);
//   4. otherwise pack the tensors.
// Embedding tables that are tied to the output layer are read from it. In the end no tensor may be
// left over.
#include "models/assembly/build_model.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/ops/convert.h"

namespace nibu::internal {
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

// Makes `*matrix` a matrix [out, in]. If it is stored as [in, out], it is transposed into
// `*buffer`, and points there.
void TurnAround(MatrixView* matrix, std::string* buffer) {
  if (matrix->out_in) return;
  Shape& shape = matrix->values.shape;
  const size_t row = static_cast<size_t>(shape[0]) * DTypeSize(matrix->values.dtype);
  buffer->resize(matrix->values.bytes());
  for (int64_t r = 0; r < shape[1]; ++r) {
    CopyRow(*matrix, r, buffer->data() + static_cast<size_t>(r) * row);
  }
  matrix->values.data = buffer->data();
  std::swap(shape[0], shape[1]);
  matrix->out_in = true;
}

// The visitor of ForEachWeight that fills the weights. After an error it skips the rest.
class Builder {
 public:
  Builder(const ModelConfig& config, const NameTable& names, ComputeType compute_type,
          TensorSource* source)
      : config_(config),
        names_(names),
        compute_type_(compute_type),
        type_(compute_type),
        source_(*source) {}

  absl::StatusOr<std::shared_ptr<const Model>> Build() {
    NIBU_RETURN_IF_ERROR(config_.Validate());
    auto model = std::make_shared<Model>();
    model->config = config_;
    model->compute_type = compute_type_;
    ModelWeights& weights = model->weights;
    weights = EmptyWeights(config_);
    ForEachWeight(config_, weights, *this);
    NIBU_RETURN_IF_ERROR(status_);
    if (config_.position_kind == PositionKind::kRelative) {
      SpreadBiases(config_.heads_encoder, /*both_ways=*/true, &weights.source.distance_biases);
      SpreadBiases(config_.heads_decoder, /*both_ways=*/false, &weights.target.distance_biases);
    }
    // The decoder's output is multiplied by output_scale, here in its last norm.
    for (float& gamma : weights.decoder_norm.gamma) gamma *= config_.output_scale;
    for (float& beta : weights.decoder_norm.beta) beta *= config_.output_scale;
    NIBU_RETURN_IF_ERROR(CheckLeftovers(names_, &source_));
    source_.DropPages();
    return model;
  }

  template <typename Weight>
  void operator()(const std::string& name, Weight& weight, const WeightShape& shape) {
    if (!status_.ok()) return;
    const auto it = names_.tensors.find(name);
    if (it == names_.tensors.end()) {
      status_ = Invalid(source_.description(), ": the format has no name for \"", name,
                        "\" of such a model");
    } else {
      type_ = TypeOf(name);
      status_ = Make(it->second, shape, &weight);
    }
  }

 private:
  // Returns the type of a weight. Weights of 4 bits are those that each step reads. The others are
  // read once for all rows of a sentence, for which int8 is faster, and it is more exact.
  ComputeType TypeOf(absl::string_view name) const {
    const bool is_read_by_steps =
        name == "output" || (absl::StartsWith(name, "decoder") && !absl::EndsWith(name, ".k+v"));
    return compute_type_ == ComputeType::kInt4 && !is_read_by_steps ? ComputeType::kInt8
                                                                    : compute_type_;
  }

  // Replaces a table of biases [buckets, H] by one for each distance.
  void SpreadBiases(int heads, bool both_ways, std::vector<float>* biases) const {
    *biases = DistanceBiases(*biases, heads, both_ways, config_.position_max_distance);
  }

  // Returns the error `status` of making a weight with the tensor's name in it. If a tensor has NaN
  // or infinite values, the error says that instead.
  absl::Status Explain(const absl::Status& status, const TensorNames& names) const {
    std::vector<std::string> tensors = names.weights;
    tensors.insert(tensors.end(), names.biases.begin(), names.biases.end());
    for (const std::string& name : tensors) {
      if (name.empty()) continue;
      const StoredTensor* tensor = source_.Find(name);
      if (!HoldsFiniteValues(tensor->view)) {
        return Invalid(tensor->file->path(), ": tensor \"", name,
                       "\" holds NaN or infinite values; the file is damaged");
      }
    }
    return absl::Status(status.code(),
                        absl::StrCat(source_.description(), ": tensor \"",
                                     absl::StrJoin(tensors, "\", \""), "\": ", status.message()));
  }

  // Returns the linear that the source has packed. NotFound: it has none. InvalidArgument: it is
  // damaged, or has another shape.
  absl::StatusOr<Linear> Packed(const std::string& name, const WeightShape& shape) {
    const PackedLinears& packed = source_.packed();
    const auto it = packed.linears.find(name);
    if (it == packed.linears.end()) return absl::NotFoundError("");
    Linear& known = packed_[it->second.data()];  // tied layers share one
    absl::StatusOr<Linear> linear = known;
    if (known.packed() == nullptr) {
      linear = type_ == ComputeType::kInt4 || packed.fingerprint == PackFingerprint()
                   ? Linear::FromPacked(it->second, packed.owner)
                   : absl::FailedPreconditionError("");
      if (absl::IsFailedPrecondition(linear.status())) linear = PackAnew(it->second);
    }
    if (linear.ok() &&
        (linear->in() != shape.columns || linear->out() != shape.rows ||
         linear->activation() != shape.activation || linear->compute_type() != type_)) {
      linear = absl::InvalidArgumentError("it is another linear");
    }
    if (linear.ok()) return known = *std::move(linear);
    return Invalid(source_.description(), ": the packed form of \"", name,
                   "\": ", linear.status().message(), "; convert the model again");
  }

  // Packs a linear for this CPU that the source has packed for another one.
  absl::StatusOr<Linear> PackAnew(absl::Span<const char> bytes) const {
    NIBU_ASSIGN_OR_RETURN(const PlainLinear plain, Linear::Unpack({bytes.data(), bytes.size()}));
    std::vector<TensorView> biases;
    if (!plain.bias.empty()) biases.push_back({DType::kFloat32, {plain.out}, plain.bias.data()});
    return Linear::Create({plain.matrix()}, biases, plain.activation, type_);
  }

  // A linear may be made of several matrices (q, k, v) of `each` rows, side by side.
  absl::Status Make(const TensorNames& names, const WeightShape& shape, Linear* linear) {
    absl::StatusOr<Linear> packed = Packed(names.weights[0], shape);
    if (packed.ok()) {
      *linear = *std::move(packed);
      return absl::OkStatus();
    }
    if (!absl::IsNotFound(packed.status())) return packed.status();
    const int each = shape.rows / static_cast<int>(names.weights.size());
    std::vector<MatrixView> matrices;
    std::vector<TensorView> biases;
    for (const std::string& name : names.weights) {
      NIBU_ASSIGN_OR_RETURN(const MatrixView matrix,
                            source_.GetMatrix(name, shape.columns, each, names_.out_in));
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
    // Tied layers share one packed linear.
    Linear& known = linears_[absl::StrCat(shape.columns, " ", shape.rows, " ",
                                          static_cast<int>(shape.activation), " ",
                                          static_cast<int>(type_), " ") +
                             KeyOf(matrices, biases, zeros.data())];
    if (known.packed() == nullptr) {
      absl::StatusOr<Linear> made = Linear::Create(matrices, biases, shape.activation, type_);
      if (!made.ok()) return Explain(made.status(), names);
      known = *std::move(made);
    }
    *linear = known;
    return absl::OkStatus();
  }

  // Returns a key that is equal for linears made of the same tensors, whatever their names. It has
  // the tensors' addresses and scales.
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

  absl::StatusOr<std::vector<float>> Floats(const std::string& name, int size) {
    NIBU_ASSIGN_OR_RETURN(const TensorView view, source_.GetVector(name, size));
    std::vector<float> values(static_cast<size_t>(size));
    ConvertToFloat(view.dtype, view.data, values.size(), values.data());
    if (!AllFinite(values.data(), values.size())) {
      return Explain(absl::InvalidArgumentError("not finite"), {{name}, {}});
    }
    return values;
  }

  absl::Status Make(const TensorNames& names, const WeightShape& shape, LayerNormWeights* norm) {
    source_.DropPages();  // a norm ends a sublayer, whose tensors have been packed
    NIBU_ASSIGN_OR_RETURN(norm->gamma, Floats(names.weights[0], shape.rows));
    if (names.biases.empty()) return absl::OkStatus();
    NIBU_ASSIGN_OR_RETURN(norm->beta, Floats(names.biases[0], shape.rows));
    return absl::OkStatus();
  }

  // Tables with equal values share one table in memory. Shared tables (TensorSource::shared) are
  // not read, so that only tables at the same place in the file count as equal.
  absl::Status Make(const TensorNames& names, const WeightShape& shape,
                    std::shared_ptr<const EmbeddingTable>* table) {
    const std::string& name = names.weights[0];
    const bool is_tied = IsTiedToOutput(name, names_, source_);
    // A file with packed linears has no tensor for a table that is tied to one.
    if (is_tied && !source_.Has(name) && shape.rows == config_.outputs()) {
      tied_.push_back(table);
      return absl::OkStatus();
    }
    NIBU_ASSIGN_OR_RETURN(const MatrixView matrix,
                          source_.GetMatrix(name, shape.columns, shape.rows, true));
    if (is_tied) {
      tied_.push_back(table);
      return absl::OkStatus();
    }
    if (!matrix.out_in) {
      return Explain(absl::InvalidArgumentError("a table cannot be stored transposed"), names);
    }
    const StoredTensor& stored = *source_.Find(name);
    const bool is_tokens =
        name == names_.Tensor("encoder.tokens") || name == names_.Tensor("decoder.tokens");
    const ComputeType type = is_tokens ? compute_type_ : ComputeType::kFloat32;
    const DType dtype = matrix.values.dtype;
    const bool shared = source_.shared();
    for (const auto& [other, made] : tables_) {
      if ((!shared || stored.view.data == other->view.data) && SameTensor(stored, *other)) {
        *table = made;
        return absl::OkStatus();
      }
    }
    absl::StatusOr<EmbeddingTable> made =
        shared && EmbeddingTable::HeldType(dtype, type) == dtype
            ? EmbeddingTable::Share(matrix.values, matrix.scales, stored.file)
            : EmbeddingTable::Create(matrix.values, matrix.scales, type);
    if (!made.ok()) return Explain(made.status(), names);
    *table = std::make_shared<const EmbeddingTable>(*std::move(made));
    tables_.emplace_back(&stored, *table);
    source_.DropPages();
    return absl::OkStatus();
  }

  absl::Status Make(const TensorNames& names, const WeightShape& shape,
                    std::vector<float>* values) {
    NIBU_ASSIGN_OR_RETURN(MatrixView matrix,
                          source_.GetMatrix(names.weights[0], shape.columns, shape.rows, true));
    std::string transposed;
    TurnAround(&matrix, &transposed);
    absl::StatusOr<EmbeddingTable> table = EmbeddingTable::Create(matrix.values, matrix.scales);
    if (!table.ok()) return Explain(table.status(), names);
    values->resize(static_cast<size_t>(matrix.values.elements()));
    for (int r = 0; r < table->rows(); ++r) {
      table->Lookup(r, 1.0f, values->data() + static_cast<ptrdiff_t>(r) * shape.columns);
    }
    return absl::OkStatus();
  }

  // Sets the output layer from packed blocks of rows, "NAME/0", "NAME/1", ... Errors are those of
  // Packed().
  absl::Status TakePacked(const std::string& name, const WeightShape& shape,
                          OutputWeights* output) {
    std::vector<Linear> blocks;
    for (int first = 0; first < shape.rows; first += OutputWeights::kBlock) {
      WeightShape part = shape;
      part.rows = std::min(OutputWeights::kBlock, shape.rows - first);
      NIBU_ASSIGN_OR_RETURN(Linear block, Packed(absl::StrCat(name, "/", blocks.size()), part));
      blocks.push_back(std::move(block));
    }
    output->blocks = std::move(blocks);
    return absl::OkStatus();
  }

  absl::Status Pack(const TensorNames& names, const WeightShape& shape, OutputWeights* output) {
    NIBU_ASSIGN_OR_RETURN(MatrixView matrix, source_.GetMatrix(names.weights[0], shape.columns,
                                                               shape.rows, names_.output_out_in));
    std::string transposed;
    TurnAround(&matrix, &transposed);
    TensorView bias;
    const bool has_bias = !names.biases.empty();
    if (has_bias) {
      NIBU_ASSIGN_OR_RETURN(bias, source_.GetVector(names.biases[0], shape.rows));
    }
    auto made = OutputWeights::Create(matrix, has_bias ? &bias : nullptr, type_);
    if (!made.ok()) return Explain(made.status(), names);
    *output = *std::move(made);
    return absl::OkStatus();
  }

  // The output layer is the last weight, so that the tables that are tied to it can be made here.
  absl::Status Make(const TensorNames& names, const WeightShape& shape, OutputWeights* output) {
    absl::Status status = TakePacked(names.weights[0], shape, output);
    if (absl::IsNotFound(status)) status = Pack(names, shape, output);
    if (!status.ok() || tied_.empty()) return status;
    const auto table =
        std::make_shared<const EmbeddingTable>(EmbeddingTable::Tie(OutputReader(output->blocks)));
    for (std::shared_ptr<const EmbeddingTable>* tied : tied_) *tied = table;
    return absl::OkStatus();
  }

  const ModelConfig& config_;
  const NameTable& names_;
  const ComputeType compute_type_;
  ComputeType type_;  // of the weight that is being made
  TensorSource& source_;
  absl::Status status_;
  std::map<std::string, Linear> linears_;                     // by shape, activation, type, KeyOf
  std::map<const char*, Linear> packed_;                      // by the place of their packed bytes
  std::vector<std::shared_ptr<const EmbeddingTable>*> tied_;  // to the output layer
  std::vector<std::pair<const StoredTensor*, std::shared_ptr<const EmbeddingTable>>> tables_;
};

}  // namespace

bool IsTiedToOutput(const std::string& table, const NameTable& names, const TensorSource& source) {
  const std::string& output = names.Tensor("output");
  if (table == output || !names.output_out_in) return table == output;
  const StoredTensor* const a = source.Find(table);
  const StoredTensor* const b = source.Find(output);
  return a != nullptr && b != nullptr && (!source.shared() || a->view.data == b->view.data) &&
         SameTensor(*a, *b);
}

absl::Status CheckLeftovers(const NameTable& names, TensorSource* source) {
  for (const auto& [copy, original] : names.copies) {
    const StoredTensor* stored = source->Find(copy);
    if (stored == nullptr) continue;
    if (!SameTensor(*stored, *source->Find(original))) {
      return Invalid(stored->file->path(), ": tensor \"", copy, "\" differs from \"", original,
                     "\", although the configuration says that they are tied");
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

}  // namespace nibu::internal
