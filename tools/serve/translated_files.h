// Translates files, and keeps the translations until they are downloaded.
#ifndef NIBU_TOOLS_SERVE_TRANSLATED_FILES_H_
#define NIBU_TOOLS_SERVE_TRANSLATED_FILES_H_

#include <cstddef>
#include <deque>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/serve/http.h"
#include "tools/serve/parameters.h"
#include "tools/serve/translate_request.h"

namespace nibu::internal {

// Holds the last files that were translated. Used by one thread.
class TranslatedFiles {
 public:
  // The newest file is kept however large it is; the oldest ones go first.
  static constexpr size_t kMostBytes = size_t{16} << 20;
  // A file takes at most so many bytes beside its content. Counting them keeps the files below
  // 16,384, however small they are.
  static constexpr size_t kBytesOfAFile = 1024;

  // Keeps a file, and returns the name under which it can be downloaded. Nobody can guess it.
  // `file_name`: that of the file on the client's side.
  std::string Add(const std::string& file_name, std::string content);
  // Answers /download_file/NAME.
  HttpAnswer Download(absl::string_view name) const;

 private:
  struct File {
    std::string name;
    std::string content;
  };
  std::deque<File> files_;
  size_t bytes_ = 0;
};

// Reads a request for /translate_file, as LibreTranslate has it: a form with `source`, `target` and
// a `file`, whose name ends in .txt, .html or .srt. Returns PermissionDenied for other files, as a
// server answers that translates none. The answer has the address for the download.
absl::StatusOr<TranslateRequest> ReadFileRequest(const HttpRequest& http,
                                                 const Parameters& parameters,
                                                 const RequestContext& context);

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_SERVE_TRANSLATED_FILES_H_
