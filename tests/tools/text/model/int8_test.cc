// Tests that int8 translates models whose channels differ very much in size as float32 does.
#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/convert.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "tests/paths.h"
#include "tests/tools/text/models.h"

namespace nibu::internal {
namespace {

// Multiplies rows (of a matrix or a vector) or columns by their factors.
void Scale(const std::string& name, const std::vector<float>& factors, bool columns,
           TensorSource* source) {
  StoredTensor& tensor = *source->Mutable(name);
  std::vector<float> values(static_cast<size_t>(tensor.view.elements()));
  ConvertToFloat(tensor.view.dtype, tensor.view.data, values.size(), values.data());
  const size_t width = values.size() / static_cast<size_t>(tensor.view.shape[0]);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] *= factors[columns ? i % width : i / width];
  }
  tensor.file = FileBytes::InMemory(
      name, std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
  tensor.view.dtype = DType::kFloat32;
  tensor.view.data = tensor.file->bytes().data();
}

// Returns the captions model with a random half of the columns of the values scaled by `factor` in
// each attention, and the weights that read them by its inverse.
OpenedModel ScaledCaptions(float factor) {
  OpenedModel model = OpenModel(CaptionsModelPath()).value();
  std::mt19937 random(1);
  for (const std::string& name : model.source->Names()) {
    const size_t at = name.find("v_proj.weight");
    if (at == std::string::npos) continue;
    const std::string attention = name.substr(0, at);
    std::vector<float> factors(static_cast<size_t>(model.config.d_model), 1.0f);
    std::fill_n(factors.begin(), factors.size() / 2, factor);
    std::shuffle(factors.begin(), factors.end(), random);
    Scale(attention + "v_proj.weight", factors, false, model.source.get());
    Scale(attention + "v_proj.bias", factors, false, model.source.get());
    for (float& each : factors) each = 1 / each;
    Scale(attention + "out_proj.weight", factors, true, model.source.get());
  }
  return model;
}

// Returns the translations of the first 40 lines by greedy search.
std::vector<std::string> Translations(OpenedModel opened, ComputeType type) {
  std::vector<std::string> lines(40);
  std::ifstream file(TestdataPath("multi30k.en"));
  for (std::string& line : lines) std::getline(file, line);
  const auto model = ModelOf(LoadModel(std::move(opened), type).value()).value();
  const auto translator = NewTranslator();
  Options options;
  options.beam_size = 1;
  std::vector<std::string> translations;
  for (const nibu::Result& result : TranslateWith(translator.get(), model, options, lines)) {
    translations.push_back(result.hypotheses[0].text);
  }
  return translations;
}

// int8 gives 35 of the lines as float32 does before the columns are scaled. Scaled by 0.01, 0.003
// and 0.001, it gave 14, none and none of them until weights were equalized. Now it gives 29 or
// more with VNNI, and 28 or more with AVX2, whose activations have 7 bits.
TEST(Int8, TranslatesScaledChannelsAsFloat32Does) {
  const auto expected = Translations(ScaledCaptions(1), ComputeType::kFloat32);
  for (const float factor : {0.1f, 0.01f, 0.003f, 0.001f}) {
    const auto translations = Translations(ScaledCaptions(factor), ComputeType::kInt8);
    int equal = 0;
    for (size_t i = 0; i < expected.size(); ++i) equal += translations[i] == expected[i] ? 1 : 0;
    EXPECT_GE(equal, 28) << factor;
  }
}

}  // namespace
}  // namespace nibu::internal
