// Runs a model over one sentence and keeps all of its attention matrices.
#include "engine/model/attention_maps.h"

#include "engine/core/check_range.h"
#include "engine/core/exception_status.h"
#include "engine/core/status_macros.h"
#include "engine/model/decoder.h"
#include "engine/model/encoder.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"

namespace nibu::internal {
namespace {

absl::Status Check(absl::string_view what, absl::Span<const int> ids, int lowest, int vocabulary,
                   int positions) {
  NIBU_RETURN_IF_ERROR(CheckRange<size_t>(absl::StrCat("the number of tokens of the ", what),
                                          ids.size(), 1, static_cast<size_t>(positions)));
  return CheckIds(what, ids, lowest, vocabulary - 1, "the token ");
}

}  // namespace

absl::StatusOr<AttentionMaps> FindAttention(const Model& model, absl::Span<const int> source,
                                            absl::Span<const int> target) try {
  const ModelConfig& config = model.config;
  NIBU_RETURN_IF_ERROR(Check("source", source, 0, config.vocab_source, config.max_positions));
  NIBU_RETURN_IF_ERROR(Check("target", target, -1, config.vocab_target, config.max_positions));
  const auto positions = [](absl::Span<const int> ids) { return static_cast<int>(ids.size()); };
  const Embedder source_embedder(config, model.weights.source, positions(source));
  const Embedder target_embedder(config, model.weights.target, positions(target));
  Workspace workspace;
  PagePool pool(config, CacheTypeOf(model), workspace.memory);
  Decoder decoder(model, target_embedder, &workspace);
  DecoderState state;
  state.Start(config, &pool, positions(source), /*beam_size=*/1);

  AttentionMaps maps;
  const auto layers = static_cast<size_t>(config.layers_decoder);
  const size_t rows = static_cast<size_t>(config.heads_decoder) * target.size();
  maps.cross.assign(layers, std::vector<float>(rows * source.size()));
  maps.decoder.resize(layers);
  if (config.decoder_memory == DecoderMemory::kSelfAttention) {
    for (std::vector<float>& map : maps.decoder) map.resize(rows * target.size());
  }
  decoder.Begin(Encode(model, source_embedder, {source}, &workspace, &maps.encoder), {&state});
  workspace.arena.Rewind(0);
  Decoder::Input input{&state, target, /*consecutive=*/true};
  input.maps = &maps;
  decoder.Step({&input, 1});
  state.Release();
  return maps;
} catch (...) {
  return StatusOfException();
}

}  // namespace nibu::internal
