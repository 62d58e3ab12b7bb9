// Implements the language detector and the sentence splitter of nibu/c.h.

#include <cstdlib>
#include <new>

#include "absl/strings/str_split.h"
#include "tools/c/handles.h"

using nibu::internal::CheckText;
using nibu::internal::Clear;
using nibu::internal::Guard;
using nibu::internal::Missing;
using nibu::internal::TextOf;

nibu_status nibu_detector_new(const char* among, nibu_detector** detector, nibu_error** error) {
  return Guard(detector, "detector", error, [&] {
    const std::vector<std::string> codes = absl::StrSplit(TextOf(among), ',', absl::SkipEmpty());
    auto made = nibu::LanguageDetector::Create(codes);
    if (!made.ok()) return made.status();
    *detector = new nibu_detector{*std::move(made)};
    return absl::OkStatus();
  });
}

void nibu_detector_free(nibu_detector* detector) { delete detector; }

nibu_status nibu_detector_detect(const nibu_detector* detector, const char* text, size_t length,
                                 const char* markup, nibu_languages** languages,
                                 nibu_error** error) {
  return Guard(languages, "languages", error, [&] {
    if (detector == nullptr) return Missing("detector");
    absl::Status status = CheckText(text, length, "text");
    nibu::Options options;
    if (status.ok() && markup != nullptr) status = nibu::SetOption("markup", markup, &options);
    if (!status.ok()) return status;
    auto found = detector->detector->Detect(TextOf(text, length), options.markup);
    if (!found.ok()) return found.status();
    *languages = new nibu_languages{*std::move(found)};
    return absl::OkStatus();
  });
}

size_t nibu_languages_count(const nibu_languages* languages) {
  return languages == nullptr ? 0 : languages->languages.size();
}

const char* nibu_languages_code(const nibu_languages* languages, size_t language) {
  const bool is_there = language < nibu_languages_count(languages);
  return is_there ? languages->languages[language].code.c_str() : nullptr;
}

float nibu_languages_confidence(const nibu_languages* languages, size_t language) {
  const bool is_there = language < nibu_languages_count(languages);
  return is_there ? languages->languages[language].confidence : 0;
}

void nibu_languages_free(nibu_languages* languages) { delete languages; }

nibu_status nibu_splitter_new(const char* language, nibu_splitter** splitter, nibu_error** error) {
  return Guard(splitter, "splitter", error, [&] {
    auto made = nibu::SentenceSplitter::Create(TextOf(language));
    if (!made.ok()) return made.status();
    *splitter = new nibu_splitter{*std::move(made)};
    return absl::OkStatus();
  });
}

void nibu_splitter_free(nibu_splitter* splitter) { delete splitter; }

nibu_status nibu_splitter_split(const nibu_splitter* splitter, const char* text, size_t length,
                                size_t** bounds, size_t* count, nibu_error** error) {
  return Guard(error, [&] {
    absl::Status status = Clear(bounds, "bounds");
    if (status.ok()) status = Clear(count, "count");
    if (!status.ok()) return status;
    if (splitter == nullptr) return Missing("splitter");
    status = CheckText(text, length, "text");
    if (!status.ok()) return status;
    const auto sentences = splitter->splitter->Split(TextOf(text, length));
    if (!sentences.ok()) return sentences.status();
    auto* const made = static_cast<size_t*>(std::calloc(2 * sentences->size() + 1, sizeof(size_t)));
    if (made == nullptr) throw std::bad_alloc();
    for (size_t i = 0; i < sentences->size(); ++i) {
      made[2 * i] = (*sentences)[i].begin;
      made[2 * i + 1] = (*sentences)[i].end;
    }
    *bounds = made;
    *count = sentences->size();
    return absl::OkStatus();
  });
}
