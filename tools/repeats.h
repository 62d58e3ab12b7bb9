#ifndef NIBU_TOOLS_REPEATS_H_
#define NIBU_TOOLS_REPEATS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/text/text_options.h"

namespace nibu {

// Lines that come again before the first of them is written: they are translated once. Thread-safe.
class Repeats {
 public:
  using Result = absl::StatusOr<TextResult>;
  using Done = std::function<void(uint64_t index, const Result& result)>;

  // `done` gets the result of this line, perhaps at once, on any thread. The caller translates the
  // line, and hands the result to what is returned; or it is null: an equal line's result is
  // awaited, or known. `key`: all that the result depends on. Call it in the order of indices.
  std::function<void(uint64_t, Result)> Add(const std::string& key, uint64_t index, Done done);
  // Lets go of lines of a lower index, which are done.
  void Forget(uint64_t index);

 private:
  struct Entry {
    std::vector<std::pair<uint64_t, Done>> waiting;
    std::shared_ptr<const Result> result;
    size_t lines = 0;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  // The lines that have one, in order; elements of a map stay where they are.
  std::deque<std::pair<uint64_t, std::pair<const std::string, Entry>*>> lines_;
};

}  // namespace nibu

#endif  // NIBU_TOOLS_REPEATS_H_
