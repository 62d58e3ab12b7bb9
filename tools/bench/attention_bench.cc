// nibu-bench attention: measures time, memory and error of attention mechanisms at several lengths.
#include "tools/bench/attention_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/attention/attention.h"
#include "engine/attention/cache.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/model/encoder.h"
#include "models/assembly/layer_attention.h"
#include "models/assembly/mixer_text.h"
#include "models/load_model.h"
#include "models/random_model.h"
#include "nibu/version.h"
#include "nlohmann/json.hpp"
#include "tools/bench/bench_report.h"
#include "tools/bench/bench_run.h"
#include "tools/cli/flags.h"
#include "tools/text/options/engine_options.h"
#include "tools/text/options/resources.h"

namespace nibu::internal {
namespace {

// A mechanism that has taken this long is not tried with more positions.
constexpr double kMostSeconds = 10;
// The growth of the time is fitted to lengths from this one on.
constexpr int kLong = 1024;
// Longer encoders are not compared with full attention, which would take minutes.
constexpr int kMostCompared = 4096;

struct Asked {
  ModelOptions model;
  BenchOptions bench;
};

struct Point {
  double seconds = std::numeric_limits<double>::infinity();
  int64_t bytes = 0;            // memory that the call added
  std::optional<double> error;  // see Error
};

// Returns the time of the fastest of several calls of f, and the memory of the first one.
template <typename F>
Point Measure(int repeat, F f) {
  Point point;
  ResetPeakMemory();
  const int64_t before = PeakMemoryBytes();
  for (int i = 0; i <= repeat; ++i) {
    const auto start = Clock::now();
    f();
    const double seconds = SecondsSince(start);
    if (i == 0) point.bytes = PeakMemoryBytes() - before;
    if (i > 0 || seconds > 1) point.seconds = std::min(point.seconds, seconds);
    if (seconds > kMostSeconds) break;
  }
  return point;
}

// Returns the root mean square of the differences, divided by that of full attention.
double Error(const std::vector<float>& out, const std::vector<float>& full) {
  double square = 0;
  double all = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    square += std::pow(static_cast<double>(out[i] - full[i]), 2);
    all += std::pow(static_cast<double>(full[i]), 2);
  }
  return std::sqrt(square / all);
}

// The part of a model that is measured: a layer's self-attention, a whole encoder, or a step of
// cross-attention.
enum class Part : uint8_t { kSelf, kEncoder, kCross };
constexpr const char* kPartNames[] = {"attention", "encoder", "cross-attention"};

// The mechanisms that are measured unless --mechanisms names others.
constexpr absl::string_view kSelfMechanisms =
    "full;window:64;shifted:128;block_grid:64;bigbird;lsh;mean:4;factorized";
constexpr absl::string_view kCrossMechanisms =
    "full;local_m:16;local_p:16;mean:2;mean:4;reduction:4;full:score=general;full:score=concat";

// The number of queries of a step of cross-attention: the hypotheses of a beam.
constexpr int kBeam = 4;

struct Settings {
  ModelConfig config;
  ComputeType compute_type = ComputeType::kFloat32;  // that of kSelf, which has no other
  Part part = Part::kSelf;
  int repeat = 1;
  std::vector<int> lengths;  // from the shortest on
  std::vector<MixerSpec> mechanisms;
};

// Returns whether queries, keys and values determine the mechanism's output, without other weights.
bool IsOfALayerAlone(const MixerSpec& mixer) {
  const auto* const factorized = mixer.As<FactorizedAttention>();
  return (factorized == nullptr || factorized->kernel == 0) && mixer.is_attention() &&
         !mixer.Is<PredictedWindow>() && !mixer.Is<ReducedAttention>() &&
         !mixer.Is<DeformableAttention>() && mixer.biased_width() == 0 && !mixer.has_two_parts() &&
         (mixer.score == Score::kScaledDot || mixer.score == Score::kDot);
}

std::vector<float> RandomFloats(size_t size, float spread, std::mt19937* random) {
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(size);
  for (float& value : values) value = normal(*random);
  return values;
}

// Returns the attention of the rows of q, k and v, [length, 3 I]: [length, I].
std::vector<float> Attend(const ModelConfig& config, const MixerSpec& mixer,
                          const std::vector<float>& qkv) {
  const auto inner = static_cast<size_t>(config.inner_encoder());
  std::vector<float> out(qkv.size() / 3);
  const auto length = static_cast<int>(out.size() / inner);
  Arena arena;
  Attention({ShapeOf(config, config.heads_encoder), {}, mixer}, &arena)
      .Run({qkv.data(), 3 * inner, length},
           KeyValueRows{qkv.data() + inner, qkv.data() + 2 * inner, 3 * inner, length},
           {out.data(), inner});
  return out;
}

// Measures one layer's self-attention of random vectors. The first call at a length sets `full`,
// the output of full attention.
Point RunLayer(const Settings& settings, const MixerSpec& mixer, int length,
               std::vector<float>* full) {
  std::mt19937 random(1);
  const std::vector<float> qkv = RandomFloats(
      static_cast<size_t>(length) * 3 * static_cast<size_t>(settings.config.inner_encoder()), 1,
      &random);
  std::vector<float> out;
  Point point = Measure(settings.repeat, [&] { out = Attend(settings.config, mixer, qkv); });
  if (full->empty()) *full = Attend(settings.config, {}, qkv);
  point.error = Error(out, *full);
  return point;
}

// Measures one step of a decoder layer's attention to a source of `length` positions. Keys, values
// and weights of the mechanism are random. The bytes are those of the stored keys and values. The
// first call at a length sets `full`, the output of full attention.
Point RunCross(const Settings& settings, const MixerSpec& mixer, int length,
               std::vector<float>* full) {
  const AttentionShape shape = ShapeOf(settings.config, settings.config.heads_decoder);
  const auto inner = static_cast<size_t>(settings.config.inner_decoder());
  const auto dim = static_cast<size_t>(shape.head_dim);
  std::mt19937 random(1);
  const std::vector<float> q = RandomFloats(kBeam * inner, 1, &random);
  const std::vector<float> source =
      RandomFloats(static_cast<size_t>(length) * 2 * inner, 1, &random);
  const std::vector<float> map =
      RandomFloats(inner * 2 * dim, 1 / std::sqrt(static_cast<float>(dim)), &random);
  const std::vector<float> vector = RandomFloats(inner, 1, &random);
  // The queries look at the middle of the source.
  const std::vector<float> centres(kBeam, static_cast<float>(length) / 2);
  Queries queries = {q.data(), inner, kBeam, length / 2};
  queries.step = 0;
  queries.centres = centres.data();
  const auto attend = [&](const MixerSpec& how, ComputeType type, bool measure, Point* point) {
    const AttentionSpec spec = {shape, {}, how, {map.data(), vector.data()}};
    std::vector<float> rows = source;
    const int keys = PrepareSource(spec, how.mapped_keys(length), rows.data());
    const CacheType stored_type = SourceType(how, type);
    AlignedBuffer<char> stored(SourceBytes(shape, keys, stored_type));
    StoreSource(shape, rows.data(), keys, stored_type, stored.data());
    const KeysValues memory = ViewSource(shape, keys, stored_type, stored.data());
    std::vector<float> out(q.size());
    Arena arena;
    const Attention attention(spec, &arena);
    const auto run = [&] { attention.Run(queries, memory, {out.data(), inner}); };
    run();
    if (measure) {
      // One step is too short for the clock.
      const int steps = 1 + 1000000 / (length + 1000);
      *point = Measure(settings.repeat, [&] {
        for (int i = 0; i < steps; ++i) run();
      });
      point->seconds /= steps;
      point->bytes = static_cast<int64_t>(stored.size());
    }
    return out;
  };
  Point point;
  const std::vector<float> out = attend(mixer, settings.compute_type, /*measure=*/true, &point);
  if (full->empty()) *full = attend({}, ComputeType::kFloat32, /*measure=*/false, &point);
  if (!mixer.Is<ReducedAttention>()) point.error = Error(out, *full);
  return point;
}

// Returns random weights of the shape `config` with `mixer` in every encoder layer.
absl::StatusOr<LoadedModel> LoadRandom(const ModelConfig& config, ComputeType type,
                                       const MixerSpec& mixer) {
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenRandom(config, /*seed=*/1));
  NIBU_RETURN_IF_ERROR(ReplaceLayerAttention({{mixer}, {}}, &opened));
  return LoadModel(std::move(opened), type);
}

absl::StatusOr<Point> RunEncoder(const Settings& settings, const MixerSpec& mixer, int length) {
  ModelConfig config = settings.config;
  config.encoder_attention = {mixer};
  config.max_positions = std::max(config.max_positions, length);
  NIBU_RETURN_IF_ERROR(config.Validate());
  NIBU_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadRandom(config, settings.compute_type, mixer));
  const Embedder embedder(loaded.model->config, loaded.model->weights.source, length);
  const std::vector<int> source = RandomSources(/*sentences=*/1, length, config.vocab_source)[0];
  const auto run = [&](const Model& model, const Embedder& embed, std::vector<float>* out) {
    Workspace workspace;
    std::copy_n(Encode(model, embed, {source}, &workspace).data(), out->size(), out->data());
  };
  std::vector<float> out(source.size() * static_cast<size_t>(config.d_model));
  Point point = Measure(settings.repeat, [&] { run(*loaded.model, embedder, &out); });
  if (length > kMostCompared || !mixer.is_attention()) return point;
  NIBU_ASSIGN_OR_RETURN(const LoadedModel full, LoadRandom(config, ComputeType::kFloat32, {}));
  std::vector<float> full_out(out.size());
  run(*full.model, {full.model->config, full.model->weights.source, length}, &full_out);
  point.error = Error(out, full_out);
  return point;
}

absl::StatusOr<Point> RunPart(const Settings& settings, const MixerSpec& mixer, int length,
                              std::vector<float>* full) {
  if (settings.part == Part::kEncoder) return UsageError(RunEncoder(settings, mixer, length));
  if (settings.part == Part::kCross) return RunCross(settings, mixer, length, full);
  return RunLayer(settings, mixer, length, full);
}

// Returns the exponent e of time ~ length^e over long lengths, by least squares of the logarithms,
// or NaN if there are fewer than two.
double Growth(const std::map<int, double>& times) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (auto at = times.lower_bound(kLong); at != times.end(); ++at) {
    const double length = std::log(at->first);
    const double time = std::log(at->second);
    n += 1;
    x += length;
    y += time;
    xx += length * length;
    xy += length * time;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

absl::StatusOr<Settings> ReadSettings(const Asked& asked) {
  Settings settings;
  if (asked.bench.encoder && asked.bench.cross) {
    return Invalid("--encoder and --cross are two measurements; give one of them");
  }
  settings.part = asked.bench.encoder ? Part::kEncoder
                  : asked.bench.cross ? Part::kCross
                                      : Part::kSelf;
  if (settings.part != Part::kSelf) {
    NIBU_ASSIGN_OR_RETURN(settings.compute_type, ChooseComputeType(asked.model.compute_type));
  } else if (asked.model.compute_type != nibu::ComputeType::kAuto &&
             asked.model.compute_type != nibu::ComputeType::kFloat32) {
    return Invalid(
        "--compute_type: a layer's self-attention has float32 alone; measure other types with "
        "--encoder or --cross");
  }
  settings.repeat = asked.bench.repeat;
  ModelConfig& config = settings.config;
  config.d_model = 512;
  config.heads_encoder = config.heads_decoder = 8;
  config.ffn_encoder = config.ffn_decoder = 2048;
  config.layers_encoder = 6;
  config.layers_decoder = 1;
  config.vocab_source = config.vocab_target = 1000;
  config.max_positions = 2;
  if (const std::string& path = asked.bench.config; !path.empty()) {
    NIBU_ASSIGN_OR_RETURN(config, ReadModelShape(path));
  }
  const std::vector<std::string> lengths = WasGiven("lengths")
                                               ? FlagValues("lengths")
                                               : std::vector<std::string>{kDefaultAttentionLengths};
  for (const std::string& value : lengths) {
    settings.lengths.push_back(std::stoi(value));  // ParseFlags has checked it
  }
  std::sort(settings.lengths.begin(), settings.lengths.end());
  const bool is_cross = settings.part == Part::kCross;
  const absl::string_view standard = is_cross ? kCrossMechanisms : kSelfMechanisms;
  auto mechanisms = ParseMixers(asked.bench.mechanisms.empty() ? standard : asked.bench.mechanisms,
                                is_cross ? "cross_attention" : "encoder_attention");
  if (!mechanisms.ok()) return Invalid("--mechanisms: ", mechanisms.status().message());
  settings.mechanisms = *std::move(mechanisms);
  for (const MixerSpec& mixer : settings.mechanisms) {
    if (is_cross && !mixer.fits_cross_attention()) {
      return Invalid("--mechanisms: ", mixer.ToText(), " is no mechanism of cross-attention");
    }
    if (settings.part != Part::kSelf || IsOfALayerAlone(mixer)) continue;
    return Invalid("--mechanisms: ", mixer.ToText(),
                   " is more than queries, keys and values; measure it with --encoder");
  }
  return settings;
}

}  // namespace

ProgramInfo BenchAttentionProgram(BenchOptions* bench, ModelOptions* model) {
  return {"nibu-bench attention",
          "bench-attention",
          "[flags]",
          "Measures what attention mechanisms cost at several lengths. It prints the time, the "
          "memory,\n"
          "the difference from full attention in float32 on random vectors, and the exponent e of\n"
          "time ~ length^e.",
          {{BenchOptionRows(), bench}, {ModelOptionRows(), model}},
          /*takes_text=*/false,
          "lengths"};
}

absl::Status BenchAttention(int argc, char** argv) {
  Asked asked;
  ParseCommandLineOrExit(BenchAttentionProgram(&asked.bench, &asked.model), argc, argv);
  NIBU_ASSIGN_OR_RETURN(const Settings settings, UsageError(ReadSettings(asked)));
  const bool json = asked.bench.json;
  const bool is_cross = settings.part == Part::kCross;
  const char* const what = kPartNames[static_cast<size_t>(settings.part)];
  const int heads = is_cross ? settings.config.heads_decoder : settings.config.heads_encoder;
  if (!json) {
    absl::PrintF("%s, %d heads of %d, %s on %s, 1 thread\n%-44s %7s %12s %9s %12s %8s\n", what,
                 heads, settings.config.head_dim(heads), ComputeTypeName(settings.compute_type),
                 InstructionSet(), "mechanism", "length", "ms", "x full's", "bytes/token", "error");
  }
  std::map<std::string, std::map<int, double>> times;  // by mechanism and length
  for (const int length : settings.lengths) {
    double full = 0;
    std::vector<float> full_out;
    for (const MixerSpec& mixer : settings.mechanisms) {
      const std::string name = mixer.ToText();
      std::map<int, double>& own = times[name];
      if (!own.empty() && own.rbegin()->second > kMostSeconds) continue;
      NIBU_ASSIGN_OR_RETURN(const Point point, RunPart(settings, mixer, length, &full_out));
      own[length] = point.seconds;
      if (mixer.is_full() && full == 0) full = point.seconds;
      if (json) {
        nlohmann::ordered_json line = {{"what", what},
                                       {"mechanism", name},
                                       {"compute_type", ComputeTypeName(settings.compute_type)},
                                       {"isa", InstructionSet()},
                                       {"cpu", CpuName()},
                                       {"version", Version()},
                                       {"config", asked.bench.config},
                                       {"length", length},
                                       {"seconds", point.seconds},
                                       {is_cross ? "stored_bytes" : "peak_bytes", point.bytes}};
        if (point.error.has_value()) line["error"] = *point.error;
        absl::PrintF("%s\n", line.dump());
      } else {
        absl::PrintF("%-44s %7d %12.3f %9s %12d %8s\n", name, length, 1000 * point.seconds,
                     full > 0 ? absl::StrFormat("%.3f", point.seconds / full) : "",
                     point.bytes / length,
                     point.error.has_value() ? absl::StrFormat("%.4f", *point.error) : "");
      }
      std::fflush(stdout);
    }
  }
  for (const auto& [name, points] : times) {
    const double growth = Growth(points);
    if (std::isnan(growth)) continue;
    if (json) {
      const nlohmann::ordered_json line = {
          {"what", what}, {"mechanism", name}, {"exponent", growth}};
      absl::PrintF("%s\n", line.dump());
    } else {
      absl::PrintF("%-44s time grows as length^%.2f from %d on\n", name, growth, kLong);
    }
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
