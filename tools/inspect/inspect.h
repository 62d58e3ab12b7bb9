// What a model is made of, and what it attends to, as nibu-inspect shows it.
#ifndef NIBU_TOOLS_INSPECT_INSPECT_H_
#define NIBU_TOOLS_INSPECT_INSPECT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/model/attention_maps.h"
#include "engine/model/config.h"
#include "engine/ops/linear.h"
#include "nlohmann/json.hpp"
#include "tools/cli/model_flags.h"

namespace nibu::internal {

struct Inspection {
  // model, format, ModelFacts, config, parameters, stored_bytes, vocabulary, defaults, shortlist,
  // packed, load, and tensors: name, dtype, shape, bytes, min, max, nan (of the weights: integers
  // by their scales).
  nlohmann::ordered_json facts;
  std::string text;  // the facts for people to read
  // What keeps the model from being used, although its parts could be read.
  absl::Status status;
};

// Loads the model with the compute type, too. `tensors`: every one is read. An error: there is
// nothing to show.
absl::StatusOr<Inspection> Inspect(const std::string& path, ComputeType compute_type, bool tensors);

// What it attends to while it translates a line.
struct AttentionView {
  std::string model;  // its name
  ModelConfig config;
  // Tokens with what frames them: languages, EOS.
  std::vector<std::string> source;  // [S]
  std::vector<std::string> target;  // [T]: what each of the decoder's positions says is next
  std::vector<std::string> read;    // [T]: what they read: where the decoder starts, then `target`
  AttentionMaps maps;
  // Of the cross-attention, what is shown (first): a layer, and its head or (-1) the mean of all.
  int layer = 0;
  int head = 0;
};

// Translates a line in one piece, by the search that flags and the model ask for, unless `target`
// is given. UsageError: flags that do not go together or with the model, a blank text.
// InvalidArgument: a longer text than a page or the model take.
absl::StatusOr<AttentionView> ViewAttention(const ModelFlags& model, const Options& asked,
                                            const std::string& text,
                                            const std::optional<std::string>& target);

// {"source":[...],"target":[...],"encoder":[layer][head][q][k],"decoder":...,"cross":...}; [] in
// place of a layer that has no matrices.
std::string AttentionJson(const AttentionView& view);

// HTML that needs nothing else: attention.html with the data in it, weights to 4 digits.
std::string AttentionPage(const AttentionView& view);

// For a terminal: the cross-attention, shaded, a row for each target token and a column for each
// source token, whose characters stand above one another; then the entropy of every head.
std::string AttentionGrid(const AttentionView& view);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_INSPECT_H_
