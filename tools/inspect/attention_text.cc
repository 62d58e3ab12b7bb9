// Writes attention weights as a grid for terminals.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tokenizer/unicode/typesetting.h"
#include "tools/inspect/attention_numbers.h"
#include "tools/inspect/inspect.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kShades = " .:-=+*#%@";
constexpr absl::string_view kHiddenShade = "/";  // of a key that is hidden from the query
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

// Appends a row of shades for each query, below the names of the keys. `head`: -1 is the mean.
void AppendShades(const AttentionMap& map, int head, const AttentionTokens& tokens,
                  std::string* text) {
  std::vector<Characters> header;
  size_t width = 1;
  for (const std::string& token : KeyNames(map, tokens.keys)) {
    for (const std::string& character : header.emplace_back(CharactersOf(token))) {
      width = std::max(width, ColumnBehind(character));
    }
  }
  absl::StrAppend(text, Header(header, width));
  const auto keys = static_cast<size_t>(map.keys);
  const size_t size = static_cast<size_t>(map.queries) * keys;  // weights of a head
  const size_t first = head < 0 ? 0 : static_cast<size_t>(head) * size;
  const size_t last = head < 0 ? map.weights.size() : first + size;
  for (size_t i = 0; i < size; ++i) {
    float sum = 0;
    bool is_hidden = true;
    for (size_t at = first + i; at < last; at += size) {
      sum += map.weights[at];
      is_hidden = is_hidden && map.scores[at] == -HUGE_VALF;
    }
    const float mean = sum * static_cast<float>(size) / static_cast<float>(last - first);
    const auto shade = static_cast<size_t>(mean * static_cast<float>(kShades.size()));
    text->append(width, is_hidden ? kHiddenShade[0] : kShades[std::min(shade, kShades.size() - 1)]);
    if ((i + 1) % keys == 0) absl::StrAppend(text, "  ", tokens.queries[i / keys], "\n");
  }
}

// Appends the mechanism of each attention and the entropy of each of its heads.
void AppendEntropies(const AttentionView& view, AttentionKind kind, int layers, std::string* text) {
  for (int l = 0; l < layers; ++l) {
    absl::StrAppendFormat(text, "%-7s layer %2d:", AttentionKindName(kind), l);
    const size_t begin = text->size();
    for (const AttentionMap& map : view.MapsOf(kind)) {
      if (map.layer != l) continue;
      const std::string part = PartName(map);
      absl::StrAppend(text, part.empty() ? "" : " ", part);
      const AttentionNumbers numbers =
          NumbersOf(map, view.TokensOf(kind), kind == AttentionKind::kCross);
      for (const double bits : numbers.entropy) absl::StrAppendFormat(text, " %5.2f", bits);
      absl::StrAppend(text, numbers.entropy.empty() ? " none" : "", "  ", map.mixer.ToText());
    }
    absl::StrAppend(text, text->size() == begin ? " none\n" : "\n");
  }
}

// Appends how much of the first layer's scores each of their terms has.
void AppendTerms(const AttentionView& view, std::string* text) {
  if (!view.terms.has_value()) return;
  absl::StrAppend(text, "terms of the scores of encoder layer 0, variance over the keys\n    head");
  for (const char* name : kScoreTermNames) absl::StrAppendFormat(text, " %6s", name);
  int head = 0;
  for (const std::vector<double>& variances :
       TermVariances(*view.terms, view.config.heads_encoder, view.source.size())) {
    absl::StrAppendFormat(text, "\n%8d", head++);
    for (const double variance : variances) absl::StrAppendFormat(text, " %6.2f", variance);
  }
  text->push_back('\n');
}

// Appends a line for each mechanism that is compared.
void AppendCompared(const AttentionView& view, std::string* text) {
  if (view.compared.empty()) return;
  absl::StrAppend(
      text, "log-probability of the target, query-key pairs, positions seen after each layer\n");
  for (const ComparedMechanism& compared : view.compared) {
    absl::StrAppendFormat(text, "%9.2f %9d ", compared.log_prob, EdgesOf(compared.encoder));
    for (const double size : ReceptiveField(compared.encoder, view.source.size())) {
      absl::StrAppendFormat(text, " %5.1f", size);
    }
    absl::StrAppend(text, "  ", compared.mechanism, "\n");
  }
}

}  // namespace

std::string AttentionGrid(const AttentionView& view) {
  const bool is_encoder = view.kind == AttentionKind::kEncoder;
  const AttentionTokens tokens = view.TokensOf(view.kind);
  std::string text = absl::StrCat(
      view.kind == AttentionKind::kCross ? ""
      : is_encoder                       ? "encoder "
                                         : "masked decoder ",
      view.kind == AttentionKind::kCross ? "cross" : "self", "-attention, layer ", view.layer, ", ",
      view.head < 0 ? "mean of all heads" : absl::StrCat("head ", view.head));
  int before = 0;  // heads of the layer's parts in front of the one that is drawn
  bool is_drawn = false;
  for (const AttentionMap& map : view.MapsOf(view.kind)) {
    const bool is_here = map.layer == view.layer && view.head < before + map.heads;
    if (map.layer == view.layer && !is_here) before += map.heads;
    if (!is_here || is_drawn) continue;
    is_drawn = true;
    const std::string part = PartName(map);
    absl::StrAppend(&text, part.empty() ? "" : absl::StrCat(" (", part, ")"), ", ",
                    map.mixer.ToText(), ", ", ComputeTypeName(view.compute_type));
    if (map.weights.empty()) continue;
    absl::StrAppend(&text, "; 0 to 1: \"", kShades, "\", hidden: ", kHiddenShade, "\n");
    AppendShades(map, view.head < 0 ? -1 : view.head - before, tokens, &text);
  }
  if (text.back() != '\n') absl::StrAppend(&text, ": has no matrix\n");
  absl::StrAppend(&text, "entropy in bits, head by head\n");
  AppendEntropies(view, AttentionKind::kEncoder, view.config.layers_encoder, &text);
  AppendEntropies(view, AttentionKind::kDecoder, view.config.layers_decoder, &text);
  AppendEntropies(view, AttentionKind::kCross, view.config.layers_decoder, &text);
  AppendTerms(view, &text);
  AppendCompared(view, &text);
  return text;
}

}  // namespace nibu::internal
