// Finds models by name in the folder of fetched models, and gives advice if there is none.
#include "tools/text/model/model_paths.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "models/files/directory.h"
#include "tools/text/options/nearest.h"
#include "tools/text/options/option_table.h"

namespace nibu::internal {
namespace {

namespace fs = std::filesystem;

// Returns the path of `relative` in a folder above `file`: programs are in PREFIX/bin, libraries in
// PREFIX/lib, in PREFIX/lib/x86_64-linux-gnu, in PREFIX/lib/python3/dist-packages/nibu, or in the
// build folder itself. Returns an empty string if it is in none of them.
std::string FindAbove(const fs::path& file, const char* relative) {
  std::error_code error;
  fs::path prefix = file.parent_path();
  for (int level = 0; level < 5 && prefix.has_relative_path(); ++level) {
    const fs::path found = prefix / relative;
    if (fs::exists(found, error)) return fs::canonical(found, error).string();
    prefix = prefix.parent_path();
  }
  return "";
}

// Returns the same for a folder above the program or else above the shared library.
std::string FindInstalled(const char* relative) {
  std::error_code error;
  std::string path = FindAbove(fs::read_symlink("/proc/self/exe", error), relative);
  Dl_info library;
  if (path.empty() && dladdr(reinterpret_cast<void*>(&BundledModelPath), &library) != 0) {
    path = FindAbove(fs::canonical(library.dli_fname, error), relative);
  }
  return path;
}

// Returns the value of an environment variable, or an empty string if it is not set.
std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the command that fetches models: its name differs where nibu is installed.
const char* GetModelCommand() {
  return FindInstalled("bin/nibu-get-model").empty() ? "tools/get_model.sh" : "nibu-get-model";
}

bool IsName(absl::string_view text) {
  return !text.empty() && !absl::StrContains(".-", text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("._-", c);
         });
}

// Returns whether the command fetches a model by this name, as far as one can tell offline.
bool IsFetchedByName(absl::string_view name) {
  static constexpr absl::string_view kFamilies[] = {
      "opus-mt-", "nllb-", "m2m100_", "mbart-", "madlad400-", "t5-", "mt5-", "firefox-", "argos-"};
  return IsName(name) &&
         std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](absl::string_view family) { return absl::StartsWith(name, family); });
}

// Returns whether a path has the form OWNER/NAME, as repositories of Hugging Face have it.
bool IsRepository(absl::string_view path) {
  const size_t slash = path.find('/');
  return slash != absl::string_view::npos && IsName(path.substr(0, slash)) &&
         IsName(path.substr(slash + 1));
}

// Returns whether the text is a URL that a shell reads as it is, at most within quotation marks.
bool IsUrl(absl::string_view text) {
  return (absl::StartsWith(text, "https://") || absl::StartsWith(text, "http://")) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '\'';
         });
}

// Returns the text as a word of a command line.
std::string Quoted(absl::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("._-/:%+=@", c);
  });
  return is_plain ? std::string(text) : absl::StrCat("'", text, "'");
}

// Returns the name that a path without a folder stands for; a shell's completion may have put a
// slash behind it. Returns an empty string if the path has a folder.
std::string NameOf(absl::string_view path) {
  while (path.size() > 1 && absl::ConsumeSuffix(&path, "/")) {
  }
  return absl::StrContains(path, '/') ? "" : std::string(path);
}

// Returns the model in the folder whose name this was meant to be; else empty.
std::string NearestModel(const std::string& name, const std::string& folder) {
  if (!IsName(name)) return "";
  std::vector<std::string> known;
  if (const auto paths = FilesIn(folder); paths.ok()) {
    for (const std::string& path : *paths) {
      std::string model = fs::path(path).filename().string();
      if (model[0] != '.') known.push_back(std::move(model));  // "." begins unfinished downloads
    }
  }
  // A name that can be fetched is likely to be right, even if another one is near.
  return Nearest(name, known, IsFetchedByName(name) ? 1 : std::min<size_t>(3, name.size() / 3));
}

// Returns the advice for a user whose model is not there.
std::string HowToGet(const std::string& model, const std::string& folder) {
  const char* command = GetModelCommand();
  const std::string name = NameOf(model);
  if (IsUrl(model)) return absl::StrCat(command, " ", Quoted(model), " fetches it");
  if (IsRepository(model)) {
    return absl::StrCat("if it is a repository of Hugging Face, ", command, " ", model,
                        " fetches it");
  }
  const std::string nearest = NearestModel(name, folder);
  const std::string meant = nearest.empty() ? "" : absl::StrCat("did you mean ", nearest, "? ");
  if (IsFetchedByName(name)) return absl::StrCat(meant, command, " ", name, " fetches it");
  return absl::StrCat(meant, command, " fetches models, for example ", command, " opus-mt-en-fr");
}

}  // namespace

std::vector<std::string> SplitPaths(const std::string& paths) {
  std::error_code error;
  if (fs::exists(paths, error)) return {paths};
  return SplitList(paths);
}

std::string ModelsFolder() {
  std::string folder = Variable("NIBU_MODELS");
  if (!folder.empty()) return folder;
  folder = Variable("XDG_DATA_HOME");
  const std::string home = Variable("HOME");
  if (folder.empty() && !home.empty()) folder = home + "/.local/share";
  return folder.empty() ? "" : folder + "/nibu/models";
}

std::string FindModel(const std::string& model) {
  std::error_code error;
  const std::string folder = ModelsFolder();
  const std::string name = NameOf(model);
  const fs::path named = fs::path(folder) / name;
  const bool is_name = !name.empty() && !folder.empty();
  return is_name && !fs::exists(model, error) && fs::exists(named, error) ? named.string() : model;
}

absl::Status CheckModelExists(const std::string& path) {
  std::error_code error;
  // If the path cannot be examined, its reader will say why. A TensorFlow checkpoint is named by
  // the common beginning of its files, one of which is PATH.index.
  if (fs::exists(path, error) || error || fs::exists(path + ".index", error)) {
    return absl::OkStatus();
  }
  const std::string folder = ModelsFolder();
  const bool is_name = !NameOf(path).empty() && !folder.empty();
  return absl::NotFoundError(
      absl::StrCat(path, ": no such file or directory",
                   is_name ? absl::StrCat(", and no model of this name in ", folder) : "", "; ",
                   HowToGet(path, folder)));
}

std::string BundledModelPath() { return FindInstalled("share/nibu/models/en-de"); }

}  // namespace nibu::internal
