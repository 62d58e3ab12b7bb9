// Writes what attentions compute as JSON, and as a page of HTML around it.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/inspect/attention_numbers.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/json_text.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kPage =
#include "tools/inspect/attention.inc"
    ;
constexpr absl::string_view kStyle =
#include "tools/inspect/page_style.inc"
    ;
// The page's code, in the order in which it runs.
constexpr absl::string_view kScripts[] = {
#include "tools/inspect/attention_draw.inc"
    ,
#include "tools/inspect/attention_layers.inc"
    ,
#include "tools/inspect/attention_pair.inc"
    ,
#include "tools/inspect/attention_page.inc"
};

// Returns the lengths of the values, [H, M].
std::vector<float> ValueNorms(const AttentionMap& map) {
  const auto heads = static_cast<size_t>(map.heads);
  const size_t inner = map.v.size() / static_cast<size_t>(map.keys);
  const size_t dim = inner / heads;
  std::vector<float> norms;
  for (size_t h = 0; h < heads; ++h) {
    for (size_t at = h * dim; at < map.v.size(); at += inner) {
      double sum = 0;
      for (size_t i = at; i < at + dim; ++i) sum += std::pow(static_cast<double>(map.v[i]), 2);
      norms.push_back(static_cast<float>(std::sqrt(sum)));
    }
  }
  return norms;
}

// Returns all of an attention but its weights.
std::string Details(const AttentionMap& map, const AttentionTokens& tokens, bool is_cross,
                    const JsonNumbers& write) {
  JsonFields fields = {{"layer", absl::StrCat(map.layer)},
                       {"part", JsonOf(PartName(map))},
                       {"mechanism", JsonOf(map.mixer.ToText())}};
  if (map.weights.empty()) return JsonObject(fields);
  const auto heads = static_cast<size_t>(map.heads);
  const auto queries = static_cast<size_t>(map.queries);
  const auto keys = static_cast<size_t>(map.keys);
  const size_t inner = map.q.size() / queries;
  const AttentionNumbers numbers = NumbersOf(map, tokens, is_cross);
  fields.emplace_back("keys", JsonOf(KeyNames(map, tokens.keys)));
  fields.emplace_back("entropy", write(numbers.entropy));
  fields.emplace_back("distance", write(numbers.distance));
  fields.emplace_back("likeness", write(numbers.likeness));
  fields.emplace_back("edges", absl::StrCat(EdgesOf({&map, 1})));
  if (!map.centres.empty()) fields.emplace_back("centre", write(map.centres));
  if (!map.places.empty()) fields.emplace_back("place", write(map.places));
  fields.emplace_back("score",
                      write(map.scores.data(), {heads, queries, keys}, {queries * keys, keys, 1}));
  for (const auto& [name, rows, count] : {std::tuple("q", &map.q, queries), {"k", &map.k, keys}}) {
    fields.emplace_back(
        name, write(rows->data(), {heads, count, inner / heads}, {inner / heads, inner, 1}));
  }
  fields.emplace_back("v_norm", write(ValueNorms(map).data(), {heads, keys}, {keys, 1}));
  return JsonObject(fields);
}

// Returns the matrices of all layers, [layer][head][q][k].
std::string Weights(const AttentionMaps::Layers& maps, int layers, const JsonNumbers& write) {
  std::vector<std::vector<std::string>> heads(static_cast<size_t>(layers));
  for (const AttentionMap& map : maps) {
    const auto queries = static_cast<size_t>(map.queries);
    const auto keys = static_cast<size_t>(map.keys);
    for (size_t at = 0; at < map.weights.size(); at += queries * keys) {
      heads[static_cast<size_t>(map.layer)].push_back(
          write(&map.weights[at], {queries, keys}, {keys, 1}));
    }
  }
  std::vector<std::string> all;
  all.reserve(heads.size());
  for (const auto& layer : heads) all.push_back(JsonList(layer));
  return JsonList(all);
}

// Returns the mean of an attention's heads, [q][k], with null where all of them hide a key.
std::string MeanOfHeads(const AttentionMap& map, const JsonNumbers& write) {
  if (map.weights.empty()) return "[]";
  std::vector<float> mean(map.weights.size() / static_cast<size_t>(map.heads));
  for (size_t i = 0; i < mean.size(); ++i) {
    float sum = 0;
    bool is_hidden = true;
    for (size_t at = i; at < map.weights.size(); at += mean.size()) {
      sum += map.weights[at];
      is_hidden = is_hidden && map.scores[at] == -HUGE_VALF;
    }
    mean[i] = is_hidden ? -HUGE_VALF : sum / static_cast<float>(map.heads);
  }
  const auto keys = static_cast<size_t>(map.keys);
  return write(mean.data(), {static_cast<size_t>(map.queries), keys}, {keys, 1});
}

std::string Compared(const AttentionView& view, const JsonNumbers& write) {
  std::vector<std::string> all;
  for (const ComparedMechanism& compared : view.compared) {
    std::vector<std::string> maps;
    for (const AttentionMap& map : compared.encoder) {
      maps.push_back(MeanOfHeads(map, write));
    }
    all.push_back(
        JsonObject({{"mechanism", JsonOf(compared.mechanism)},
                    {"log_prob", write(compared.log_prob)},
                    {"edges", absl::StrCat(EdgesOf(compared.encoder))},
                    {"field", write(ReceptiveField(compared.encoder, view.source.size()))},
                    {"maps", JsonList(maps)}}));
  }
  return JsonList(all);
}

std::string Terms(const AttentionView& view, const JsonNumbers& write) {
  if (!view.terms.has_value()) return "null";
  const size_t n = view.source.size();
  const auto heads = static_cast<size_t>(view.config.heads_encoder);
  const std::vector<std::string> names(kScoreTermNames.begin(), kScoreTermNames.end());
  return JsonObject({{"names", JsonOf(names)},
                     {"variance", write(TermVariances(*view.terms, view.config.heads_encoder, n))},
                     {"map", write(view.terms->data(), {names.size(), heads, n, n},
                                   {heads * n * n, n * n, n, 1})}});
}

std::string Everything(const AttentionView& view, int digits, const std::string& first) {
  const JsonNumbers write(digits);
  JsonFields details;
  for (const AttentionKind kind : kAttentionKinds) {
    std::vector<std::string> maps;
    for (const AttentionMap& map : view.MapsOf(kind)) {
      maps.push_back(Details(map, view.TokensOf(kind), kind == AttentionKind::kCross, write));
    }
    details.emplace_back(AttentionKindName(kind), JsonList(maps));
  }
  JsonFields fields = {{"source", JsonOf(view.source)},
                       {"target", JsonOf(view.target)},
                       {"encoder", Weights(view.maps.encoder, view.config.layers_encoder, write)},
                       {"decoder", Weights(view.maps.decoder, view.config.layers_decoder, write)},
                       {"cross", Weights(view.maps.cross, view.config.layers_decoder, write)},
                       {"read", JsonOf(view.read)},
                       {"model", JsonOf(view.model)},
                       {"compute_type", JsonOf(ComputeTypeName(view.compute_type))},
                       {"details", JsonObject(details)},
                       {"compare", Compared(view, write)},
                       {"terms", Terms(view, write)}};
  if (!first.empty()) fields.emplace_back("first", first);
  return JsonObject(fields);
}

}  // namespace

std::string AttentionJson(const AttentionView& view) {
  return absl::StrCat(Everything(view, /*digits=*/0, ""), "\n");
}

std::string AttentionPage(const AttentionView& view) {
  const std::string first = JsonObject({{"kind", JsonOf(AttentionKindName(view.kind))},
                                        {"layer", absl::StrCat(view.layer)},
                                        {"head", absl::StrCat(view.head)}});
  // A token such as "</script>" must not end the script.
  const std::string data =
      absl::StrReplaceAll(Everything(view, /*digits=*/5, first), {{"<", "\\u003c"}});
  return absl::StrReplaceAll(
      kPage, {{"@DATA@", data}, {"@STYLE@", kStyle}, {"@SCRIPT@", absl::StrJoin(kScripts, "")}});
}

}  // namespace nibu::internal
