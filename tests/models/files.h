// Writes files for the tests of readers: a folder of their own, .safetensors files, and a tiny
// MarianMT directory.
#ifndef NIBU_TESTS_MODELS_FILES_H_
#define NIBU_TESTS_MODELS_FILES_H_

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace nibu::internal::testing {

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.good()) << path;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// A folder that is removed at the end of the test. Tests may run at the same time.
class TempFolder {
 public:
  TempFolder() {
    static int counter = 0;
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = absl::StrCat(::testing::TempDir(), "nibu_", getpid(), "_",
                                    test->test_suite_name(), "_", test->name(), "_", ++counter);
    for (char& c : name) {
      if (c == '/' && &c > name.data() + ::testing::TempDir().size()) c = '_';
    }
    path_ = name;
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Returns a .safetensors file: u64 size of the header | header | data.
inline std::string Safetensors(const std::string& header, const std::string& data) {
  const uint64_t size = header.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + header + data;
}

struct TestTensor {
  std::vector<int64_t> shape;
  std::vector<float> values;
};
using TestTensors = std::map<std::string, TestTensor>;

// Returns a .safetensors file with all tensors as float32.
inline std::string Safetensors(const TestTensors& tensors) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * 4);
    header[name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  return Safetensors(header.dump(), data);
}

// A MarianMT model with d_model 8, 2 heads, feed-forward 16, 2 + 2 layers and 7 tokens, not
// trained.
class TinyMarian {
 public:
  static constexpr int kD = 8;
  static constexpr int kF = 16;
  static constexpr int kV = 7;

  TestTensors tensors;
  nlohmann::json config = {{"model_type", "marian"},
                           {"d_model", kD},
                           {"encoder_layers", 2},
                           {"decoder_layers", 2},
                           {"encoder_attention_heads", 2},
                           {"decoder_attention_heads", 2},
                           {"encoder_ffn_dim", kF},
                           {"decoder_ffn_dim", kF},
                           {"activation_function", "swish"},
                           {"scale_embedding", true},
                           {"static_position_embeddings", true},
                           {"max_position_embeddings", 32},
                           {"vocab_size", kV},
                           {"pad_token_id", 6},
                           {"eos_token_id", 0},
                           {"decoder_start_token_id", 6},
                           {"bad_words_ids", {{6}}}};
  nlohmann::json generation = {{"bad_words_ids", {{6}}}, {"num_beams", 4}};
  nlohmann::json tokenizer = {{"separate_vocabs", false}};
  nlohmann::json vocabulary = {{"</s>", 0}, {"<unk>", 1}, {"a", 2},    {"b", 3},
                               {"c", 4},    {"d", 5},     {"<pad>", 6}};

  TinyMarian() {
    Add("model.shared.weight", {kV, kD});
    Add("final_logits_bias", {1, kV});
    for (const std::string stack : {"encoder", "decoder"}) {
      for (int i = 0; i < 2; ++i) {
        const std::string layer = absl::StrCat("model.", stack, ".layers.", i, ".");
        Attention(layer + "self_attn");
        if (stack == "decoder") Attention(layer + "encoder_attn");
        AddMap(layer + "fc1", kF, kD);
        AddMap(layer + "fc2", kD, kF);
        AddNorm(layer + "final_layer_norm");
      }
    }
  }

  // Adds a tensor of pseudo-random values between -0.5 and 0.5, also for the norms' gammas.
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
  void AddMap(const std::string& name, int64_t out, int64_t in) {
    Add(name + ".weight", {out, in});
    Add(name + ".bias", {out});
  }
  void AddNorm(const std::string& name) {
    Add(name + ".weight", {kD});
    Add(name + ".bias", {kD});
  }

  // Writes the model's files to the folder, or to one inside of it.
  void Write(const TempFolder& folder, const std::string& inside = ".") const {
    const auto write = [&](const char* name, const std::string& bytes) {
      WriteFile(folder / absl::StrCat(inside, "/", name), bytes);
    };
    write("config.json", config.dump());
    write("generation_config.json", generation.dump());
    write("tokenizer_config.json", tokenizer.dump());
    write("vocab.json", vocabulary.dump());
    write("source.spm", "\nsource pieces");
    write("target.spm", "\ntarget pieces");
    write("model.safetensors", Safetensors(tensors));
  }

 private:
  void Attention(const std::string& name) {
    for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"}) {
      AddMap(name + part, kD, kD);
    }
    AddNorm(name + "_layer_norm");
  }

  uint32_t state_ = 1;
};

}  // namespace nibu::internal::testing

#endif  // NIBU_TESTS_MODELS_FILES_H_
