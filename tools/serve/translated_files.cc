// Reads text, HTML and SubRip files as texts, and writes them again.

#include "tools/serve/translated_files.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/core/status_macros.h"
#include "tools/serve/answers.h"
#include "tools/serve/libre_translate.h"

namespace nibu::internal {
namespace {

// A line of a subtitle file that stays, or the place of a text with so many lines, and the dash in
// front of it.
struct SubtitleLine {
  std::string text;
  size_t text_lines = 0;
};

struct Subtitles {
  std::vector<SubtitleLine> lines;
  std::string texts;     // each in one line, so that its sentences are translated whole
  const char* line_end;  // that of the file
};

// Returns the dash that stands in front of what someone says, with the blanks behind it.
absl::string_view DashOf(absl::string_view line) {
  for (const absl::string_view dash : {"-", "–", "—"}) {
    absl::string_view words = line;
    if (!absl::ConsumePrefix(&words, dash)) continue;
    words = absl::StripLeadingAsciiWhitespace(words);
    return line.substr(0, line.size() - words.size());
  }
  return "";
}

// Takes the captions out of a SubRip file: what stands between a line with times ("00:00:01,000 -->
// 00:00:02,000") and the next empty line or, if that is missing, the number in front of the next
// times. A caption is one text, or one for each speaker, whose lines begin with a dash.
Subtitles ReadSubtitles(absl::string_view file) {
  Subtitles read;
  read.line_end = absl::StrContains(file, "\r\n") ? "\r\n" : "\n";
  std::vector<absl::string_view> text;
  absl::string_view dash;
  const auto end_text = [&] {
    if (text.empty()) return;
    read.lines.push_back({std::string(dash), text.size()});
    absl::StrAppend(&read.texts, absl::StrJoin(text, " "), "\n");
    text.clear();
  };
  bool is_caption = false;
  const std::vector<absl::string_view> lines = absl::StrSplit(file, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const absl::string_view line = absl::StripSuffix(lines[i], "\r");
    const bool is_time = absl::StrContains(line, "-->");
    const bool is_number = i + 1 < lines.size() && absl::StrContains(lines[i + 1], "-->") &&
                           absl::c_all_of(line, absl::ascii_isdigit);
    if (is_time || is_number || absl::StripAsciiWhitespace(line).empty()) is_caption = false;
    if (is_caption) {
      const absl::string_view words = absl::StripAsciiWhitespace(line);
      const absl::string_view speaker = DashOf(words);
      if (!speaker.empty()) end_text();
      if (text.empty()) dash = speaker;
      text.push_back(absl::StripPrefix(words, speaker));
      continue;
    }
    end_text();
    read.lines.push_back({std::string(line)});
    is_caption = is_time;
  }
  end_text();
  return read;
}

// Breaks a text into so many lines of similar lengths, at blanks.
std::string BreakText(absl::string_view text, size_t lines, absl::string_view line_end) {
  std::string broken;
  for (; lines > 1; --lines) {
    const size_t blank = text.find(' ', text.size() / lines);
    if (blank == absl::string_view::npos) break;
    absl::StrAppend(&broken, text.substr(0, blank), line_end);
    text.remove_prefix(blank + 1);
  }
  return absl::StrCat(broken, text);
}

std::string WriteSubtitles(const Subtitles& subtitles, absl::string_view translation) {
  const std::vector<absl::string_view> texts = absl::StrSplit(translation, '\n');
  std::vector<std::string> lines;
  size_t next = 0;
  for (const SubtitleLine& line : subtitles.lines) {
    const bool is_text = line.text_lines > 0 && next < texts.size();
    lines.push_back(line.text);
    if (is_text) lines.back() += BreakText(texts[next++], line.text_lines, subtitles.line_end);
  }
  return absl::StrJoin(lines, subtitles.line_end);
}

// Returns a name as the system and the header can have it, without folders.
std::string PlainName(absl::string_view name) {
  constexpr size_t kMostName = 100;
  name = name.substr(std::min(name.find_last_of("/\\") + 1, name.size()));
  name = name.substr(name.size() - std::min(name.size(), kMostName));
  std::string plain(absl::StripLeadingAsciiWhitespace(name));
  for (char& byte : plain) {
    const bool is_plain = absl::ascii_isalnum(static_cast<unsigned char>(byte)) || byte == '-' ||
                          byte == '_' || byte == '.';
    if (!is_plain) byte = '_';
  }
  return plain;
}

std::string ContentTypeOf(absl::string_view name) {
  if (absl::EndsWithIgnoreCase(name, ".html")) return "text/html; charset=utf-8";
  if (absl::EndsWithIgnoreCase(name, ".srt")) return "application/x-subrip";
  return "text/plain; charset=utf-8";
}

}  // namespace

std::string TranslatedFiles::Add(const std::string& file_name, std::string content) {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i)
    absl::StrAppend(&name, absl::Hex(random() & 0xFFFFFFFFU, absl::kZeroPad8));
  absl::StrAppend(&name, ".", PlainName(file_name));
  bytes_ += kBytesOfAFile + content.size();
  files_.push_back({name, std::move(content)});
  while (bytes_ > kMostBytes && files_.size() > 1) {
    bytes_ -= kBytesOfAFile + files_.front().content.size();
    files_.pop_front();
  }
  return name;
}

HttpAnswer TranslatedFiles::Download(absl::string_view name) const {
  for (const File& file : files_) {
    if (file.name != name) continue;
    HttpAnswer answer;
    answer.body = file.content;
    answer.content_type = ContentTypeOf(name);
    // A page of a client must not run as one of this server.
    answer.disposition =
        absl::StrCat("attachment; filename=\"", name.substr(name.find('.') + 1), "\"");
    return answer;
  }
  return ErrorAnswer(404, "there is no such file, or it is there no more");
}

absl::StatusOr<TranslateRequest> ReadFileRequest(const HttpRequest& http,
                                                 const Parameters& parameters,
                                                 const RequestContext& context) {
  const auto ends_in = [&](absl::string_view ending) {
    return absl::EndsWithIgnoreCase(parameters.file_name, ending);
  };
  const bool is_html = ends_in(".html");
  const bool is_srt = ends_in(".srt");
  if (!is_html && !is_srt && !ends_in(".txt")) {
    return absl::PermissionDeniedError("Files translation are disabled on this server.");
  }
  const auto subtitles = std::make_shared<Subtitles>();
  Parameters same = parameters;
  same.is_form = false;
  same.file.clear();
  same.values["format"] = is_html ? "html" : "text";
  same.values.erase("alternatives");
  if (is_srt) *subtitles = ReadSubtitles(parameters.file);
  // A list of one text, since a file may be empty.
  same.values["q"] = nlohmann::json::array({is_srt ? subtitles->texts : parameters.file});
  NIBU_ASSIGN_OR_RETURN(TranslateRequest request, ReadLibreTranslate(http, same, context));
  const bool is_https = absl::EqualsIgnoreCase(http.forwarded_proto, "https");
  request.write = [=, name = parameters.file_name, files = context.files,
                   base = absl::StrCat(is_https ? "https" : "http", "://", http.host,
                                       context.options.url_prefix)](
                      const TranslateRequest& read, const std::vector<Translations>& texts) {
    const std::string& text = texts[0].at(0);
    const absl::string_view stem = absl::string_view(name).substr(0, name.rfind('.'));
    const std::string own =
        files->Add(absl::StrCat(stem, "_", read.target, name.substr(name.rfind('.'))),
                   is_srt ? WriteSubtitles(*subtitles, text) : text);
    return JsonAnswer({{"translatedFileUrl", absl::StrCat(base, "/download_file/", own)}});
  };
  return request;
}

}  // namespace nibu::internal
