// The glossaries of --glossaries: files in a folder, which clients may add and delete.
#ifndef NIBU_TOOLS_SERVE_GLOSSARIES_H_
#define NIBU_TOOLS_SERVE_GLOSSARIES_H_

#include <cstddef>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/serve/model_store.h"
#include "tools/serve/work_thread.h"

namespace nibu::internal {

// A glossary of the folder. Its id is the name of its file without ".tsv".
struct StoredGlossary {
  std::string name;
  std::time_t created = 0;
  size_t bytes = 0;
  std::shared_ptr<const Terms> terms;

  // Clients see, and may delete, only those that have languages. The others are the operator's.
  bool has_languages() const { return !terms->source.empty(); }
};

// Has the folder's glossaries in memory. Used by the network's thread, which never waits for the
// disk: a thread of its own does, and posts the results. Each file is a glossary as nibu-translate
// reads it ("SOURCE<tab>TARGET" in each line), which may begin with comments that say more:
//
//   # name: Animals
//   # languages: en de
//
// Files are written beside their names and renamed, so that they are there whole or not at all.
class Glossaries {
 public:
  // The bounds of one glossary, and of all.
  static constexpr size_t kMostBytes = size_t{1} << 20;
  static constexpr size_t kMostEntries = 10'000;
  static constexpr size_t kMostGlossaries = 1000;
  static constexpr size_t kMostBytesOfAll = size_t{64} << 20;

  // `post` hands a task to the network's thread.
  explicit Glossaries(std::function<void(std::function<void()>)> post) : post_(std::move(post)) {}

  // Reads the folder, and waits for it; for the start. Returns an error if it, or a file in it,
  // cannot be read or makes no sense.
  absl::Status Open(const std::string& folder);
  // Reads the folder again, which becomes visible later. `done` gets the error, after which all
  // stays as it was.
  void ReadAgain(std::function<void(absl::Status)> done);

  bool is_open() const { return !folder_.empty(); }
  // Returns the glossary with this id, or null.
  const StoredGlossary* Find(const std::string& id) const;
  const std::map<std::string, StoredGlossary>& all() const { return all_; }

  // Adds a glossary of these terms, whose key does not count. `done` is called with its id, later
  // unless there is an error.
  // ResourceExhausted: there are too many, or it is too large. Unavailable: it cannot be written.
  void Add(const std::string& name, Terms terms,
           std::function<void(absl::StatusOr<std::string>)> done);
  // Deletes a glossary. `done` is called later. REQUIRES: Find(id) is not null.
  void Delete(const std::string& id, std::function<void(absl::Status)> done);

  // Ends the thread. Files that wait to be written are not written.
  void Stop() { thread_.Stop(); }

 private:
  std::string PathOf(const std::string& id) const;

  const std::function<void(std::function<void()>)> post_;
  std::string folder_;
  std::map<std::string, StoredGlossary> all_;
  size_t bytes_ = 0;   // those of all_, and of the ones that are being written
  size_t adding_ = 0;  // number of those that are being written
  WorkThread thread_;
};

// Returns the text of a glossary's entries: "SOURCE<tab>TARGET" in each line.
std::string GlossaryText(const std::vector<GlossaryEntry>& entries);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_GLOSSARIES_H_
