// The work of nibu-inspect: collects facts about a model, and its attention weights for a line.
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
#include "nibu/options.h"
#include "nlohmann/json.hpp"

namespace nibu::internal {

// The facts about a model.
struct Inspection {
  // The members: model, format, ModelFacts, config, parameters, stored_bytes, vocabulary, defaults,
  // shortlist, packed, load, and tensors, each with name, dtype, shape, bytes, min, max and nan.
  // The last three are those of the weights: integers are divided by their scales.
  nlohmann::ordered_json facts;
  std::string text;  // the facts as text for people
  // An error if the model cannot be used, although its parts could be read.
  absl::Status status;
};

// Returns the facts about a model, which is also loaded with the compute type. `tensors`: reads
// every tensor. Returns an error if there is nothing to show.
absl::StatusOr<Inspection> Inspect(const std::string& path, nibu::ComputeType compute_type,
                                   bool tensors);

// The attention of a model while it translates a line.
struct AttentionView {
  std::string model;  // the model's name
  ModelConfig config;
  // The tokens, with the special ones around them: languages, EOS.
  std::vector<std::string> source;  // [S]
  std::vector<std::string> target;  // [T], the decoder's outputs
  std::vector<std::string> read;    // [T], its inputs: the start token, then those of `target`
  AttentionMaps maps;
  // The cross-attention that is shown first: a layer, and its head, or -1 for the mean of all
  // heads.
  int layer = 0;
  int head = 0;
};

// Returns the attention for a line. Unless `target` is given, translates the line in one piece,
// with the search that flags and the model ask for. Returns a UsageError if flags do not go
// together or with the model, or the text is blank, and InvalidArgument if the text is too long for
// the model or for a page.
absl::StatusOr<AttentionView> ViewAttention(const std::string& model, const ModelOptions& loading,
                                            const Options& asked, const std::string& text,
                                            const std::optional<std::string>& target);

// Returns {"source":[...],"target":[...],"encoder":[layer][head][q][k],"decoder":...,"cross":...},
// with [] for a layer that has no matrices.
std::string AttentionJson(const AttentionView& view);

// Returns a page of HTML that needs no other files: attention.html with the data in it, weights to
// 4 digits.
std::string AttentionPage(const AttentionView& view);

// Returns text for a terminal: the cross-attention as shades, with a row for each target token and
// a column for each source token, whose characters stand above one another; then the entropy of
// every head.
std::string AttentionGrid(const AttentionView& view);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_INSPECT_H_
