// Opens a model of any supported format.
#ifndef NIBU_MODELS_LOAD_MODEL_H_
#define NIBU_MODELS_LOAD_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/model/weights.h"
#include "models/assembly/opened_model.h"

namespace nibu::internal {

struct LoadedModel {
  std::shared_ptr<const Model> model;
  ModelVocabulary vocabulary;
  ModelDefaults defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null: it has none
  std::string format;                          // "Hugging Face MarianMT", ...
  std::string note;                            // one line that the user should know; or empty
};

// `path`: a directory or file, told apart by content. Errors are one line: what, which file, what
// to do.
absl::StatusOr<OpenedModel> OpenModel(const std::string& path);

// BuildModel of what has been opened; or OpenModel, then that.
absl::StatusOr<LoadedModel> LoadModel(OpenedModel opened, ComputeType compute_type);
absl::StatusOr<LoadedModel> LoadModel(const std::string& path, ComputeType compute_type);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_LOAD_MODEL_H_
