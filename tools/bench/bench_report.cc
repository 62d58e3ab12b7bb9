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
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nibu/version.h"
#include "nlohmann/json.hpp"
#include "tools/text/options/option_table.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::ordered_json;

// A run that takes less time has no ratio to the floor: starting and waking the workers counts.
constexpr double kLeastSeconds = 0.05;

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

// Returns a speed or a time, with a digit after the point if it is below 1,000.
std::string Rounded(double value) { return Number(value, value < 1000 ? 1 : 0); }

// Returns the mean over the sentences.
std::string OfASentence(const BenchResult& result, int64_t tokens) {
  return Number(static_cast<double>(tokens) / static_cast<double>(result.sentences), 0);
}

// Returns a part's share of the threads' time in percent.
std::string ShareOfTime(const BenchResult& result, double seconds) {
  return Number(100 * seconds / (result.seconds * result.settings.translator.threads), 1);
}

// A column belongs to some of the tables.
struct Column {
  std::string tables;  // the letters of BenchTable
  const char* name;
  int width;  // negative: the text is flush left
  std::string (*cell)(const BenchResult&);
};

// Columns that share a title, which stands above their names.
struct Group {
  const char* title;
  std::vector<Column> columns;
};

const std::vector<Group>& Groups() {
  using R = BenchResult;
  static const auto& groups = *new std::vector<Group>{
      {"settings",
       {{"stql", "type", -8,
         [](const R& r) -> std::string { return ComputeTypeName(r.settings.compute_type); }},
        {"stql", "thr", 3, [](const R& r) { return Number(r.settings.translator.threads); }},
        {"stql", "beam", 4, [](const R& r) { return Number(r.settings.decoding.beam_size); }},
        {"stql", "batch", 5,
         [](const R& r) {
           const int batch = r.settings.translator.batch_size;
           return batch == 0 ? "auto" : Number(batch);
         }}}},
      {"tokens",
       {{"stl", "src", 4, [](const R& r) { return OfASentence(r, r.source_tokens); }},
        {"stl", "tgt", 4, [](const R& r) { return OfASentence(r, r.target_tokens); }}}},
      {"quality",
       {{"q", "BLEU", 5, [](const R& r) { return Number(r.quality->bleu, 2); }},
        {"q", "chrF", 5, [](const R& r) { return Number(r.quality->chrf, 2); }},
        {"q", "equal %", 7, [](const R& r) { return Number(100 * r.equal_lines, 1); }}}},
      {"a second",
       {{"sql", "tokens", 8,
         [](const R& r) { return Rounded(PerSecond(r, static_cast<double>(r.target_tokens))); }},
        {"sq", "sent.", 6,
         [](const R& r) { return Rounded(PerSecond(r, static_cast<double>(r.sentences))); }}}},
      {"a token",
       {{"l", "us", 8,
         [](const R& r) {
           return Number(1e6 * r.seconds / static_cast<double>(r.target_tokens), 1);
         }}}},
      {"ms a sentence",
       {{"sq", "p50", 6,
         [](const R& r) { return Rounded(Milliseconds(r.measurement.latencies, 0.5)); }},
        {"sq", "p90", 6,
         [](const R& r) { return Rounded(Milliseconds(r.measurement.latencies, 0.9)); }},
        {"sq", "p99", 6,
         [](const R& r) { return Rounded(Milliseconds(r.measurement.latencies, 0.99)); }}}},
      {"ms a line",
       {{"s", "p50", 5, [](const R& r) { return Rounded(Milliseconds(r.line_latencies, 0.5)); }},
        {"s", "p90", 5, [](const R& r) { return Rounded(Milliseconds(r.line_latencies, 0.9)); }},
        {"s", "p99", 5, [](const R& r) { return Rounded(Milliseconds(r.line_latencies, 0.99)); }}}},
      {"MB",
       {{"sq", "peak", 6,
         [](const R& r) { return Number(static_cast<double>(r.peak_rss_bytes) / 1e6, 1); }},
        {"q", "weights", 7,
         [](const R& r) { return Number(static_cast<double>(r.weight_bytes) / 1e6, 1); }}}},
      {"load", {{"t", "s", 5, [](const R& r) { return Number(r.load_seconds, 2); }}}},
      {"share of time in %",
       {{"tl", "enc", 4, [](const R& r) { return ShareOfTime(r, r.measurement.profile.encoder); }},
        {"tl", "decm", 4,
         [](const R& r) { return ShareOfTime(r, r.measurement.profile.decoder_matmul); }},
        {"tl", "attn", 4,
         [](const R& r) { return ShareOfTime(r, r.measurement.profile.attention); }},
        {"tl", "srch", 4, [](const R& r) { return ShareOfTime(r, r.measurement.profile.search); }},
        {"t", "toke", 4, [](const R& r) { return ShareOfTime(r, r.tokenizer_seconds); }},
        {"t", "text", 4, [](const R& r) { return ShareOfTime(r, r.text_seconds); }}}},
      {"floor",
       {{"t", "s", 6, [](const R& r) { return Number(r.matmul_floor_seconds, 2); }},
        {"tl", "ratio", 5,
         [](const R& r) {
           const std::optional<double> ratio = FloorRatio(r);
           return ratio ? Number(*ratio, 2) : "-";
         }}}},
      {"limit",
       {{"tl", "ratio", 5, [](const R& r) { return Number(r.limit_seconds / r.seconds, 2); }},
        {"tl", "GOP/s", 5,
         [](const R& r) { return Number(r.peak.operations_per_second / 1e9, 0); }},
        {"tl", "GB/s", 4, [](const R& r) { return Number(r.peak.bytes_per_second / 1e9, 1); }}}},
  };
  return groups;
}

// Returns the texts of a table's columns, group by group. It is empty for a group of other tables.
template <typename Text>
std::vector<std::string> TextsOf(BenchTable table, Text text) {
  std::vector<std::string> groups;
  for (const Group& group : Groups()) {
    std::vector<std::string> cells;
    for (const Column& column : group.columns) {
      if (!absl::StrContains(column.tables, static_cast<char>(table))) continue;
      cells.push_back(absl::StrFormat("%*s", column.width, text(column)));
    }
    groups.push_back(absl::StrJoin(cells, " "));
  }
  return groups;
}

// Returns a line of a table, in which a sign "|" stands between two groups.
std::string TableLine(std::vector<std::string> groups) {
  std::erase(groups, "");
  std::string line = absl::StrJoin(groups, " |");
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
  if (ratio > 1 || result.seconds < kLeastSeconds) return std::nullopt;
  return ratio;
}

std::string WhyNoFloorRatio(const BenchResult& result) {
  if (FloorRatio(result).has_value()) return "";
  if (result.seconds < kLeastSeconds) {
    return absl::StrFormat(
        "the run took %.0f ms, which is too short for a ratio to the matmul "
        "floor; give more --sentences",
        1e3 * result.seconds);
  }
  return "the run took less time than its matrix products alone afterwards, so that it has no "
         "ratio "
         "to the matmul floor; other programs are in the way, give more --sentences or --repeat";
}

std::string BenchJson(const BenchResult& result) {
  const BenchSettings& settings = result.settings;
  const Profile& profile = result.measurement.profile;
  const std::optional<double> ratio = FloorRatio(result);
  const bool is_text = !result.source_file.empty();
  const std::string shortlist = result.has_shortlist ? settings.loading.shortlist : "none";
  Json json = {
      {"model", result.model},
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
      {"reference_file", result.reference_file.empty() ? Json() : Json(result.reference_file)},
      {"reference_sha256", result.reference_file.empty() ? Json() : Json(result.reference_sha256)},
      {"repeat", result.repeat},
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
  const auto names = TextsOf(table, [](const Column& column) { return column.name; });
  std::vector<std::string> titles;
  for (size_t i = 0; i < names.size(); ++i) {
    titles.push_back(names[i].empty() ? ""
                                      : absl::StrFormat("%-*s", static_cast<int>(names[i].size()),
                                                        Groups()[i].title));
  }
  return TableLine(titles) + TableLine(names);
}

std::string BenchTableRow(BenchTable table, const BenchResult& result) {
  return TableLine(TextsOf(table, [&](const Column& column) { return column.cell(result); }));
}

}  // namespace nibu::internal
