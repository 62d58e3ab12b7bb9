// Walks over the sublayers of both stacks, and finds joints that cannot be scaled on their own.
#include "models/assembly/joints.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace nibu::internal {
namespace {

// Walks over the sublayers in the order in which they run.
class JointList {
 public:
  JointList(const ModelConfig& config, const NameTable& names) : config_(config), names_(names) {
    for (const ListedWeight& weight : ListWeights(config)) shapes_[weight.name] = weight;
  }

  std::vector<Joint> Take() {
    // Relative position vectors are added to keys and values, and would have to be scaled, too.
    const bool is_alone = config_.position_kind != PositionKind::kRelativeVectors;
    std::vector<std::string> encoder_readers;
    bool is_plain = true;  // all cross-attention
    for (int i = 0; i < config_.layers_encoder; ++i) {
      const std::string layer = absl::StrCat("encoder.", i, ".");
      AddAttention(layer + "self", {layer + "self.q+k+v"},
                   is_alone && IsPlain(config_.encoder_mixer(i)));
      AddFeedForward(layer + "ffn");
      if (config_.encoder_mixer(i).has_two_parts()) {
        AddAttention(layer + "grid.self", {}, /*is_plain=*/false);
        AddFeedForward(layer + "grid.ffn");
      }
    }
    const std::string encoder_norm = config_.final_norm ? "encoder.final_norm" : last_norm_;
    last_norm_ = "";
    for (int i = 0; i < config_.layers_decoder; ++i) {
      const std::string layer = absl::StrCat("decoder.", i, ".");
      if (config_.decoder_memory == DecoderMemory::kSsru) {
        AddNorm(layer + "ssru", {layer + "ssru.gate+value"});
      } else {
        AddAttention(layer + "self", {layer + "self.q+k+v"}, is_alone);
      }
      const bool plain = IsPlain(config_.cross_mixer(i));
      AddAttention(layer + "cross", {layer + "cross.q", layer + "cross.k+v"}, plain);
      AddFeedForward(layer + "ffn");
      is_plain = is_plain && plain;
      encoder_readers.push_back(layer + "cross.k+v");
    }
    if (config_.final_norm || config_.norm_order == NormOrder::kPost) {
      Add("cross", encoder_norm, 0, 1, Inputs(encoder_readers), config_.final_norm && is_plain);
    }
    RefuseSharedTensors();
    return std::move(joints_);
  }

 private:
  // Returns whether an attention is linear in its values, and its scores are products of queries
  // and keys.
  static bool IsPlain(const MixerSpec& mixer) {
    return mixer.Is<FullAttention>() &&
           (mixer.score == Score::kScaledDot || mixer.score == Score::kDot);
  }

  // Returns the slices of part `part` of `parts` of a weight's outputs, biases included. Formats
  // have one tensor for all parts, or one for each.
  Side Outputs(const std::string& name, int part, int parts) const {
    Side side;
    const auto it = names_.tensors.find(name);
    const auto shape = shapes_.find(name);
    if (it == names_.tensors.end() || shape == shapes_.end()) return side;
    const WeightShape& whole = shape->second;
    const int first = part * (whole.rows / parts);
    const auto add = [&](const std::vector<std::string>& tensors, int columns) {
      if (tensors.empty()) return;
      const int each = whole.rows / static_cast<int>(tensors.size());
      const std::string& tensor = tensors[static_cast<size_t>(first / each)];
      if (!tensor.empty()) {
        side.push_back({tensor, each, columns, names_.out_in, false, first % each});
      }
    };
    add(it->second.weights, whole.kind == WeightShape::Kind::kNorm ? 0 : whole.columns);
    add(it->second.biases, 0);
    return side;
  }

  Side Inputs(const std::vector<std::string>& weights) const {
    Side side;
    for (const std::string& name : weights) {
      const auto it = names_.tensors.find(name);
      const auto shape = shapes_.find(name);
      if (it == names_.tensors.end() || shape == shapes_.end()) return {};
      const std::vector<std::string>& tensors = it->second.weights;
      const int each = shape->second.rows / static_cast<int>(tensors.size());
      for (const std::string& tensor : tensors) {
        side.push_back({tensor, each, shape->second.columns, names_.out_in, true, 0});
      }
    }
    return side;
  }

  void Add(std::string name, const std::string& from, int part, int parts, Side to, bool is_exact) {
    Side side = Outputs(from, part, parts);
    if (side.empty() || to.empty()) return;
    const int channels = shapes_[from].rows / parts;
    if (!known_.emplace(side, to).second) return;  // tied layers are one joint
    joints_.push_back({std::move(name), channels, std::move(side), std::move(to), is_exact});
  }

  // Adds the joint of the norm that a sublayer's inputs come from. After a post-norm, the residual
  // sum reads the channels, too.
  void AddNorm(const std::string& sublayer, const std::vector<std::string>& readers) {
    const bool is_pre = config_.norm_order == NormOrder::kPre;
    const std::string own = sublayer + ".norm";
    const std::string& norm = is_pre ? own : last_norm_;
    if (!norm.empty()) Add(sublayer, norm, 0, 1, Inputs(readers), is_pre);
    last_norm_ = own;
  }

  void AddFeedForward(const std::string& name) {
    std::vector<std::string> readers = {name + ".up"};
    if (config_.gated_ffn) readers.push_back(name + ".gate");
    AddNorm(name, readers);
    // The gate's outputs are factors of the hidden layer; ReLU(f x) = f ReLU(x) for f > 0.
    Add(name, readers.back(), 0, 1, Inputs({name + ".down"}),
        config_.gated_ffn || config_.activation == Activation::kRelu);
  }

  // `maps`: q + k + v, or q and k + v.
  void AddAttention(const std::string& name, const std::vector<std::string>& maps, bool is_plain) {
    if (!is_plain) {
      last_norm_ = name + ".norm";
      return;
    }
    AddNorm(name, {maps[0]});
    const int parts = maps.size() == 1 ? 3 : 2;
    Add(name, maps.back(), parts - 1, parts, Inputs({name + ".out"}), true);
    // Queries and keys meet in their products; the decoder keeps keys in int8.
    if (name[0] == 'd') {
      Add(name, maps.back(), parts - 2, parts, Outputs(maps[0], 0, parts == 3 ? 3 : 1), true);
    }
  }

  // A tensor that is part of several joints of a kind, or of other weights, cannot be scaled for
  // one of them.
  void RefuseSharedTensors() {
    std::map<Slice, int> joints;
    std::map<std::string, std::set<std::pair<WeightShape::Kind, std::vector<std::string>>>> weights;
    for (const auto& [name, shape] : shapes_) {
      const auto it = names_.tensors.find(name);
      if (it == names_.tensors.end()) continue;
      for (const auto* tensors : {&it->second.weights, &it->second.biases}) {
        for (const std::string& tensor : *tensors) {
          weights[tensor].insert({shape.kind, it->second.weights});
        }
      }
    }
    for (const Joint& joint : joints_) {
      for (const Side* side : {&joint.from, &joint.to}) {
        for (const Slice& slice : *side) ++joints[slice];
      }
    }
    for (Joint& joint : joints_) {
      for (const Side* side : {&joint.from, &joint.to}) {
        for (const Slice& slice : *side) {
          if (joints[slice] > 1 || weights[slice.tensor].size() > 1) joint.is_exact = false;
        }
      }
    }
  }

  const ModelConfig& config_;
  const NameTable& names_;
  std::map<std::string, WeightShape> shapes_;
  std::vector<Joint> joints_;
  std::set<std::pair<Side, Side>> known_;  // of joints_
  std::string last_norm_;
};

}  // namespace

std::vector<Joint> ListJoints(const ModelConfig& config, const NameTable& names) {
  return JointList(config, names).Take();
}

}  // namespace nibu::internal
