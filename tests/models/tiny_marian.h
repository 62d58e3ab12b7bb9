// A tiny model as Marian writes it, in .npz and .bin files of the same weights.
#ifndef NIBU_TESTS_MODELS_TINY_MARIAN_H_
#define NIBU_TESTS_MODELS_TINY_MARIAN_H_

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/models/archives.h"

namespace nibu::internal::testing {

// Returns a NumPy array file of any type.
inline std::string Npy(const std::string& descr, const std::vector<int64_t>& shape,
                       const std::string& data, const std::string& order = "False") {
  std::string header =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", order, ", 'shape': (",
                   absl::StrJoin(shape, ", "), shape.size() == 1 ? ",), }" : "), }");
  header += std::string(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + Bytes(static_cast<uint16_t>(header.size())) +
         header + data;
}

inline std::string RawFloats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}

struct BinItem {
  std::string name;
  uint64_t type;
  std::vector<int32_t> shape;
  std::string data;
};

inline std::string MarianBin(const std::vector<BinItem>& items) {
  std::string file = Bytes<uint64_t>(1) + Bytes<uint64_t>(items.size());
  std::string names;
  std::string shapes;
  std::string data;
  for (const BinItem& item : items) {
    const std::string padded = item.data + std::string((256 - item.data.size() % 256) % 256, '\0');
    file += Bytes<uint64_t>(item.name.size() + 1) + Bytes(item.type) +
            Bytes<uint64_t>(item.shape.size()) + Bytes<uint64_t>(padded.size());
    names += item.name + std::string(1, '\0');
    for (const int32_t dim : item.shape) shapes += Bytes(dim);
    data += padded;
  }
  return file + names + shapes + Bytes<uint64_t>(5) + "<pad>" + data;
}

// Returns a piece of a SentencePiece model, its text and score.
inline std::string SentencePiece(const std::string& text) {
  const std::string piece = std::string("\x0a") + static_cast<char>(text.size()) + text + "\x15" +
                            Bytes<float>(-1.5f) + "\x18\x01";
  return std::string("\x0a") + static_cast<char>(piece.size()) + piece;
}

// A model with d_model 8, 2 heads, feed-forward 16, 2 + 2 layers and 6 tokens that both languages
// share.
class TinyMarianModel {
 public:
  static constexpr int kD = 8;
  static constexpr int kF = 16;
  static constexpr int kV = 6;

  std::map<std::string, std::string> options = {{"type", "transformer"},
                                                {"dim-emb", "8"},
                                                {"dim-vocabs", "\n- 6\n- 6"},
                                                {"enc-depth", "2"},
                                                {"dec-depth", "2"},
                                                {"transformer-heads", "2"},
                                                {"transformer-dim-ffn", "16"},
                                                {"transformer-ffn-activation", "relu"},
                                                {"transformer-preprocess", "\"\""},
                                                {"transformer-postprocess", "dan"},
                                                {"transformer-decoder-autoreg", "self-attention"},
                                                {"tied-embeddings-all", "true"}};
  TestTensors tensors;
  std::vector<std::string> tokens = {"</s>", "<unk>", "a", "b", "c", "d"};

  explicit TinyMarianModel(bool ssru = false, const std::string& norm_suffix = "") {
    if (ssru) {
      options["transformer-decoder-autoreg"] = "rnn";
      options["dec-cell"] = "ssru";
    }
    Add("Wemb", {kV, kD});
    Add("decoder_ff_logit_out_b", {1, kV});
    for (const std::string stack : {"encoder", "decoder"}) {
      for (int i = 1; i <= 2; ++i) {
        const std::string layer = absl::StrCat(stack, "_l", i);
        if (stack == "decoder" && ssru) {
          Add(layer + "_rnn_W", {kD, kD});
          Add(layer + "_rnn_Wf", {kD, kD});
          Add(layer + "_rnn_bf", {1, kD});
          AddNorm(layer + "_rnn_ffn", norm_suffix);
        } else {
          Attention(layer + "_self_", norm_suffix);
        }
        if (stack == "decoder") Attention(layer + "_context_", norm_suffix);
        Add(layer + "_ffn_W1", {kD, kF});
        Add(layer + "_ffn_b1", {1, kF});
        Add(layer + "_ffn_W2", {kF, kD});
        Add(layer + "_ffn_b2", {1, kD});
        AddNorm(layer + "_ffn_ffn", norm_suffix);
      }
    }
  }

  void Add(const std::string& name, std::vector<int64_t> shape) {
    size_t n = 1;
    for (const int64_t d : shape) n *= static_cast<size_t>(d);
    TestTensor tensor{std::move(shape), std::vector<float>(n)};
    for (float& x : tensor.values) {
      state_ = state_ * 1664525u + 1013904223u;
      x = static_cast<float>(state_ >> 8) / static_cast<float>(1 << 24) - 0.5f;
    }
    tensors[name] = std::move(tensor);
  }
  void AddNorm(const std::string& name, const std::string& suffix) {
    Add(absl::StrCat(name, "_ln_scale", suffix), {1, kD});
    Add(absl::StrCat(name, "_ln_bias", suffix), {1, kD});
  }

  std::string ModelYml() const {
    std::string yml;
    for (const auto& [key, value] : options) {
      absl::StrAppend(&yml, key, value[0] == '\n' ? ":" : ": ", value, "\n");
    }
    return yml + std::string(1, '\0');
  }
  std::string VocabularyYml() const {
    std::string yml;
    for (size_t i = 0; i < tokens.size(); ++i)
      absl::StrAppend(&yml, "\"", tokens[i], "\": ", i, "\n");
    return yml;
  }
  std::string VocabularySpm() const {
    std::string spm;
    for (const std::string& token : tokens) spm += SentencePiece(token);
    return spm;
  }
  std::string Npz(bool deflated = false) const {
    const std::string yml = ModelYml();
    Members members = {
        {"special:model.yml.npy", Npy("|i1", {static_cast<int64_t>(yml.size())}, yml)}};
    for (const auto& [name, tensor] : tensors) {
      members.emplace_back(name + ".npy", Npy("<f4", tensor.shape, RawFloats(tensor.values)));
    }
    return Zip(members, deflated);
  }
  // Returns the .bin file. `intgemm8`: matrices in int8 with a static multiplier each, else
  // float32.
  std::string Bin(bool intgemm8 = false) const {
    std::vector<BinItem> items;
    for (const auto& [name, tensor] : tensors) {
      const std::vector<int32_t> shape(tensor.shape.begin(), tensor.shape.end());
      const bool is_matrix = shape[0] > 1;
      if (!intgemm8 || !is_matrix) {
        items.push_back({name, 0x404, shape, RawFloats(tensor.values)});
        continue;
      }
      items.push_back({name, 0x4101, shape, Quantized(tensor, name == "Wemb")});
      if (name == "Wemb") {
        items.push_back({"Wemb_QuantMultA", 0x4101, {1, 1}, "\x7f" + Bytes<float>(1)});
      } else {
        items.push_back({name + "_QuantMultA", 0x404, {1, 1}, Bytes<float>(20)});
      }
    }
    if (intgemm8) items.push_back({"none_QuantMultA", 0x404, {1, 1}, Bytes<float>(30)});
    const std::string yml = ModelYml();
    items.push_back({"special:model.yml", 0x101, {static_cast<int32_t>(yml.size())}, yml});
    return MarianBin(items);
  }

 private:
  void Attention(const std::string& prefix, const std::string& suffix) {
    for (const char* part : {"q", "k", "v", "o"}) {
      Add(absl::StrCat(prefix, "W", part), {kD, kD});
      Add(absl::StrCat(prefix, "b", part), {1, kD});
    }
    AddNorm(prefix + "Wo", suffix);
  }

  // Returns the elements, transposed except in embeddings, and the multiplier.
  static std::string Quantized(const TestTensor& tensor, bool as_it_is) {
    float most = 0;
    for (const float x : tensor.values) most = std::max(most, std::abs(x));
    const float scale = 127.0f / most;
    const auto rows = static_cast<size_t>(tensor.shape[0]);
    const auto columns = static_cast<size_t>(tensor.shape[1]);
    std::string data(tensor.values.size(), '\0');
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        const float q = std::round(tensor.values[r * columns + c] * scale);
        data[as_it_is ? r * columns + c : c * rows + r] = static_cast<char>(static_cast<int>(q));
      }
    }
    return data + Bytes(scale);
  }

  uint32_t state_ = 1;
};

}  // namespace nibu::internal::testing

#endif  // NIBU_TESTS_MODELS_TINY_MARIAN_H_
