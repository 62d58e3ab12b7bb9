#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tools/inspect/inspect.h"

namespace nibu {
namespace {

constexpr absl::string_view kPage =
#include "tools/attention.inc"
    ;

template <typename T>
std::string Dump(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// `,"name":[layer][head][row][column]`
void AppendLayers(absl::string_view name, const AttentionMaps::Layers& layers, size_t rows,
                  size_t columns, int digits, std::string* json) {
  absl::StrAppend(json, ",\"", name, "\":[");
  for (size_t l = 0; l < layers.size(); ++l) {
    absl::StrAppend(json, l == 0 ? "[" : ",[");
    for (size_t i = 0; i < layers[l].size(); ++i) {
      const bool begins_row = i % columns == 0;
      const bool begins_head = i % (rows * columns) == 0;
      absl::StrAppend(json, i == 0 ? "[[" : begins_head ? "]],[[" : begins_row ? "],[" : ",");
      absl::StrAppendFormat(json, "%.*g", digits, layers[l][i]);
    }
    absl::StrAppend(json, layers[l].empty() ? "]" : "]]]");
  }
  json->push_back(']');
}

// With what stands in front of its fields.
std::string Object(std::string json, const AttentionView& view, int digits) {
  const size_t sources = view.source.size();
  const size_t targets = view.target.size();
  absl::StrAppend(&json, "\"source\":", Dump(view.source), ",\"target\":", Dump(view.target));
  AppendLayers("encoder", view.maps.encoder, sources, sources, digits, &json);
  AppendLayers("decoder", view.maps.decoder, targets, targets, digits, &json);
  AppendLayers("cross", view.maps.cross, targets, sources, digits, &json);
  return absl::StrCat(json, "}\n");
}

}  // namespace

std::string AttentionJson(const AttentionView& view) {
  return Object("{", view, /*digits=*/9);  // that tell any float from others
}

std::string AttentionPage(const AttentionView& view) {
  const std::string front =
      absl::StrCat("{\"model\":", Dump(view.model), ",\"read\":", Dump(view.read),
                   ",\"layer\":", view.layer, ",\"head\":", view.head, ",");
  // No token ends the script.
  const std::string data =
      absl::StrReplaceAll(Object(front, view, /*digits=*/4), {{"<", "\\u003c"}});
  return absl::StrReplaceAll(kPage, {{"@DATA@", data}});
}

}  // namespace nibu
