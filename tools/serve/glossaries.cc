// Reads and writes the files of glossaries.

#include "tools/serve/glossaries.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

#include "absl/base/macros.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/new_file.h"

namespace nibu::internal {
namespace {

constexpr absl::string_view kEnding = ".tsv";
constexpr absl::string_view kName = "# name: ";
constexpr absl::string_view kLanguages = "# languages: ";

// Returns an id that nobody can guess, in the form of a UUID.
std::string NewId() {
  std::random_device random;
  const auto bits = [&] { return random() & 0xFFFFU; };
  return absl::StrFormat("%04x%04x-%04x-4%03x-%04x-%04x%04x%04x", bits(), bits(), bits(),
                         bits() & 0xFFFU, 0x8000U | (bits() & 0x3FFFU), bits(), bits(), bits());
}

absl::StatusOr<StoredGlossary> ReadFile(const std::string& id, const std::string& path) {
  struct stat status {};
  std::ifstream file(path, std::ios::binary);
  std::string text(Glossaries::kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stat(path.c_str(), &status) != 0 || !file.eof()) {
    return Invalid(path, ": cannot be read, or has more than ", Glossaries::kMostBytes, " bytes");
  }
  text.resize(static_cast<size_t>(file.gcount()));
  Terms terms;
  StoredGlossary glossary = {id, status.st_mtime, text.size(), nullptr};
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "#")) break;
    line = absl::StripTrailingAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, kName)) glossary.name = std::string(line);
    if (absl::ConsumePrefix(&line, kLanguages)) {
      const std::pair<std::string, std::string> languages =
          absl::StrSplit(line, absl::MaxSplits(' ', 1));
      terms.source = ShortLanguageCode(languages.first);
      terms.target = ShortLanguageCode(languages.second);
      if (terms.source.empty() || terms.target.empty()) {
        return Invalid(path, ": \"", line, "\" must be two languages, as in \"en de\"");
      }
    }
  }
  auto entries = ParseGlossary(text);
  if (!entries.ok()) return Invalid(path, ": ", entries.status().message());
  if (entries->size() > Glossaries::kMostEntries) {
    return Invalid(path, ": more than ", Glossaries::kMostEntries, " entries");
  }
  terms.glossary = *std::move(entries);
  // A file that has changed has another key, so that plans with the old terms are not used.
  terms.key = absl::StrCat(id, " ", std::hash<std::string>()(text), " ", text.size());
  glossary.terms = std::make_shared<const Terms>(std::move(terms));
  return glossary;
}

absl::StatusOr<std::map<std::string, StoredGlossary>> ReadFolder(const std::string& folder) {
  std::map<std::string, StoredGlossary> all;
  size_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    absl::string_view id = name;
    if (absl::StartsWith(name, ".") || !absl::ConsumeSuffix(&id, kEnding)) continue;
    NIBU_ASSIGN_OR_RETURN(StoredGlossary glossary,
                          ReadFile(std::string(id), file->path().string()));
    bytes += glossary.bytes;
    all[std::string(id)] = std::move(glossary);
    if (all.size() > Glossaries::kMostGlossaries || bytes > Glossaries::kMostBytesOfAll) {
      return Invalid(folder, ": more than ", Glossaries::kMostGlossaries, " glossaries or ",
                     Glossaries::kMostBytesOfAll, " bytes of them");
    }
  }
  if (error) return Invalid(folder, ": cannot be read: ", error.message());
  return all;
}

// Writes a file that is there whole or not at all.
absl::Status WriteFile(const std::string& path, const std::string& text) {
  PendingPath pending(path);
  NIBU_ASSIGN_OR_RETURN(const int descriptor, pending.Create());
  NewFile file(pending.path(), descriptor);
  NIBU_RETURN_IF_ERROR(file.Append(text));
  NIBU_RETURN_IF_ERROR(file.Sync());
  return pending.Commit();
}

}  // namespace

std::string GlossaryText(const std::vector<GlossaryEntry>& entries) {
  std::string text;
  for (const GlossaryEntry& entry : entries) {
    absl::StrAppend(&text, entry.source, "\t", entry.target, "\n");
  }
  return text;
}

absl::Status Glossaries::Open(const std::string& folder) {
  NIBU_ASSIGN_OR_RETURN(all_, ReadFolder(folder));
  folder_ = folder;
  for (const auto& [id, glossary] : all_) bytes_ += glossary.bytes;
  return absl::OkStatus();
}

void Glossaries::ReadAgain(std::function<void(absl::Status)> done) {
  thread_.Post([this, done = std::move(done), folder = folder_] {
    auto all = ReadFolder(folder);
    post_([this, done, all = std::move(all)]() mutable {
      const absl::Status status = all.status();
      if (status.ok()) {
        for (const auto& [id, glossary] : all_) bytes_ -= glossary.bytes;
        all_ = *std::move(all);
        for (const auto& [id, glossary] : all_) bytes_ += glossary.bytes;
      }
      done(status);
    });
  });
}

const StoredGlossary* Glossaries::Find(const std::string& id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second;
}

// An id is one of the keys of all_ or a new one, never a text that a client has sent.
std::string Glossaries::PathOf(const std::string& id) const {
  return absl::StrCat(folder_, "/", id, kEnding);
}

void Glossaries::Add(const std::string& name, Terms terms,
                     std::function<void(absl::StatusOr<std::string>)> done) {
  std::string text =
      absl::StrCat(kName, name, "\n", kLanguages, terms.source, " ", terms.target, "\n");
  for (const GlossaryEntry& entry : terms.glossary) {
    // A line that begins with "#" would be a comment.
    absl::StrAppend(&text, absl::StartsWith(entry.source, "#") ? " " : "", GlossaryText({entry}));
  }
  if (terms.glossary.size() > kMostEntries || text.size() > kMostBytes ||
      all_.size() + adding_ >= kMostGlossaries || bytes_ + text.size() > kMostBytesOfAll) {
    return done(absl::ResourceExhaustedError(absl::StrCat(
        "Quota exceeded: at most ", kMostGlossaries, " glossaries of ", kMostEntries,
        " entries and ", kMostBytes, " bytes each, and ", kMostBytesOfAll, " bytes in all")));
  }
  bytes_ += text.size();
  ++adding_;
  const std::string id = NewId();
  thread_.Post([this, id, path = PathOf(id), text = std::move(text), done = std::move(done)] {
    const absl::Status written = WriteFile(path, text);
    auto glossary = written.ok() ? ReadFile(id, path) : written;
    post_([this, id, done, size = text.size(), glossary = std::move(glossary)]() mutable {
      --adding_;
      if (!glossary.ok()) {
        bytes_ -= size;
        return done(glossary.status());
      }
      all_[id] = *std::move(glossary);
      done(id);
    });
  });
}

void Glossaries::Delete(const std::string& id, std::function<void(absl::Status)> done) {
  ABSL_ASSERT(Find(id) != nullptr);
  thread_.Post([this, id, path = PathOf(id), done = std::move(done)] {
    const bool is_gone = unlink(path.c_str()) == 0 || errno == ENOENT;
    const absl::Status status =
        is_gone ? absl::OkStatus()
                : absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
    post_([this, id, done, status] {
      if (const auto found = all_.find(id); status.ok() && found != all_.end()) {
        bytes_ -= found->second.bytes;
        all_.erase(found);
      }
      done(status);
    });
  });
}

}  // namespace nibu::internal
