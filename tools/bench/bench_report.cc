// Formats the figures of a run as JSON and as rows of a table.
#include "tools/bench/bench_report.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "absl/algorithm/container.h"
#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "nibu/version.h"
#include "nlohmann/json.hpp"
#include "tools/text/options/option_table.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::ordered_json;

// Adds the options of nibu-bench that differ from their defaults to `json`, by name, unless it has
// them already.
void AddChanged(absl::Span<const OptionRow> rows, const void* values, Json* json) {
  for (const OptionRow& row : rows) {
    const std::vector<absl::string_view> programs = absl::StrSplit(row.info.programs, ' ');
    const std::string value = row.get(row.info, values);
    if (json->contains(row.info.name) || value == row.default_value ||
        !absl::c_linear_search(programs, "bench")) {
      continue;
    }
    const Json number = Json::parse(value, nullptr, /*allow_exceptions=*/false);
    (*json)[row.info.name] = number.is_number() || number.is_boolean() ? number : Json(value);
  }
}

// Returns the options of the search, those included that the model's own defaults give.
Json SearchJson(const BenchSettings& settings) {
  Options options = settings.text;
  const DecodingOptions& decoding = settings.decoding;
  options.length_penalty = decoding.length_penalty;
  options.word_penalty = decoding.word_penalty;
  options.repetition_penalty = decoding.repetition_penalty;
  options.no_repeat_ngram_size = decoding.no_repeat_ngram_size;
  // These two are members of the run itself.
  options.beam_size.reset();
  options.split_sentences = Options().split_sentences;
  Json json = Json::object();
  AddChanged(TextOptionRows(), &options, &json);
  return json;
}

// Returns whose kernels multiplied: "nibu", "oneDNN" or "both".
const char* MatmulKernelsOf(const BenchResult& result) {
  if (result.own_matmul_calls == 0) return "oneDNN";
  return result.own_matmul_calls == result.matmul_calls ? "nibu" : "both";
}

double Milliseconds(const std::vector<double>& seconds, double part) {
  return 1000 * Percentile(seconds, part);
}

Json PercentilesJson(const std::vector<double>& seconds) {
  return {{"p50", Milliseconds(seconds, 0.5)},
          {"p90", Milliseconds(seconds, 0.9)},
          {"p99", Milliseconds(seconds, 0.99)}};
}

double PerSecond(const BenchResult& result, double count) { return count / result.seconds; }

std::string Number(int64_t value) { return absl::StrCat(value); }
std::string Number(double value, int digits) { return absl::StrFormat("%.*f", digits, value); }

// Returns a part's share of the threads' time in percent.
std::string ShareOfTime(const BenchResult& result, double seconds) {
  return Number(100 * seconds / (result.seconds * result.settings.translator.threads), 1);
}

// A column has two lines of head, and belongs to some of the tables. A sign "|" stands where one
// group of columns ends and the next one begins.
struct Column {
  std::string tables;  // the letters of BenchTable
  int group;
  const char* above;
  const char* name;
  int width;
  std::string (*cell)(const BenchResult&);
};

const std::vector<Column>& Columns() {
  using R = BenchResult;
  static const auto& columns = *new std::vector<Column>{
      {"sql", 0, "compute", "type", -8,
       [](const R& r) -> std::string { return ComputeTypeName(r.settings.compute_type); }},
      {"sql", 0, "", "thr", 4, [](const R& r) { return Number(r.settings.translator.threads); }},
      {"sql", 0, "", "beam", 4, [](const R& r) { return Number(r.settings.decoding.beam_size); }},
      {"sql", 0, "", "batch", 5,
       [](const R& r) {
         const int batch = r.settings.translator.batch_size;
         return batch == 0 ? "auto" : Number(batch);
       }},
      {"l", 1, "source", "length", 6, [](const R& r) { return Number(r.settings.source_length); }},
      {"l", 1, "target", "length", 6, [](const R& r) { return Number(r.settings.output_length); }},
      {"s", 1, "sen-", "tences", 7,
       [](const R& r) { return Number(static_cast<int64_t>(r.sentences)); }},
      {"s", 1, "source", "tokens", 7, [](const R& r) { return Number(r.source_tokens); }},
      {"s", 1, "target", "tokens", 7, [](const R& r) { return Number(r.target_tokens); }},
      {"s", 1, "", "seconds", 8, [](const R& r) { return Number(r.seconds, 3); }},
      {"q", 2, "", "BLEU", 5, [](const R& r) { return Number(r.quality->bleu, 2); }},
      {"q", 2, "", "chrF", 5, [](const R& r) { return Number(r.quality->chrf, 2); }},
      {"q", 2, "equal", "lines %", 7, [](const R& r) { return Number(100 * r.equal_lines, 1); }},
      {"sql", 3, "target", "tok/s", 8,
       [](const R& r) { return Number(PerSecond(r, static_cast<double>(r.target_tokens)), 1); }},
      {"sq", 3, "", "sent/s", 7,
       [](const R& r) { return Number(PerSecond(r, static_cast<double>(r.sentences)), 1); }},
      {"l", 3, "us a", "token", 8,
       [](const R& r) {
         return Number(1e6 * r.seconds / static_cast<double>(r.target_tokens), 1);
       }},
      {"sq", 4, "decoding", "p50", 8,
       [](const R& r) { return Number(Milliseconds(r.measurement.latencies, 0.5), 2); }},
      {"sq", 4, "ms", "p90", 8,
       [](const R& r) { return Number(Milliseconds(r.measurement.latencies, 0.9), 2); }},
      {"sq", 4, "", "p99", 8,
       [](const R& r) { return Number(Milliseconds(r.measurement.latencies, 0.99), 2); }},
      {"s", 5, "a line", "p50", 7,
       [](const R& r) { return Number(Milliseconds(r.line_latencies, 0.5), 0); }},
      {"s", 5, "in ms", "p90", 7,
       [](const R& r) { return Number(Milliseconds(r.line_latencies, 0.9), 0); }},
      {"s", 5, "", "p99", 7,
       [](const R& r) { return Number(Milliseconds(r.line_latencies, 0.99), 0); }},
      {"s", 6, "load", "s", 6, [](const R& r) { return Number(r.load_seconds, 2); }},
      {"sq", 6, "peak", "MB", 7,
       [](const R& r) { return Number(static_cast<double>(r.peak_rss_bytes) / 1e6, 1); }},
      {"sq", 6, "weights", "MB", 7,
       [](const R& r) { return Number(static_cast<double>(r.weight_bytes) / 1e6, 1); }},
      {"sl", 7, "share", "enc", 5,
       [](const R& r) { return ShareOfTime(r, r.measurement.profile.encoder); }},
      {"sl", 7, "of", "decm", 4,
       [](const R& r) { return ShareOfTime(r, r.measurement.profile.decoder_matmul); }},
      {"sl", 7, "the", "attn", 4,
       [](const R& r) { return ShareOfTime(r, r.measurement.profile.attention); }},
      {"sl", 7, "time", "srch", 4,
       [](const R& r) { return ShareOfTime(r, r.measurement.profile.search); }},
      {"s", 7, "in", "toke", 4, [](const R& r) { return ShareOfTime(r, r.tokenizer_seconds); }},
      {"s", 7, "%", "text", 4, [](const R& r) { return ShareOfTime(r, r.text_seconds); }},
      {"s", 8, "matmul", "s", 7, [](const R& r) { return Number(r.matmul_seconds, 3); }},
      {"s", 8, "floor", "s", 7, [](const R& r) { return Number(r.matmul_floor_seconds, 3); }},
      {"sl", 8, "floor", "ratio", 5,
       [](const R& r) {
         const std::optional<double> ratio = FloorRatio(r);
         return ratio ? Number(*ratio, 2) : "short";
       }},
      {"sl", 8, "limit", "ratio", 5,
       [](const R& r) { return Number(r.limit_seconds / r.seconds, 2); }},
      {"s", 9, "", "kernels", -7, [](const R& r) -> std::string { return MatmulKernelsOf(r); }},
  };
  return columns;
}

// Returns a line of a table, with the text of each column.
template <typename Text>
std::string TableLine(BenchTable table, Text text) {
  std::string line;
  int group = 0;
  for (const Column& column : Columns()) {
    if (!absl::StrContains(column.tables, static_cast<char>(table))) continue;
    if (!line.empty()) line += column.group == group ? " " : " | ";
    group = column.group;
    absl::StrAppendFormat(&line, "%*s", column.width, text(column));
  }
  absl::StripTrailingAsciiWhitespace(&line);
  return line + "\n";
}

}  // namespace

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "model name")) continue;
    return std::string(absl::StripAsciiWhitespace(line.substr(line.find(':') + 1)));
  }
  return "";
}

double Percentile(std::vector<double> values, double part) {
  ABSL_ASSERT(0 <= part && part <= 1);
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(part * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

std::optional<double> FloorRatio(const BenchResult& result) {
  const double ratio = result.matmul_floor_seconds / result.seconds;
  if (ratio > 1) return std::nullopt;
  return ratio;
}

std::string BenchJson(const BenchResult& result) {
  const BenchSettings& settings = result.settings;
  const Profile& profile = result.measurement.profile;
  const std::optional<double> ratio = FloorRatio(result);
  const bool is_text = !result.source_file.empty();
  const std::string shortlist = result.has_shortlist ? settings.loading.shortlist : "none";
  Json json = {{"model", result.model},
               {"compute_type", ComputeTypeName(settings.compute_type)},
               {"isa", InstructionSet()},
               {"cpu", CpuName()},
               {"version", Version()},
               {"threads", settings.translator.threads},
               {"beam_size", settings.decoding.beam_size},
               {"batch_size", settings.translator.batch_size},
               {"source_file", is_text ? Json(result.source_file) : Json()},
               {"source_sha256", is_text ? Json(result.source_sha256) : Json()},
               {"split_sentences", is_text ? Json(settings.text.split_sentences) : Json()},
               {"source_length", is_text ? Json() : Json(settings.source_length)},
               {"output_length", settings.output_length},
               {"lines", result.lines},
               {"search", SearchJson(settings)},
               {"encoder_attention", result.encoder_attention},
               {"cross_attention", result.cross_attention},
               {"draft_model", settings.loading.draft_model},
               {"shortlist", shortlist},
               {"matmul", settings.speed.matmul == MatmulKernels::kOneDnn ? "onednn" : "auto"}};
  AddChanged(ModelOptionRows(), &settings.loading, &json);
  AddChanged(SpeedOptionRows(), &settings.speed, &json);
  const Json figures = {
      {"sentences", result.sentences},
      {"source_tokens", result.source_tokens},
      {"target_tokens", result.target_tokens},
      {"seconds", result.seconds},
      {"tokens_per_second", PerSecond(result, static_cast<double>(result.target_tokens))},
      {"sentences_per_second", PerSecond(result, static_cast<double>(result.sentences))},
      {"latency_ms", PercentilesJson(result.measurement.latencies)},
      {"line_latency_ms", PercentilesJson(result.line_latencies)},
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
      {"matmul_seconds", result.matmul_seconds},
      {"matmul_kernels", MatmulKernelsOf(result)},
      {"matmul_floor_seconds", result.matmul_floor_seconds},
      {"matmul_floor_ratio", ratio ? Json(*ratio) : Json()},
      {"limit_seconds", result.limit_seconds},
      {"limit_ratio", result.limit_seconds / result.seconds},
      {"peak_operations_per_second", result.peak.operations_per_second},
      {"peak_bytes_per_second", result.peak.bytes_per_second}};
  json.update(figures);
  if (result.quality.has_value()) {
    json["bleu"] = result.quality->bleu;
    json["chrf"] = result.quality->chrf;
    json["equal_lines"] = result.equal_lines;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string BenchTableHead(BenchTable table) {
  return TableLine(table, [](const Column& column) { return column.above; }) +
         TableLine(table, [](const Column& column) { return column.name; });
}

std::string BenchTableRow(BenchTable table, const BenchResult& result) {
  return TableLine(table, [&](const Column& column) { return column.cell(result); });
}

}  // namespace nibu::internal
