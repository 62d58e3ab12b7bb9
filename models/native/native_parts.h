// Converts vocabularies and shortlists to and from the bytes of the native format, which native.h
// describes.
#ifndef NIBU_MODELS_NATIVE_NATIVE_PARTS_H_
#define NIBU_MODELS_NATIVE_NATIVE_PARTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/model/config.h"
#include "engine/search/shortlist.h"

namespace nibu::internal {

std::string EncodeTokens(const std::vector<std::string>& tokens);
// InvalidArgument: the bytes are damaged.
absl::StatusOr<std::vector<std::string>> DecodeTokens(absl::string_view bytes);

std::string EncodeShortlist(const Shortlist& shortlist);
// InvalidArgument: the bytes are damaged, or have tokens outside of the vocabularies of `config`.
absl::StatusOr<std::shared_ptr<const Shortlist>> DecodeShortlist(absl::string_view bytes,
                                                                 const ModelConfig& config);

}  // namespace nibu::internal

#endif  // NIBU_MODELS_NATIVE_NATIVE_PARTS_H_
