// Writes attention weights as JSON, as a page of HTML, and as a grid for terminals.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "models/files/float_json.h"
#include "nlohmann/json.hpp"
#include "tokenizer/unicode/typesetting.h"
#include "tools/inspect/inspect.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kPage =
#include "tools/inspect/attention.inc"
    ;

template <typename T>
std::string Dump(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Appends `,"name":[layer][head][row][column]`. `digits`: 0 stands for as many as a float needs.
void AppendLayers(absl::string_view name, const AttentionMaps::Layers& layers, size_t rows,
                  size_t columns, int digits, std::string* json) {
  absl::StrAppend(json, ",\"", name, "\":[");
  for (size_t l = 0; l < layers.size(); ++l) {
    absl::StrAppend(json, l == 0 ? "[" : ",[");
    for (size_t i = 0; i < layers[l].size(); ++i) {
      const bool begins_row = i % columns == 0;
      const bool begins_head = i % (rows * columns) == 0;
      absl::StrAppend(json, i == 0 ? "[[" : begins_head ? "]],[[" : begins_row ? "],[" : ",");
      const float weight = layers[l][i];
      absl::StrAppend(
          json, digits == 0 ? FloatJson(weight).dump() : absl::StrFormat("%.*g", digits, weight));
    }
    absl::StrAppend(json, layers[l].empty() ? "]" : "]]]");
  }
  json->push_back(']');
}

// Returns an object of JSON. `json` is its beginning, up to the fields that all objects have.
std::string Object(std::string json, const AttentionView& view, int digits) {
  const size_t sources = view.source.size();
  const size_t targets = view.target.size();
  absl::StrAppend(&json, "\"source\":", Dump(view.source), ",\"target\":", Dump(view.target));
  AppendLayers("encoder", view.maps.encoder, sources, sources, digits, &json);
  AppendLayers("decoder", view.maps.decoder, targets, targets, digits, &json);
  AppendLayers("cross", view.maps.cross, targets, sources, digits, &json);
  return absl::StrCat(json, "}\n");
}

constexpr absl::string_view kShades = " .:-=+*#%@";
// Keeps letters that are written from right to left in their columns.
constexpr absl::string_view kLeftToRight = "\u200e";

using Characters = std::vector<std::string>;  // each with its combining marks

Characters CharactersOf(const std::string& token) {
  Characters characters;
  for (size_t at = 0, end = 0; at < token.size(); at = end) {
    for (end = at + 1; end < token.size() && (token[end] & 0xc0) == 0x80;) ++end;
    const std::string character = token.substr(at, end - at);
    if (characters.empty() || ColumnBehind(character) > 0) characters.emplace_back();
    characters.back() += character;
  }
  return characters;
}

// Writes tokens from top to bottom, each in a column `width` wide, aligned at the bottom.
std::string Header(const std::vector<Characters>& tokens, size_t width) {
  size_t height = 0;
  for (const Characters& token : tokens) height = std::max(height, token.size());
  std::string text;
  for (size_t below = height; below > 0; --below) {
    for (const Characters& token : tokens) {
      const std::string character = below > token.size() ? " " : token[token.size() - below];
      absl::StrAppend(&text, character, character[0] > 0 ? "" : kLeftToRight,
                      std::string(width - ColumnBehind(character), ' '));
    }
    text.push_back('\n');
  }
  return text;
}

// Appends the entropy of each head in bits, the mean over its rows: 2^bits is the number of keys
// over which it spreads.
void AppendEntropies(absl::string_view name, const AttentionMaps::Layers& layers, size_t rows,
                     size_t columns, std::string* text) {
  for (size_t l = 0; l < layers.size(); ++l) {
    absl::StrAppendFormat(text, "%-7s layer %2d:", name, l);
    double bits = 0;
    for (size_t i = 0; i < layers[l].size(); ++i) {
      const auto p = static_cast<double>(layers[l][i]);
      if (p > 0) bits -= p * std::log2(p);
      if ((i + 1) % (rows * columns) > 0) continue;
      absl::StrAppendFormat(text, " %5.2f", bits / static_cast<double>(rows));
      bits = 0;
    }
    absl::StrAppend(text, layers[l].empty() ? " none\n" : "\n");
  }
}

}  // namespace

std::string AttentionJson(const AttentionView& view) { return Object("{", view, /*digits=*/0); }

std::string AttentionPage(const AttentionView& view) {
  const std::string front =
      absl::StrCat("{\"model\":", Dump(view.model), ",\"read\":", Dump(view.read),
                   ",\"layer\":", view.layer, ",\"head\":", view.head, ",");
  // A token such as "</script>" must not end the script.
  const std::string data =
      absl::StrReplaceAll(Object(front, view, /*digits=*/4), {{"<", "\\u003c"}});
  return absl::StrReplaceAll(kPage, {{"@DATA@", data}});
}

std::string AttentionGrid(const AttentionView& view) {
  const size_t sources = view.source.size();
  const size_t targets = view.target.size();
  std::vector<Characters> header;
  size_t width = 1;
  for (const std::string& token : view.source) {
    for (const std::string& character : header.emplace_back(CharactersOf(token))) {
      width = std::max(width, ColumnBehind(character));
    }
  }
  std::string text =
      absl::StrCat("cross-attention, layer ", view.layer, ", ",
                   view.head < 0 ? "mean of all heads" : absl::StrCat("head ", view.head),
                   "; 0 to 1: \"", kShades, "\"\n", Header(header, width));
  const std::vector<float>& map = view.maps.cross[static_cast<size_t>(view.layer)];
  const size_t size = sources * targets;  // weights of a head
  const size_t first = view.head < 0 ? 0 : static_cast<size_t>(view.head) * size;
  const size_t last = view.head < 0 ? map.size() : first + size;
  for (size_t i = 0; i < size; ++i) {
    float sum = 0;
    for (size_t at = first + i; at < last; at += size) sum += map[at];
    const float mean = sum * static_cast<float>(size) / static_cast<float>(last - first);
    const auto shade = static_cast<size_t>(mean * static_cast<float>(kShades.size()));
    text.append(width, kShades[std::min(shade, kShades.size() - 1)]);
    if ((i + 1) % sources == 0) absl::StrAppend(&text, "  ", view.target[i / sources], "\n");
  }
  absl::StrAppend(&text, "entropy in bits, head by head\n");
  AppendEntropies("encoder", view.maps.encoder, sources, sources, &text);
  AppendEntropies("decoder", view.maps.decoder, targets, targets, &text);
  AppendEntropies("cross", view.maps.cross, targets, sources, &text);
  return text;
}

}  // namespace nibu::internal
