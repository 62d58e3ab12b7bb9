// Appends and reads lists of u32 values.
#include "models/native/native_parts.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/core/status_macros.h"
#include "models/files/byte_reader.h"

namespace nibu::internal {
namespace {

void Append(uint32_t value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
void AppendList(const std::vector<T>& values, std::string* bytes) {
  Append(static_cast<uint32_t>(values.size()), bytes);
  for (const T value : values) Append(static_cast<uint32_t>(value), bytes);
}

// Reads a list whose values must be below `limit`.
template <typename T>
absl::StatusOr<std::vector<T>> ReadList(uint64_t limit, ByteReader* reader) {
  const auto n = reader->Read<uint32_t>();
  const absl::string_view data = reader->ReadBytes(uint64_t{n} * sizeof(uint32_t));
  if (!reader->ok()) return absl::InvalidArgumentError("the shortlist ends too early");
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) {
    uint32_t value = 0;
    std::memcpy(&value, data.data() + i * sizeof(value), sizeof(value));
    if (value >= limit) return absl::InvalidArgumentError("the shortlist has an unknown token");
    values[i] = static_cast<T>(value);
  }
  return values;
}

}  // namespace

std::string EncodeTokens(const std::vector<std::string>& tokens) {
  std::string bytes;
  Append(static_cast<uint32_t>(tokens.size()), &bytes);
  for (const std::string& token : tokens) Append(static_cast<uint32_t>(token.size()), &bytes);
  for (const std::string& token : tokens) bytes.append(token);
  return bytes;
}

absl::StatusOr<std::vector<std::string>> DecodeTokens(absl::string_view bytes) {
  ByteReader reader(bytes);
  const auto n = reader.Read<uint32_t>();
  ByteReader sizes(reader.ReadBytes(uint64_t{n} * sizeof(uint32_t)));
  if (!reader.ok()) return absl::InvalidArgumentError("the vocabulary ends too early");
  std::vector<std::string> tokens(n);
  for (std::string& token : tokens) token = std::string(reader.ReadBytes(sizes.Read<uint32_t>()));
  if (!reader.ok() || reader.remaining() > 0) {
    return absl::InvalidArgumentError("the vocabulary's sizes are wrong");
  }
  return tokens;
}

std::string EncodeShortlist(const Shortlist& shortlist) {
  std::string bytes;
  Append(static_cast<uint32_t>(shortlist.first), &bytes);
  Append(shortlist.copy_source ? 1 : 0, &bytes);
  AppendList(shortlist.always, &bytes);
  AppendList(shortlist.offsets, &bytes);
  AppendList(shortlist.ids, &bytes);
  std::vector<std::pair<std::vector<int>, std::vector<int>>> phrases(shortlist.phrases.begin(),
                                                                     shortlist.phrases.end());
  std::sort(phrases.begin(), phrases.end());
  Append(static_cast<uint32_t>(phrases.size()), &bytes);
  for (const auto& [source, targets] : phrases) {
    AppendList(source, &bytes);
    AppendList(targets, &bytes);
  }
  return bytes;
}

absl::StatusOr<std::shared_ptr<const Shortlist>> DecodeShortlist(absl::string_view bytes,
                                                                 const ModelConfig& config) {
  const auto sources = static_cast<uint64_t>(config.vocab_source);
  const auto targets = static_cast<uint64_t>(config.vocab_target);
  ByteReader reader(bytes);
  auto shortlist = std::make_shared<Shortlist>();
  const auto first = reader.Read<uint32_t>();
  const auto copy_source = reader.Read<uint32_t>();
  if (first > targets || copy_source > 1) {
    return absl::InvalidArgumentError("the shortlist makes no sense");
  }
  shortlist->first = static_cast<int>(first);
  shortlist->copy_source = copy_source == 1;
  NIBU_ASSIGN_OR_RETURN(shortlist->always, ReadList<int>(targets, &reader));
  NIBU_ASSIGN_OR_RETURN(shortlist->offsets, ReadList<uint32_t>(uint64_t{1} << 32, &reader));
  NIBU_ASSIGN_OR_RETURN(shortlist->ids, ReadList<int>(targets, &reader));
  const std::vector<uint32_t>& offsets = shortlist->offsets;
  if (!offsets.empty() &&
      (offsets.size() != sources + 1 || !std::is_sorted(offsets.begin(), offsets.end()) ||
       offsets.back() > shortlist->ids.size())) {
    return absl::InvalidArgumentError("the shortlist's offsets make no sense");
  }
  const auto phrases = reader.Read<uint32_t>();
  for (uint32_t i = 0; i < phrases; ++i) {
    NIBU_ASSIGN_OR_RETURN(std::vector<int> source, ReadList<int>(sources, &reader));
    NIBU_ASSIGN_OR_RETURN(std::vector<int> target, ReadList<int>(targets, &reader));
    shortlist->longest_phrase =
        std::max(shortlist->longest_phrase, static_cast<int>(source.size()));
    shortlist->phrases[std::move(source)] = std::move(target);
  }
  if (!reader.ok() || reader.remaining() > 0) {
    return absl::InvalidArgumentError("the shortlist has another size than it says");
  }
  return std::shared_ptr<const Shortlist>(std::move(shortlist));
}

}  // namespace nibu::internal
