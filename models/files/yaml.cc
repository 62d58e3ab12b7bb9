// Builds JSON documents from yaml-cpp's events.
#include "models/files/yaml.h"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "models/files/json.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxBytes = 1 << 24;
// The parser may read so many bytes beyond its last event. Without a bound it would hold any list
// or map in brackets in memory, since it reads them to their end before it reports them.
constexpr size_t kMaxAhead = 1 << 16;
constexpr size_t kMaxYamlDepth = 32;
// yaml-cpp takes this byte for the end of its input.
constexpr char kEnd = 4;

// Returns the boolean, number or text that a plain scalar stands for.
Json PlainValue(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  int64_t integer = 0;
  if (absl::SimpleAtoi(text, &integer)) return integer;
  double number = 0;
  const char last = text.empty() ? ' ' : text.back();
  const bool numeric = absl::ascii_isdigit(static_cast<unsigned char>(last)) ||
                       last == '.';  // not "inf", "nan", "1e"
  if (numeric && absl::SimpleAtod(text, &number)) return number;
  return text;
}

// Builds the document value by value. It throws for what it refuses, as yaml-cpp does itself.
class YamlBuilder final : public YAML::EventHandler {
 public:
  // `lines`, if not null, gets the lines of ParseYamlText; scalars stay text then.
  YamlBuilder(absl::string_view text, std::map<std::string, int>* lines)
      : text_(text), lines_(lines) {}

  Json root;
  int documents = 0;
  YAML::Mark last;  // the place of the last event

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents > 1) throw YAML::ParserException(mark, "a second document begins; give one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (IsKey()) {
      Key(mark, NullAt(static_cast<size_t>(mark.pos)));
    } else {
      Place(mark, "", anchor, nullptr);
    }
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YAML::ParserException(mark, "nibu reads no aliases");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (IsKey()) {
      Key(mark, value);
    } else {
      Place(mark, tag, anchor, tag == "?" && lines_ == nullptr ? PlainValue(value) : Json(value));
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Json::array());
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Json::object());
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  bool IsKey() const { return !open_.empty() && open_.back()->is_object() && slot_ == nullptr; }

  // Returns the text of a key that is a null, which OnNull does not pass on.
  std::string NullAt(size_t position) const {
    const absl::string_view rest = text_.substr(std::min(position, text_.size()));
    for (const absl::string_view word : {"null", "Null", "NULL", "~"}) {
      if (absl::StartsWith(rest, word)) return std::string(word);
    }
    return "";
  }

  void Key(const YAML::Mark& mark, const std::string& key) {
    last = mark;
    auto [it, inserted] = open_.back()->get_ref<Json::object_t&>().try_emplace(key);
    if (!inserted) throw YAML::ParserException(mark, "this key is there twice");
    slot_ = &it->second;
    if (lines_ != nullptr && open_.size() == 1) (*lines_)[key] = mark.line + 1;
  }

  Json* Place(const YAML::Mark& mark, absl::string_view tag, YAML::anchor_t anchor, Json value) {
    last = mark;
    if (anchor != YAML::NullAnchor) throw YAML::ParserException(mark, "nibu reads no anchors");
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw YAML::ParserException(mark, "nibu reads no tags");
    }
    Json* place = std::exchange(slot_, nullptr);
    if (open_.empty()) {
      place = &root;
    } else if (open_.back()->is_array()) {
      place = &open_.back()->emplace_back();
    }
    *place = std::move(value);
    return place;
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json value) {
    if (IsKey()) throw YAML::ParserException(mark, "this key is no text");
    if (open_.size() == kMaxYamlDepth)
      throw YAML::ParserException(mark, "this is nested too deeply");
    open_.push_back(Place(mark, tag, anchor, std::move(value)));
  }

  const absl::string_view text_;
  std::map<std::string, int>* const lines_;
  // The containers around the next value. Their addresses stay valid, because a container does not
  // grow while one of its elements is open.
  std::vector<Json*> open_;
  Json* slot_ = nullptr;  // the value of the key that was read last; null in a map: a key is next
};

// A stream over the text that fails kMaxAhead bytes behind the builder's last event.
class Reader final : public std::stringbuf {
 public:
  Reader(absl::string_view text, const YamlBuilder& builder)
      : std::stringbuf(std::string(text), std::ios::in), builder_(builder) {}

 protected:
  std::streamsize xsgetn(char* to, std::streamsize n) override {
    if (gptr() - eback() > builder_.last.pos + static_cast<std::streamsize>(kMaxAhead)) {
      throw YAML::ParserException(builder_.last, "this value is too long");
    }
    return std::stringbuf::xsgetn(to, n);
  }

 private:
  const YamlBuilder& builder_;
};

absl::StatusOr<Json> Parse(absl::string_view text, const std::string& file,
                           std::map<std::string, int>* lines) {
  if (text.size() > kMaxBytes) return Invalid(file, ": larger than 16 MB; is it a YAML file?");
  if (text.find(kEnd) != absl::string_view::npos) {
    return Invalid(file, ": has a byte 4, which YAML does not allow; is it damaged?");
  }
  ReserveForJson(text.size());
  YamlBuilder builder(text, lines);
  try {
    Reader reader(text, builder);
    std::istream stream(&reader);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    return Invalid(file, ": line ", error.mark.line + 1, ": ", error.msg);
  }
  return std::move(builder.root);
}

}  // namespace

absl::StatusOr<Json> ParseYaml(absl::string_view text, const std::string& file) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  const absl::string_view stripped = absl::StripLeadingAsciiWhitespace(text);
  if (stripped.empty() || (stripped[0] != '{' && stripped[0] != '[')) {
    return Parse(text, file, nullptr);
  }
  // It is JSON, or in YAML's form that looks like it: {models: [m.npz]}. Errors are about JSON.
  auto json = ParseJson(text, file);
  if (!absl::IsInvalidArgument(json.status())) return json;  // it is JSON, perhaps a wrong one
  auto yaml = Parse(text, file, nullptr);
  return yaml.ok() ? std::move(yaml) : std::move(json);
}

absl::StatusOr<Json> ParseYamlText(absl::string_view text, const std::string& file,
                                   std::map<std::string, int>* lines) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  return Parse(text, file, lines);
}

}  // namespace nibu::internal
