// Opens files on disk, and members of zip archives by their full names.
#include "models/files/folder.h"

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "models/files/foreign.h"
#include "models/files/gzip.h"

namespace nibu::internal {

Folder::Folder(std::string path, std::shared_ptr<const ZipArchive> archive, std::string name)
    : path_(std::move(path)), archive_(std::move(archive)), inside_(std::move(name)) {
  if (inside_.empty()) return;
  absl::StrAppend(&path_, "/", inside_);
  inside_ += '/';
}

Folder Folder::Below(absl::string_view name) const {
  Folder below(*this);
  below.path_ = PathOf(name);
  absl::StrAppend(&below.inside_, name, "/");
  return below;
}

std::string Folder::PathOf(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

absl::StatusOr<std::shared_ptr<const FileBytes>> Folder::Open(absl::string_view name) const {
  const std::string path = PathOf(name);
  if (archive_ == nullptr) return FileBytes::Open(path);
  const auto& members = archive_->members();
  const auto found = members.find(absl::StrCat(inside_, name));
  if (found == members.end()) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  const ZipMember& member = found->second;
  if (member.deflated && member.size > kMostInflated) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": it would take ", member.size, " bytes of memory to inflate it",
                     "; unpack the archive, and give its folder as the model"));
  }
  absl::string_view bytes;
  NIBU_ASSIGN_OR_RETURN(auto holder, archive_->Read(member, /*check_crc=*/true, &bytes));
  if (IsGitLfsPointer(bytes)) return GitLfsPointerError(path);
  return FileBytes::PartOf(std::move(holder), path, bytes);
}

}  // namespace nibu::internal
