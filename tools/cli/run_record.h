// What a kept part of an output says of the run that made it, so that a later run can go on.
#ifndef NIBU_TOOLS_CLI_RUN_RECORD_H_
#define NIBU_TOOLS_CLI_RUN_RECORD_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nibu/model.h"
#include "nlohmann/json.hpp"
#include "tools/cli/flags.h"

namespace nibu::internal {

// Returns all that the output of a program depends on: its version, a checksum of the input `src`,
// checksums and defaults of the models, and the options that are not as they were built in, by
// name. Options that say where output goes, what is reported and how fast the program is are left
// out. Unavailable names a file that cannot be read.
absl::StatusOr<nlohmann::ordered_json> DescribeRun(const ProgramInfo& program,
                                                   const ModelInfo& model, const std::string& src);

// How much of an output is finished.
struct Finished {
  uint64_t units = 0;
  uint64_t bytes = 0;         // of the output
  uint64_t failed = 0;        // units that could not be translated
  uint64_t first_failed = 0;  // the line in which the first one of them begins, from 0
};

// The file OUT.part.json beside the kept output OUT.part. Not thread-safe.
class RunRecord {
 public:
  // `path`: that of the record. `part`: the name of the output, for messages.
  RunRecord(std::string path, std::string part, nlohmann::ordered_json run)
      : path_(std::move(path)), part_(std::move(part)), run_(std::move(run)) {}
  ~RunRecord();
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  // Returns what an earlier run has finished. FailedPrecondition: there is no such file, or it is
  // none of a run. With `must_fit`, it is one, too, if the run was another one; the message names
  // what differs.
  absl::StatusOr<Finished> Read(bool must_fit) const;
  // Writes the file anew at the first call, and then only the numbers, which takes no more room on
  // a full disk. Unavailable names the file.
  absl::Status Write(const Finished& finished);
  void Remove() const;

 private:
  const std::string path_;
  const std::string part_;
  const nlohmann::ordered_json run_;
  int fd_ = -1;
};

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_CLI_RUN_RECORD_H_
