#include "models/files/yaml.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/status_macros.h"
#include "models/files/json.h"

namespace nibu {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 16;

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out->push_back(static_cast<char>(kLead[more] | c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(0x80 | (c >> (6 * i) & 0x3f)));
  }
}

// What a plain scalar means.
Json PlainValue(absl::string_view text) {
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  int64_t integer = 0;
  if (absl::SimpleAtoi(text, &integer)) return integer;
  double number = 0;
  const bool numeric = absl::ascii_isdigit(static_cast<unsigned char>(text.back())) ||
                       text.back() == '.';  // not "inf", "nan", "1e"
  if (numeric && absl::SimpleAtod(text, &number)) return number;
  return std::string(text);
}

class YamlParser {
 public:
  YamlParser(absl::string_view text, const std::string& file) : file_(file) {
    int number = 0;
    for (absl::string_view raw : absl::StrSplit(text, '\n')) {
      ++number;
      if (!raw.empty() && raw.back() == '\r') raw.remove_suffix(1);
      const absl::string_view stripped = absl::StripLeadingAsciiWhitespace(raw);
      if (stripped.empty() || stripped[0] == '#') continue;
      if (lines_.empty() && raw == "---") continue;
      lines_.push_back({raw.find_first_not_of(' '), stripped, number});
    }
  }

  absl::StatusOr<Json> Parse() {
    if (lines_.empty()) return Json(nullptr);
    NIBU_ASSIGN_OR_RETURN(Json json, Block(lines_[0].indent, 0));
    if (next_ < lines_.size()) return Wrong("does not belong here");
    return json;
  }

 private:
  struct Line {
    size_t indent;
    absl::string_view text;  // without the indentation
    int number;
  };

  absl::Status Wrong(absl::string_view what) const {
    const Line& line = lines_[next_ < lines_.size() ? next_ : lines_.size() - 1];
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": line ", line.number, " ", what, ", in YAML as nibu reads it"));
  }

  static bool IsItem(absl::string_view text) {
    return text[0] == '-' && (text.size() == 1 || text[1] == ' ');
  }

  // The mapping or sequence whose lines are indented by `indent`.
  absl::StatusOr<Json> Block(size_t indent, int depth) {
    if (depth == kMaxDepth) return Wrong("is nested too deeply");
    const bool sequence = IsItem(lines_[next_].text);
    Json json = sequence ? Json::array() : Json::object();
    while (next_ < lines_.size() && lines_[next_].indent == indent &&
           IsItem(lines_[next_].text) == sequence) {
      absl::string_view rest = lines_[next_].text;
      Json* slot = nullptr;
      if (sequence) {
        json.push_back(nullptr);
        slot = &json.back();
        rest.remove_prefix(1);
      } else {
        std::string key;
        NIBU_RETURN_IF_ERROR(Key(&rest, &key));
        const auto [it, inserted] = json.get_ref<Json::object_t&>().try_emplace(std::move(key));
        if (!inserted) return Wrong("has a key that is there twice");
        slot = &it->second;
      }
      rest = absl::StripLeadingAsciiWhitespace(rest);
      if (!rest.empty() && rest[0] != '#') {
        NIBU_ASSIGN_OR_RETURN(*slot, Value(rest));
        ++next_;
        continue;
      }
      ++next_;
      if (next_ == lines_.size()) break;
      const Line& below = lines_[next_];
      // yaml-cpp, and so Marian, writes an empty list below its key.
      if (below.indent > indent && (below.text[0] == '[' || below.text[0] == '{')) {
        NIBU_ASSIGN_OR_RETURN(*slot, Value(below.text));
        ++next_;
        continue;
      }
      // A mapping's sequence may stand as far left as its key.
      if (below.indent > indent || (!sequence && below.indent == indent && IsItem(below.text))) {
        NIBU_ASSIGN_OR_RETURN(*slot, Block(below.indent, depth + 1));
      }
    }
    if (next_ < lines_.size() && lines_[next_].indent > indent) return Wrong("is indented too far");
    return json;
  }

  // Takes "key:" off the front of a line.
  absl::Status Key(absl::string_view* rest, std::string* key) {
    if ((*rest)[0] == '"' || (*rest)[0] == '\'') {
      NIBU_RETURN_IF_ERROR(Quoted(rest, key));
      *rest = absl::StripLeadingAsciiWhitespace(*rest);
      if (rest->empty() || (*rest)[0] != ':' || (rest->size() > 1 && (*rest)[1] != ' ')) {
        return Wrong("has no \": \" after its key");
      }
      rest->remove_prefix(1);
      return absl::OkStatus();
    }
    if (IsIndicator(*rest)) return Wrong("begins in a way that is not supported");
    size_t end = rest->find(": ");
    if (end == absl::string_view::npos && rest->back() == ':') end = rest->size() - 1;
    if (end == absl::string_view::npos) return Wrong("is not \"key: value\"");
    *key = std::string(absl::StripTrailingAsciiWhitespace(rest->substr(0, end)));
    rest->remove_prefix(end + 1);
    return absl::OkStatus();
  }

  // Whether a plain scalar cannot begin like this.
  static bool IsIndicator(absl::string_view text) {
    if (absl::string_view("-?:").find(text[0]) != absl::string_view::npos) {
      return text.size() == 1 || text[1] == ' ';
    }
    return absl::string_view("&*!|>%@`[]{},#").find(text[0]) != absl::string_view::npos;
  }

  // All that is left of a line.
  absl::StatusOr<Json> Value(absl::string_view text) {
    Json json;
    if (text[0] == '[') {
      NIBU_ASSIGN_OR_RETURN(json, FlowSequence(&text));
    } else if (text.substr(0, 2) == "{}") {
      json = Json::object();
      text.remove_prefix(2);
    } else if (text[0] == '"' || text[0] == '\'') {
      std::string value;
      NIBU_RETURN_IF_ERROR(Quoted(&text, &value));
      json = std::move(value);
    } else {
      if (IsIndicator(text)) return Wrong("has a value that is not supported");
      const size_t comment = text.find(" #");
      if (comment != absl::string_view::npos) text = text.substr(0, comment);
      return PlainValue(absl::StripTrailingAsciiWhitespace(text));
    }
    text = absl::StripLeadingAsciiWhitespace(text);
    if (!text.empty() && text[0] != '#') return Wrong("goes on after its value");
    return json;
  }

  absl::StatusOr<Json> FlowSequence(absl::string_view* rest) {
    Json json = Json::array();
    rest->remove_prefix(1);
    while (true) {
      *rest = absl::StripLeadingAsciiWhitespace(*rest);
      if (rest->empty()) return Wrong("has a list that does not end");
      if ((*rest)[0] == ']') break;
      if ((*rest)[0] == '"' || (*rest)[0] == '\'') {
        std::string value;
        NIBU_RETURN_IF_ERROR(Quoted(rest, &value));
        json.push_back(std::move(value));
      } else {
        if (IsIndicator(*rest)) return Wrong("has a value that is not supported");
        const size_t end = rest->find_first_of(",]");
        if (end == absl::string_view::npos) return Wrong("has a list that does not end");
        json.push_back(PlainValue(absl::StripTrailingAsciiWhitespace(rest->substr(0, end))));
        rest->remove_prefix(end);
      }
      *rest = absl::StripLeadingAsciiWhitespace(*rest);
      if (!rest->empty() && (*rest)[0] == ',') {
        rest->remove_prefix(1);
      } else if (rest->empty() || (*rest)[0] != ']') {
        return Wrong("has a list that does not end");
      }
    }
    rest->remove_prefix(1);
    return json;
  }

  // Takes a quoted scalar off the front.
  absl::Status Quoted(absl::string_view* rest, std::string* value) {
    const char quote = (*rest)[0];
    size_t i = 1;
    for (; i < rest->size(); ++i) {
      const char c = (*rest)[i];
      if (c == quote) {
        if (quote == '"' || i + 1 == rest->size() || (*rest)[i + 1] != '\'') {
          rest->remove_prefix(i + 1);
          return absl::OkStatus();
        }
        ++i;  // '' stands for '
        value->push_back('\'');
      } else if (c == '\\' && quote == '"') {
        if (!Escape(*rest, &i, value)) return Wrong("has an unknown escape");
      } else {
        value->push_back(c);
      }
    }
    return Wrong("has a quote that does not end");
  }

  // `*i`: at the backslash; afterwards at the last character of the escape.
  static bool Escape(absl::string_view text, size_t* i, std::string* value) {
    static constexpr struct {
      char name;
      uint16_t meaning;
    } kEscapes[] = {{'0', 0},     {'a', 7},    {'b', 8},    {'t', 9},      {'n', 10},    {'v', 11},
                    {'f', 12},    {'r', 13},   {'e', 27},   {' ', 32},     {'"', '"'},   {'/', '/'},
                    {'\\', '\\'}, {'N', 0x85}, {'_', 0xa0}, {'L', 0x2028}, {'P', 0x2029}};
    if (++*i == text.size()) return false;
    const char name = text[*i];
    for (const auto& escape : kEscapes) {
      if (escape.name != name) continue;
      AppendUtf8(escape.meaning, value);
      return true;
    }
    const size_t digits = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
    uint32_t c = 0;
    if (digits == 0 || *i + digits >= text.size() ||
        !absl::SimpleHexAtoi(text.substr(*i + 1, digits), &c) || c > 0x10ffff) {
      return false;
    }
    *i += digits;
    AppendUtf8(c, value);
    return true;
  }

  const std::string& file_;
  std::vector<Line> lines_;
  size_t next_ = 0;
};

}  // namespace

absl::StatusOr<Json> ParseYaml(absl::string_view text, const std::string& file) {
  const absl::string_view stripped = absl::StripLeadingAsciiWhitespace(text);
  if (!stripped.empty() && (stripped[0] == '{' || stripped[0] == '[')) return ParseJson(text, file);
  return YamlParser(text, file).Parse();
}

}  // namespace nibu
