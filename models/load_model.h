// Opens a model of any supported format.
#ifndef NIBU_MODELS_LOAD_MODEL_H_
#define NIBU_MODELS_LOAD_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/weights.h"
#include "models/assembly/opened_model.h"
#include "models/formats/marian_files.h"

namespace nibu::internal {

// A model with packed weights, and the data that come with it.
struct LoadedModel {
  std::shared_ptr<const Model> model;
  ModelVocabulary vocabulary;
  ModelDefaults defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null: it has none
  std::string format;                          // "Hugging Face MarianMT", ...
  std::vector<std::string> notes;              // one line each, for the user
};

// Opens the model in a directory or file, whose format is told by its content. An error is one
// line: the file, what is wrong, what to do.
absl::StatusOr<OpenedModel> OpenModel(const std::string& path);
// Does the same with the files of a Marian model that the caller has chosen.
absl::StatusOr<OpenedModel> OpenModel(const MarianFiles& files);

// Builds a model (BuildModel) that has been opened, or opens and builds it.
absl::StatusOr<LoadedModel> LoadModel(OpenedModel opened, ComputeType compute_type);
absl::StatusOr<LoadedModel> LoadModel(const std::string& path, ComputeType compute_type);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_LOAD_MODEL_H_
