// Collects added tokens from the files that may have them.
#include "models/vocabulary/added_tokens.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/file_bytes.h"
#include "models/vocabulary/vocabulary_file.h"

namespace nibu::internal {
namespace {

using Json = nlohmann::json;

constexpr char kTokenizerConfig[] = "tokenizer_config.json";

// The rules and their names in the files.
constexpr std::pair<const char*, bool AddedToken::*> kRules[] = {
    {"special", &AddedToken::special},
    {"lstrip", &AddedToken::lstrip},
    {"rstrip", &AddedToken::rstrip},
    {"single_word", &AddedToken::single_word},
    {"normalized", &AddedToken::normalized}};

// Reads a list [{"content": token, "id": id}, ...] or an object {id: {"content": token}, ...}.
absl::StatusOr<std::vector<ListedToken>> ReadList(const Json& tokens, Json::value_t form,
                                                  const std::string& file, absl::string_view key) {
  const absl::Status wrong =
      Invalid(file, ": \"", key, "\" is not a list of tokens with their ids");
  if (tokens.type() != form) return wrong;
  std::vector<ListedToken> listed;
  for (const auto& [name, token] : tokens.items()) {
    const std::string* const content = TokenContent(token);
    if (content == nullptr || !token.is_object()) return wrong;
    ListedToken& added = listed.emplace_back(ListedToken{file, *content, {}});
    NIBU_ASSIGN_OR_RETURN(const ConfigFile object, ConfigFile::From(token, file));
    if (form == Json::value_t::array) {
      NIBU_ASSIGN_OR_RETURN(added.rules.token, object.Int("id", -1));
    } else if (!absl::SimpleAtoi(name, &added.rules.token)) {
      return wrong;
    }
    for (const auto& [rule, field] : kRules) {
      NIBU_ASSIGN_OR_RETURN(added.rules.*field, object.Bool(rule, added.rules.*field));
    }
  }
  return listed;
}

// Adds the names of the tokens in the files' fields, each of which has a token or a list of tokens.
absl::Status AddNames(const std::string& directory, std::initializer_list<const char*> keys,
                      std::set<std::string>* names) {
  for (const char* const name : {kTokenizerConfig, "special_tokens_map.json"}) {
    NIBU_ASSIGN_OR_RETURN(const ConfigFile file,
                          ConfigFile::OpenOptional(absl::StrCat(directory, "/", name)));
    for (const char* const key : keys) {
      const Json* const value = file.Find(key);
      if (value == nullptr) continue;
      for (const Json& token : value->is_array() ? *value : Json::array({*value})) {
        if (const std::string* const content = TokenContent(token)) names->insert(*content);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

const std::string* TokenContent(const Json& token) {
  if (token.is_string()) return token.get_ptr<const std::string*>();
  if (!token.is_object()) return nullptr;
  const auto content = token.find("content");
  return content == token.end() ? nullptr : content->get_ptr<const std::string*>();
}

absl::StatusOr<std::vector<ListedToken>> ReadAddedTokensDecoder(const ConfigFile& config) {
  const char* const key = "added_tokens_decoder";
  const Json* const added = config.Find(key);
  if (added == nullptr) return std::vector<ListedToken>();
  return ReadList(*added, Json::value_t::object, config.file(), key);
}

Json AddedTokensDecoder(const ModelVocabulary& vocabulary) {
  Json decoder = Json::object();
  for (const AddedToken& added : vocabulary.added_tokens) {
    Json& token = decoder[absl::StrCat(added.token)];
    token["content"] = vocabulary.source_tokens[static_cast<size_t>(added.token)];
    for (const auto& [rule, field] : kRules) token[rule] = added.*field;
  }
  return decoder;
}

absl::StatusOr<std::vector<ListedToken>> ReadAddedTokens(const std::string& directory) {
  std::vector<ListedToken> listed;
  const auto file = FileBytes::Open(absl::StrCat(directory, "/tokenizer.json"));
  if (file.ok()) {
    const char* const key = "added_tokens";
    NIBU_ASSIGN_OR_RETURN(const Json added,
                          ParseJsonMember((*file)->bytes(), (*file)->path(), key));
    if (!added.is_null()) {
      NIBU_ASSIGN_OR_RETURN(listed, ReadList(added, Json::value_t::array, (*file)->path(), key));
    }
  } else if (!absl::IsNotFound(file.status())) {
    return file.status();
  }
  NIBU_ASSIGN_OR_RETURN(const ConfigFile config,
                        ConfigFile::OpenOptional(absl::StrCat(directory, "/", kTokenizerConfig)));
  NIBU_ASSIGN_OR_RETURN(const auto decoder, ReadAddedTokensDecoder(config));
  listed.insert(listed.end(), decoder.begin(), decoder.end());
  NIBU_ASSIGN_OR_RETURN(const ConfigFile old,
                        ConfigFile::OpenOptional(absl::StrCat(directory, "/added_tokens.json")));
  std::set<std::string> special;
  if (!old.object().empty()) {
    NIBU_RETURN_IF_ERROR(AddNames(directory, {"additional_special_tokens"}, &special));
  }
  for (const auto& [content, id] : old.object().items()) {
    ListedToken& added = listed.emplace_back(ListedToken{old.file(), content, {}});
    NIBU_ASSIGN_OR_RETURN(added.rules.token, old.Int(content, -1));
    added.rules.special = special.count(content) > 0;
    added.rules.normalized = !added.rules.special;
  }
  return listed;
}

absl::Status AddTokensOfFiles(const std::string& directory, OpenedModel* model) {
  NIBU_ASSIGN_OR_RETURN(const std::vector<ListedToken> listed, ReadAddedTokens(directory));
  if (listed.empty()) return absl::OkStatus();
  std::set<std::string> frame = {"<s>", "</s>", "<pad>", "<unk>"};
  NIBU_RETURN_IF_ERROR(AddNames(
      directory, {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token"},
      &frame));
  ModelVocabulary& vocabulary = model->vocabulary;
  const bool is_shared = vocabulary.target_tokens == vocabulary.source_tokens;
  std::set<int> taken;  // the ids of languages, and of the tokens that are added
  for (const auto& language : vocabulary.languages.languages) taken.insert(language.token);
  for (const ListedToken& token : listed) {
    const auto id = static_cast<size_t>(token.rules.token);
    if (token.rules.token < 0 || id >= vocabulary.source_tokens.size() || token.text.empty() ||
        frame.count(token.text) > 0) {
      continue;
    }
    std::string& name = vocabulary.source_tokens[id];
    const bool is_unused = name == UnusedToken(id);
    if ((name != token.text && !is_unused) || !taken.insert(token.rules.token).second) continue;
    if (is_unused) {
      name = token.text;
      if (is_shared) vocabulary.target_tokens[id] = token.text;
    }
    if (!LanguageTokens({token.text}).empty()) {
      // It is put in front of a text. SentencePiece does not know it, but may know others, as that
      // of MADLAD-400 does: such models have it in the text.
      if (is_unused && token.text[0] == '<') vocabulary.added_tokens.push_back(token.rules);
      continue;
    }
    if (is_unused) {
      // The list has the id once because it had no name, and again if a configuration forbids it.
      std::vector<int>& suppressed = model->config.suppressed;
      const auto once = std::find(suppressed.begin(), suppressed.end(), token.rules.token);
      if (once != suppressed.end()) suppressed.erase(once);
    }
    vocabulary.added_tokens.push_back(token.rules);
  }
  return absl::OkStatus();
}

}  // namespace nibu::internal
