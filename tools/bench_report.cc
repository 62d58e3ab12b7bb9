#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tools/bench_run.h"

namespace nibu {
namespace {

double Milliseconds(const BenchResult& result, double part) {
  return 1000 * Percentile(result.measurement.latencies, part);
}

}  // namespace

std::string BenchJson(const BenchResult& result) {
  const Profile& profile = result.measurement.profile;
  const double floor = result.matmul_floor_seconds;
  const nlohmann::ordered_json json = {
      {"model", result.model},
      {"compute_type", ComputeTypeName(result.settings.compute_type)},
      {"isa", InstructionSet()},
      {"threads", result.settings.translator.threads},
      {"beam_size", result.settings.decoding.beam_size},
      {"batch_size", result.settings.translator.batch_size},
      {"sentences", result.sentences},
      {"source_tokens", result.source_tokens},
      {"target_tokens", result.target_tokens},
      {"seconds", result.seconds},
      {"tokens_per_second", static_cast<double>(result.target_tokens) / result.seconds},
      {"sentences_per_second", static_cast<double>(result.sentences) / result.seconds},
      {"latency_ms",
       {{"p50", Milliseconds(result, 0.5)},
        {"p90", Milliseconds(result, 0.9)},
        {"p99", Milliseconds(result, 0.99)}}},
      {"load_seconds", result.load_seconds},
      {"peak_rss_bytes", result.peak_rss_bytes},
      {"weight_bytes", result.weight_bytes},
      {"profile",
       {{"encoder", profile.encoder},
        {"decoder_matmul", profile.decoder_matmul},
        {"attention", profile.attention},
        {"search", profile.search},
        {"tokenizer", result.tokenizer_seconds},
        {"text", result.text_seconds}}},
      {"matmul_seconds", result.measurement.matmul_seconds},
      {"matmul_floor_seconds", floor},
      {"matmul_floor_ratio", floor / result.seconds}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string BenchTableHead() {
  return "compute                  |    sen-  source   target          | "
         "  target    sen-  latency       ms          | "
         "  load    peak weights | % of the threads' time        |   matmul   floor\n"
         "type      thr beam batch |  tences  tokens   tokens  seconds | "
         "   tok/s  sent/s      p50      p90      p99 | "
         "     s      MB      MB |  enc decm attn srch toke text |        s       s ratio\n";
}

std::string BenchTableRow(const BenchResult& result) {
  const BenchSettings& settings = result.settings;
  const int batch = settings.translator.batch_size;
  const Profile& profile = result.measurement.profile;
  const double floor = result.matmul_floor_seconds;
  const double percent = 100 / (result.seconds * settings.translator.threads);
  return absl::StrFormat(
      "%-8s %4d %4d %5s | %7d %7d %8d %8.3f | %8.1f %7.1f %8.2f %8.2f %8.2f | %6.2f %7.1f %7.1f | "
      "%4.1f %4.1f %4.1f %4.1f %4.1f %4.1f | %8.3f %7.3f %5.2f\n",
      ComputeTypeName(settings.compute_type), settings.translator.threads,
      settings.decoding.beam_size, batch == 0 ? "auto" : absl::StrFormat("%d", batch),
      result.sentences, result.source_tokens, result.target_tokens, result.seconds,
      static_cast<double>(result.target_tokens) / result.seconds,
      static_cast<double>(result.sentences) / result.seconds, Milliseconds(result, 0.5),
      Milliseconds(result, 0.9), Milliseconds(result, 0.99), result.load_seconds,
      static_cast<double>(result.peak_rss_bytes) / 1e6,
      static_cast<double>(result.weight_bytes) / 1e6, percent * profile.encoder,
      percent * profile.decoder_matmul, percent * profile.attention, percent * profile.search,
      percent * result.tokenizer_seconds, percent * result.text_seconds,
      result.measurement.matmul_seconds, floor, floor / result.seconds);
}

}  // namespace nibu
