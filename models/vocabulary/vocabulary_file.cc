// Checks lists of tokens, and reads SentencePiece's protocol buffers.
#include "models/vocabulary/vocabulary_file.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "engine/core/wire_format.h"
#include "models/files/file_bytes.h"
#include "models/files/foreign.h"

namespace nibu::internal {

absl::Status WrongVocabularySize(const std::string& file, size_t found, int expected,
                                 absl::string_view where) {
  return Invalid(file, ": ", found, " tokens, expected ", expected, ", the size in ", where,
                 "; vocabulary and model do not belong together");
}

std::string UnusedToken(size_t id) { return absl::StrCat("<unused ", id, ">"); }

absl::StatusOr<std::vector<std::string>> TokensById(const nlohmann::json& json,
                                                    const std::string& file, int size,
                                                    absl::string_view where, bool may_be_padded) {
  if (!json.is_object()) {
    return Invalid(file, ": not an object of token: id");
  }
  // Padding makes sizes round, or leaves room for fine-tuning. A table of more than twice the size
  // is another vocabulary's.
  constexpr size_t kSmall = 1024;
  const size_t most = may_be_padded ? json.size() + std::max(json.size(), kSmall) : json.size();
  const auto rows = static_cast<size_t>(std::max(size, 0));
  if (size < 0 || json.size() > rows || rows > most) {
    return WrongVocabularySize(file, json.size(), size, where);
  }
  std::vector<std::string> tokens(static_cast<size_t>(size));
  std::vector<bool> seen(static_cast<size_t>(size), false);
  for (const auto& [token, id] : json.items()) {
    if (!id.is_number_integer() || id < 0 || id >= size) {
      return Invalid(file, ": the id of token \"", token, "\" is not a number from 0 to ",
                     size - 1);
    }
    const auto i = id.get<size_t>();
    if (i >= json.size()) return WrongVocabularySize(file, json.size(), size, where);  // a gap
    if (seen[i]) {
      return Invalid(file, ": id ", i, " belongs to both \"", tokens[i], "\" and \"", token, "\"");
    }
    seen[i] = true;
    tokens[i] = token;
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!seen[i]) tokens[i] = UnusedToken(i);
  }
  return tokens;
}

absl::StatusOr<std::vector<std::string>> ReadTokenLines(absl::string_view text,
                                                        const std::string& file) {
  std::vector<std::string> tokens;
  std::unordered_set<absl::string_view, absl::Hash<absl::string_view>> seen;
  absl::ConsumeSuffix(&text, "\n");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    const size_t number = tokens.size() + 1;
    if (line.empty()) return Invalid(file, ": line ", number, " has no token");
    if (!seen.insert(line).second) {
      return Invalid(file, ": line ", number, " has \"", line, "\" for the second time");
    }
    tokens.emplace_back(line);
  }
  return tokens;
}

absl::StatusOr<int> FindToken(const std::vector<std::string>& tokens, const std::string& token,
                              const std::string& file) {
  const auto it = std::find(tokens.begin(), tokens.end(), token);
  if (it == tokens.end()) {
    return Invalid(file, ": the token \"", token, "\" is missing");
  }
  return static_cast<int>(it - tokens.begin());
}

std::vector<ModelLanguages::Language> LanguageTokens(const std::vector<std::string>& tokens) {
  std::vector<ModelLanguages::Language> languages;
  for (size_t id = 0; id < tokens.size(); ++id) {
    absl::string_view code = tokens[id];
    const bool is_token = absl::ConsumePrefix(&code, ">>")
                              ? absl::ConsumeSuffix(&code, "<<")
                              : absl::ConsumePrefix(&code, "<2") && absl::ConsumeSuffix(&code, ">");
    if (!is_token || code.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(code[0])))
      continue;
    languages.push_back({std::string(code), static_cast<int>(id)});
  }
  std::sort(languages.begin(), languages.end(),
            [](const auto& a, const auto& b) { return a.code < b.code; });
  return languages;
}

absl::StatusOr<std::vector<std::string>> ReadSentencePieces(absl::string_view bytes,
                                                            const std::string& file) {
  std::vector<std::string> pieces;
  const bool whole = EachField(bytes, [&](const WireField& field) {
    if (field.number != 1) return true;
    bool has_text = false;
    return field.is_bytes &&
           EachField(field.bytes,
                     [&](const WireField& part) {
                       if (part.number != 1 || !part.is_bytes || has_text) return true;
                       has_text = true;
                       pieces.emplace_back(part.bytes);
                       return true;
                     }) &&
           has_text;
  });
  if (whole && !pieces.empty()) return pieces;
  NIBU_RETURN_IF_ERROR(RefuseForeignFile(file, bytes));
  if (BeginsLikeText(bytes)) {
    return Invalid(file,
                   ": a text, such as a list of tokens, and no SentencePiece model; give the ",
                   "model (*.spm, *.model) that belongs to it");
  }
  return Invalid(file, ": not a whole SentencePiece model; download it again");
}

absl::StatusOr<bool> TakeSentencePieces(const Folder& folder, const char* source,
                                        const char* target, ModelVocabulary* vocabulary) {
  std::string pieces[2];
  for (const auto& [name, bytes] : {std::pair(source, &pieces[0]), {target, &pieces[1]}}) {
    const auto file = folder.Open(name);
    if (absl::IsNotFound(file.status())) return false;
    NIBU_RETURN_IF_ERROR(file.status());
    NIBU_RETURN_IF_ERROR(RefuseForeignFile((*file)->path(), (*file)->bytes()));
    *bytes = std::string((*file)->bytes());
  }
  vocabulary->source_sentencepiece = std::move(pieces[0]);
  vocabulary->target_sentencepiece = std::move(pieces[1]);
  return true;
}

}  // namespace nibu::internal
