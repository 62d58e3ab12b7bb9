#include "models/assembly/weight_list.h"

#include <initializer_list>

namespace nibu {
namespace {

class Lister {
 public:
  Lister(const ModelConfig& config, const NameTable& names) : config_(config), names_(names) {}

  WeightList List() {
    const int d = config_.d_model;
    const int inner = config_.inner_decoder();
    Stack(names_.encoder, config_.vocab_source, config_.heads_encoder);
    Stack(names_.decoder, config_.vocab_target, config_.heads_decoder);
    for (int i = 0; i < config_.layers_encoder; ++i) {
      const LayerNames layer = names_.encoder.layer(i);
      SelfAttention(layer, config_.inner_encoder());
      FeedForward(layer, config_.ffn_encoder);
    }
    for (int i = 0; i < config_.layers_decoder; ++i) {
      const LayerNames layer = names_.decoder.layer(i);
      if (config_.decoder_memory == DecoderMemory::kSsru) {
        Map(layer.ssru, d, 2 * d);
        Norm(layer.ssru_norm);
      } else {
        SelfAttention(layer, inner);
      }
      Map(layer.cross_q, d, inner);
      Map(layer.cross_kv, d, 2 * inner);
      Map(layer.cross_out, inner, d);
      Norm(layer.cross_norm);
      FeedForward(layer, config_.ffn_decoder);
    }
    MapNames output{{names_.output}, {}};
    if (!names_.output_bias.empty()) output.biases.push_back(names_.output_bias);
    list_.maps.push_back({output, d, config_.vocab_target, names_.output_out_in});
    return std::move(list_);
  }

 private:
  void Map(const MapNames& names, int in, int out) {
    list_.maps.push_back({names, in, out, names_.out_in});
  }
  void Norm(const NormNames& names) {
    list_.vectors.push_back({names.gamma, config_.d_model});
    list_.vectors.push_back({names.beta, config_.d_model});
  }
  void SelfAttention(const LayerNames& layer, int inner) {
    Map(layer.self_qkv, config_.d_model, 3 * inner);
    Map(layer.self_out, inner, config_.d_model);
    Norm(layer.self_norm);
  }
  void FeedForward(const LayerNames& layer, int hidden) {
    Map(layer.ffn_up, config_.d_model, hidden);
    if (config_.gated_ffn) Map(layer.ffn_gate, config_.d_model, hidden);
    Map(layer.ffn_down, hidden, config_.d_model);
    Norm(layer.ffn_norm);
  }
  void Stack(const StackNames& stack, int vocabulary, int heads) {
    const int d = config_.d_model;
    list_.tables.push_back({stack.tokens, vocabulary, d, /*tokens=*/true});
    if (config_.position_kind == PositionKind::kLearned) {
      const int rows = config_.position_offset + config_.max_positions;
      list_.tables.push_back({stack.positions, rows, d, /*tokens=*/false});
    }
    if (config_.position_kind == PositionKind::kRelative) {
      list_.tables.push_back({stack.positions, config_.position_buckets, heads, /*tokens=*/false});
    }
    if (config_.embedding_norm) Norm(stack.embedding_norm);
    if (config_.final_norm) Norm(stack.final_norm);
  }

  const ModelConfig& config_;
  const NameTable& names_;
  WeightList list_;
};

}  // namespace

std::vector<const Linear*> ListLinears(const Model& model) {
  std::vector<const Linear*> linears;
  const auto add = [&](std::initializer_list<const Linear*> maps) {
    linears.insert(linears.end(), maps);
  };
  const auto add_ffn = [&](const FeedForwardWeights& ffn) {
    add({&ffn.up});
    if (model.config.gated_ffn) add({&ffn.gate});
    add({&ffn.down});
  };
  for (const EncoderLayerWeights& layer : model.weights.encoder) {
    add({&layer.self.qkv, &layer.self.out});
    add_ffn(layer.ffn);
  }
  for (const DecoderLayerWeights& layer : model.weights.decoder) {
    if (model.config.decoder_memory == DecoderMemory::kSsru) {
      add({&layer.ssru.gate_value});
    } else {
      add({&layer.self.qkv, &layer.self.out});
    }
    add({&layer.cross.q, &layer.cross.kv, &layer.cross.out});
    add_ffn(layer.ffn);
  }
  for (const Linear& block : model.weights.output.blocks) linears.push_back(&block);
  return linears;
}

WeightList ListWeights(const ModelConfig& config, const NameTable& names) {
  return Lister(config, names).List();
}

}  // namespace nibu
