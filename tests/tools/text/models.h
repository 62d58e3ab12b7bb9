// Makes nibu::Model of models that a test has made or changed, and translates with them.
#ifndef NIBU_TESTS_TOOLS_TEXT_MODELS_H_
#define NIBU_TESTS_TOOLS_TEXT_MODELS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "models/load_model.h"
#include "nibu/translator.h"
#include "tools/text/model/model_parts.h"

namespace nibu::internal {

inline absl::StatusOr<std::shared_ptr<const nibu::Model>> ModelOf(LoadedModel loaded) {
  auto coder = TextCoder::Create(&loaded.vocabulary, loaded.model->config);
  if (!coder.ok()) return coder.status();
  return ModelParts::MakeModel({"the test's model"}, {}, {std::move(loaded), *std::move(coder)});
}

// Returns the model at a path, or null.
inline std::shared_ptr<const nibu::Model> LoadNibu(
    const std::string& path, nibu::ComputeType type = nibu::ComputeType::kFloat32) {
  ModelOptions options;
  options.compute_type = type;
  auto model = nibu::Model::Load(path, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

inline std::unique_ptr<nibu::Translator> NewTranslator(int threads = 2) {
  SpeedOptions speed;
  speed.threads = threads;
  return nibu::Translator::Create(speed).value();
}

inline std::vector<nibu::Result> TranslateWith(nibu::Translator* translator,
                                               const std::shared_ptr<const nibu::Model>& model,
                                               const Options& options,
                                               const std::vector<std::string>& lines) {
  const auto plan = translator->Prepare(model, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return {};
  auto results = translator->Translate(lines, *plan);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<nibu::Result>();
}

}  // namespace nibu::internal

#endif  // NIBU_TESTS_TOOLS_TEXT_MODELS_H_
