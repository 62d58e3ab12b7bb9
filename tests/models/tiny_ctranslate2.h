// A tiny CTranslate2 model of any binary version and type of weights.
#ifndef NIBU_TESTS_MODELS_TINY_CTRANSLATE2_H_
#define NIBU_TESTS_MODELS_TINY_CTRANSLATE2_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/models/archives.h"

namespace nibu::internal::testing {

// A model with d_model 8, 2 heads, feed-forward 16, 1 + 1 layers, 5 source and 4 target tokens.
class TinyCTranslate2 {
 public:
  static constexpr int kD = 8;

  struct Variable {
    std::string name;
    std::vector<uint32_t> shape;
    uint8_t type = 0;  // the number of the type in version 4 and later
    std::string data;
  };

  uint32_t version = 6;
  std::string spec = "TransformerSpec";
  uint8_t weight_type = 0;  // 0 float32, 1 int8, 2 int16
  std::vector<Variable> variables;
  std::vector<std::pair<std::string, std::string>> aliases;
  std::string source_vocabulary = "</s>\n<s>\na\nb\n";  // <unk> is added
  std::string target_vocabulary = "[\"<unk>\", \"<s>\", \"</s>\", \"x\"]";

  explicit TinyCTranslate2(uint32_t binary_version = 6, uint8_t type_of_weights = 0)
      : version(binary_version), weight_type(type_of_weights) {
    for (const std::string stack : {"encoder", "decoder"}) {
      AddScalar(stack + "/num_heads", 2);
      AddScalar(stack + "/pre_norm", 1);
      const std::string layer = stack + "/layer_0/";
      Affine(layer + "self_attention/linear_0", 3 * kD, kD);
      Affine(layer + "self_attention/linear_1", kD, kD);
      AddNorm(layer + "self_attention/layer_norm");
      if (stack == "decoder") {
        Affine(layer + "attention/linear_0", kD, kD);
        Affine(layer + "attention/linear_1", 2 * kD, kD);
        Affine(layer + "attention/linear_2", kD, kD);
        AddNorm(layer + "attention/layer_norm");
      }
      Affine(layer + "ffn/linear_0", 16, kD);
      Affine(layer + "ffn/linear_1", kD, 16);
      AddNorm(layer + "ffn/layer_norm");
      AddNorm(stack + "/layer_norm");
    }
    AddMatrix("encoder/embeddings/weight", 5, kD);
    AddMatrix("decoder/embeddings/weight", 4, kD);
    if (version >= 3) {
      aliases.emplace_back("decoder/projection/weight", "decoder/embeddings/weight");
    } else {
      AddMatrix("decoder/projection/weight", 4, kD);
    }
    AddVector("decoder/projection/bias", 4);
  }

  void AddScalar(const std::string& name, int8_t value) {
    variables.push_back({name, {}, 1, Bytes(value)});
  }
  // Sets a scalar that is there already.
  void Set(const std::string& name, int8_t value) {
    for (Variable& variable : variables) {
      if (variable.name == name) variable.data = Bytes(value);
    }
  }
  void AddVector(const std::string& name, uint32_t size) {
    variables.push_back({name, {size}, 0, Floats(size)});
  }
  void AddNorm(const std::string& name) {
    AddVector(name + "/gamma", kD);
    AddVector(name + "/beta", kD);
  }
  void AddMatrix(const std::string& name, uint32_t rows, uint32_t columns) {
    const std::string floats = Floats(rows * columns);
    if (weight_type == 0) {
      variables.push_back({name, {rows, columns}, 0, floats});
      return;
    }
    std::vector<float> values(rows * columns);
    std::memcpy(values.data(), floats.data(), floats.size());
    std::string data;
    std::string scales;
    const float limit = weight_type == 1 ? 127.0f : 1024.0f;
    for (size_t r = 0; r < rows; ++r) {
      if (weight_type == 1) scales += Bytes(2 * limit);
      for (size_t c = 0; c < columns; ++c) {
        const auto q = static_cast<int16_t>(std::lround(values[r * columns + c] * 2 * limit));
        data += weight_type == 1 ? Bytes(static_cast<int8_t>(q)) : Bytes(q);
      }
    }
    variables.push_back({name, {rows, columns}, weight_type, data});
    if (weight_type == 1) {
      variables.push_back({name + "_scale", {rows}, 0, scales});
    } else {
      variables.push_back({name + "_scale", {}, 0, Bytes(2 * limit)});
    }
  }
  void Affine(const std::string& name, uint32_t out, uint32_t in) {
    AddMatrix(name + "/weight", out, in);
    AddVector(name + "/bias", out);
  }

  std::string Bin() const {
    std::string file = Bytes(version);
    if (version >= 2) file += String(spec) + Bytes<uint32_t>(7);
    file += Bytes(static_cast<uint32_t>(variables.size()));
    constexpr uint8_t kSizes[] = {4, 1, 2, 4, 2, 2};
    for (const Variable& variable : variables) {
      file += String(variable.name) + Bytes(static_cast<uint8_t>(variable.shape.size()));
      for (const uint32_t dim : variable.shape) file += Bytes(dim);
      const auto bytes = static_cast<uint32_t>(variable.data.size());
      const uint8_t size = kSizes[variable.type];
      file +=
          version >= 4 ? Bytes(variable.type) + Bytes(bytes) : Bytes(size) + Bytes(bytes / size);
      file += variable.data;
    }
    if (version >= 3) {
      file += Bytes(static_cast<uint32_t>(aliases.size()));
      for (const auto& [alias, name] : aliases) file += String(alias) + String(name);
    }
    return file;
  }

  void Write(const TempFolder& folder) const {
    WriteFile(folder / "model.bin", Bin());
    WriteFile(folder / "source_vocabulary.txt", source_vocabulary);
    WriteFile(folder / "target_vocabulary.json", target_vocabulary);
  }

 private:
  static std::string String(const std::string& text) {
    return Bytes(static_cast<uint16_t>(text.size() + 1)) + text + std::string(1, '\0');
  }

  // Returns pseudo-random values between -0.5 and 0.5, multiples of 2^-6, which float16 can hold.
  std::string Floats(size_t n) {
    std::string bytes;
    for (size_t i = 0; i < n; ++i) {
      state_ = state_ * 1664525u + 1013904223u;
      bytes += Bytes(static_cast<float>(static_cast<int>(state_ >> 26) - 32) / 64.0f);
    }
    return bytes;
  }

  uint32_t state_ = 1;
};

}  // namespace nibu::internal::testing

#endif  // NIBU_TESTS_MODELS_TINY_CTRANSLATE2_H_
