// Reads each of the three formats into a Shortlist; the header describes them.
#include "models/vocabulary/shortlist_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/byte_reader.h"
#include "models/files/gzip.h"
#include "models/files/zip.h"

namespace nibu::internal {
namespace {

constexpr uint64_t kMagic = 0xF11A48D5013417F5;
constexpr size_t kMaxLine = 1 << 20;  // bytes of a line in a compressed file

absl::Status Damaged(const FileBytes& file, absl::string_view what) {
  return Invalid(file.path(), ": not a whole shortlist: ", what, "; download it again");
}

absl::Status Foreign(const FileBytes& file, absl::string_view what) {
  return Invalid(file.path(), ": a shortlist of another model: ", what,
                 "; give the one that came with the model, or none for all tokens");
}

uint64_t Checksum(absl::string_view bytes) {
  uint64_t h = 0;
  ByteReader reader(bytes);
  while (reader.remaining() >= sizeof(uint64_t)) {
    h ^= reader.Read<uint64_t>() + 0x9e3779b9 + (h << 6) + (h >> 2);
  }
  return h;
}

absl::StatusOr<Shortlist> ReadBinary(const FileBytes& file, size_t source_size,
                                     size_t target_size) {
  ByteReader reader(file.bytes());
  reader.Read<uint64_t>();
  const auto checksum = reader.Read<uint64_t>();
  if (!reader.ok() || Checksum(reader.rest()) != checksum) {
    return Damaged(file, "its checksum is wrong");
  }
  const auto first = reader.Read<uint64_t>();
  reader.Read<uint64_t>();  // best: the lists have been cut already
  const auto offsets = reader.Read<uint64_t>();
  const auto ids = reader.Read<uint64_t>();
  if (!reader.ok() || offsets > reader.remaining() / 8 ||
      ids != (reader.remaining() - offsets * 8) / 4 || ids > UINT32_MAX ||
      (reader.remaining() - offsets * 8) % 4 != 0) {
    return Damaged(file, "its lists do not fit into it");
  }
  if (offsets != source_size + 1 || first > target_size) {
    return Foreign(file, absl::StrCat("it is for ", offsets - 1, " source tokens, the model has ",
                                      source_size));
  }
  Shortlist shortlist;
  shortlist.first = static_cast<int>(first);
  shortlist.offsets.reserve(offsets);
  uint64_t last = 0;
  for (uint64_t i = 0; i < offsets; ++i) {
    const auto offset = reader.Read<uint64_t>();
    if (offset < last || offset > ids) return Damaged(file, "its offsets are not in order");
    shortlist.offsets.push_back(static_cast<uint32_t>(offset));
    last = offset;
  }
  shortlist.ids.reserve(ids);
  for (uint64_t i = 0; i < ids; ++i) {
    const auto id = reader.Read<uint32_t>();
    if (id >= target_size) return Foreign(file, absl::StrCat("no target token has the id ", id));
    shortlist.ids.push_back(static_cast<int>(id));
  }
  return shortlist;
}

// Passes the lines of a text, perhaps compressed by gzip, to `use` until it returns an error.
absl::Status ForEachLine(const FileBytes& file,
                         const std::function<absl::Status(absl::string_view)>& use) {
  const absl::string_view bytes = file.bytes();
  if (!IsGzip(bytes)) {
    for (const absl::string_view line : absl::StrSplit(bytes, '\n'))
      NIBU_RETURN_IF_ERROR(use(line));
    return absl::OkStatus();
  }
  std::string text;  // the beginning of a line whose end is not inflated yet
  absl::Status status;
  const bool whole = Inflate(bytes, 16 + MAX_WBITS, [&](absl::string_view piece) {
    absl::StrAppend(&text, piece);
    size_t begin = 0;
    for (size_t end = 0; status.ok() && (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      status = use(absl::string_view(text).substr(begin, end - begin));
    }
    text.erase(0, begin);
    if (text.size() > kMaxLine) status.Update(Damaged(file, "a line is too long"));
    return status.ok();
  });
  NIBU_RETURN_IF_ERROR(status);
  return whole ? use(text) : Damaged(file, "it cannot be inflated");
}

using TokenIds = std::unordered_map<absl::string_view, int, absl::Hash<absl::string_view>>;

TokenIds IdsOf(const std::vector<std::string>& tokens) {
  TokenIds ids;
  ids.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) ids.emplace(tokens[i], static_cast<int>(i));
  return ids;
}

constexpr char kBlanks[] = " \t\r";

bool IsProbability(absl::string_view text, float* value) {
  return absl::SimpleAtof(text, value) && *value >= 0.0f && *value <= 1.0f;
}

// Returns true if the text is a vmap.txt, whose lines have a tab. Marian's text form may have tabs,
// too, as it separates its fields by any blanks; but each of its lines is two tokens and a
// probability. A few lines tell them apart.
bool IsVmap(absl::string_view bytes) {
  if (!absl::StrContains(bytes.substr(0, bytes.find('\n')), '\t')) return false;
  constexpr int kLines = 20;
  int n = 0;
  for (const absl::string_view line : absl::StrSplit(bytes, '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::ByAnyChar(kBlanks), absl::SkipEmpty());
    float probability = 0;
    if (!parts.empty() && (parts.size() != 3 || !IsProbability(parts[2], &probability)))
      return true;
    if (++n == kLines) break;
  }
  return false;
}

struct Translation {
  int target;
  float probability;
};

// Keeps the `best` most probable translations, the most probable first. Of equally probable ones,
// the lower id comes first.
void KeepBest(size_t best, std::vector<Translation>* translations) {
  std::sort(
      translations->begin(), translations->end(), [](const Translation& a, const Translation& b) {
        return a.probability != b.probability ? a.probability > b.probability : a.target < b.target;
      });
  if (translations->size() > best) translations->resize(best);
}

absl::StatusOr<Shortlist> ReadLexical(const FileBytes& file, const ModelVocabulary& vocabulary,
                                      const LexicalLimits& limits) {
  const TokenIds sources = IdsOf(vocabulary.source_tokens);
  const TokenIds targets = IdsOf(vocabulary.target_tokens);
  const auto best = static_cast<size_t>(std::max(limits.best, 0));
  std::vector<std::vector<Translation>> table(vocabulary.source_tokens.size());
  size_t number = 0;
  size_t known = 0;
  NIBU_RETURN_IF_ERROR(ForEachLine(file, [&](absl::string_view line) -> absl::Status {
    ++number;
    if (line.empty()) return absl::OkStatus();
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::ByAnyChar(kBlanks), absl::SkipEmpty());
    float probability = 0;
    if (parts.size() != 3 || !IsProbability(parts[2], &probability)) {
      return Invalid(file.path(), ": line ", number, " is not \"target source probability\"");
    }
    const auto target = targets.find(parts[0]);
    const auto source = sources.find(parts[1]);
    if (target == targets.end() || source == sources.end()) return absl::OkStatus();
    ++known;
    if (probability <= limits.threshold) return absl::OkStatus();
    std::vector<Translation>& row = table[static_cast<size_t>(source->second)];
    row.push_back({target->second, probability});
    if (row.size() > 4 * best + 64) KeepBest(best, &row);  // bounds the memory
    return absl::OkStatus();
  }));
  if (known == 0) return Foreign(file, "the vocabulary has none of its tokens");
  Shortlist shortlist;
  shortlist.first = std::clamp(limits.first, 0, static_cast<int>(vocabulary.target_tokens.size()));
  for (std::vector<Translation>& row : table) {
    shortlist.offsets.push_back(static_cast<uint32_t>(shortlist.ids.size()));
    KeepBest(best, &row);
    for (const Translation& translation : row) shortlist.ids.push_back(translation.target);
  }
  shortlist.offsets.push_back(static_cast<uint32_t>(shortlist.ids.size()));
  return shortlist;
}

absl::StatusOr<Shortlist> ReadVmap(const FileBytes& file, const ModelVocabulary& vocabulary) {
  const TokenIds sources = IdsOf(vocabulary.source_tokens);
  const TokenIds targets = IdsOf(vocabulary.target_tokens);
  Shortlist shortlist;
  size_t number = 0;
  size_t known = 0;
  NIBU_RETURN_IF_ERROR(ForEachLine(file, [&](absl::string_view line) -> absl::Status {
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) return absl::OkStatus();
    const std::vector<absl::string_view> sides = absl::StrSplit(line, '\t');
    if (sides.size() != 2) {
      return Invalid(file.path(), ": line ", number, " is not \"source<TAB>targets\"");
    }
    std::vector<int> phrase;
    for (const absl::string_view token : absl::StrSplit(sides[0], ' ', absl::SkipEmpty())) {
      const auto it = sources.find(token);
      if (it == sources.end()) return absl::OkStatus();
      phrase.push_back(it->second);
    }
    std::vector<int> candidates;
    for (const absl::string_view token : absl::StrSplit(sides[1], ' ', absl::SkipEmpty())) {
      const auto it = targets.find(token);
      if (it != targets.end()) candidates.push_back(it->second);
    }
    if (!candidates.empty()) ++known;
    std::vector<int>& list = phrase.empty() ? shortlist.always : shortlist.phrases[phrase];
    list.insert(list.end(), candidates.begin(), candidates.end());
    shortlist.longest_phrase = std::max(shortlist.longest_phrase, static_cast<int>(phrase.size()));
    return absl::OkStatus();
  }));
  if (known == 0) return Foreign(file, "the vocabulary has none of its tokens");
  return shortlist;
}

}  // namespace

bool IsBinaryShortlist(absl::string_view bytes) {
  return ByteReader(bytes).Read<uint64_t>() == kMagic;
}

absl::StatusOr<std::shared_ptr<const Shortlist>> ReadShortlist(const FileBytes& file,
                                                               const ModelVocabulary& vocabulary,
                                                               const LexicalLimits& limits) {
  const absl::string_view bytes = file.bytes();
  if (IsGzip(bytes) && IsBinaryShortlist(FrontOf(bytes, sizeof(kMagic)))) {
    NIBU_ASSIGN_OR_RETURN(std::string inflated, InflateFile(file));
    return ReadShortlist(*FileBytes::InMemory(file.path(), std::move(inflated)), vocabulary,
                         limits);
  }
  const bool is_binary = IsBinaryShortlist(bytes);
  const bool is_vmap = !is_binary && IsVmap(bytes);
  NIBU_ASSIGN_OR_RETURN(
      Shortlist shortlist,
      is_binary ? ReadBinary(file, vocabulary.source_tokens.size(), vocabulary.target_tokens.size())
      : is_vmap ? ReadVmap(file, vocabulary)
                : ReadLexical(file, vocabulary, limits));
  shortlist.copy_source = !is_vmap && vocabulary.source_tokens == vocabulary.target_tokens;
  return std::make_shared<const Shortlist>(std::move(shortlist));
}

}  // namespace nibu::internal
