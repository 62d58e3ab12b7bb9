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
#include "engine/model/score_terms.h"
#include "engine/ops/linear.h"
#include "nibu/options.h"
#include "nlohmann/json.hpp"
#include "tools/inspect/attention_numbers.h"

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

// A model with one mechanism in its encoder, while it reads the same source and target.
struct ComparedMechanism {
  std::string mechanism;          // as --encoder_attention takes it
  AttentionMaps::Layers encoder;  // what its attentions compute
  double log_prob = 0;            // of the target, the sum over its tokens
};

// The attention of a model while it translates a line.
struct AttentionView {
  std::string model;  // the model's name
  ModelConfig config;
  ComputeType compute_type;
  // The tokens, with the special ones around them: languages, EOS.
  std::vector<std::string> source;  // [S]
  std::vector<std::string> target;  // [T], the decoder's outputs
  std::vector<std::string> read;    // [T], its inputs: the start token, then those of `target`
  AttentionMaps maps;
  std::optional<ScoreTerms> terms;          // of the encoder's first layer
  std::vector<ComparedMechanism> compared;  // beside each other
  // The attention that is shown first: its kind, a layer, and its head, or -1 for the mean of all
  // heads.
  AttentionKind kind = AttentionKind::kCross;
  int layer = 0;
  int head = 0;

  const AttentionMaps::Layers& MapsOf(AttentionKind which) const {
    if (which == AttentionKind::kCross) return maps.cross;
    return which == AttentionKind::kEncoder ? maps.encoder : maps.decoder;
  }
  AttentionTokens TokensOf(AttentionKind which) const {
    if (which == AttentionKind::kCross) return {target, source};
    return which == AttentionKind::kEncoder ? AttentionTokens{source, source}
                                            : AttentionTokens{read, read};
  }
};

// Returns the attention for a line. Unless `target` is given, translates the line in one piece,
// with the search that flags and the model ask for. `compare`: mechanisms of the encoder with which
// the model then reads the same source and target. Returns a UsageError if flags do not go
// together or with the model, or the text is blank, and InvalidArgument if the text is too long for
// the model or for a page.
absl::StatusOr<AttentionView> ViewAttention(const std::string& model, const ModelOptions& loading,
                                            const Options& asked, const std::string& text,
                                            const std::optional<std::string>& target,
                                            absl::Span<const std::string> compare);

// Returns {"source":[...],"target":[...],"encoder":[layer][head][q][k],"decoder":...,"cross":...},
// with [] for a layer that has no matrices, and the rest of AttentionMap; README.md of tools/cli
// describes it.
std::string AttentionJson(const AttentionView& view);

// Returns a page of HTML that needs no other files: attention.html with the data in it, numbers to
// 5 digits.
std::string AttentionPage(const AttentionView& view);

// Returns text for a terminal: an attention as shades, with a row for each query and a column for
// each key, whose characters stand above one another; then mechanism and entropies of every layer.
std::string AttentionGrid(const AttentionView& view);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_INSPECT_INSPECT_H_
