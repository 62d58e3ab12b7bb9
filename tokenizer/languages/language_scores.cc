// Adds up the entries of CLD2's tables for the letters of a text. The only file that includes CLD2.
#include "tokenizer/languages/language_scores.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>   // before CLD2's headers, which name FILE
#include <cstring>  // and memset
#include <memory>
#include <utility>

// CLD2's public functions return the three best of all its languages, in chunks of some 50
// letters, and cannot be confined to a list. The functions below, which the public ones are made
// of, give the scores of all languages. Debian installs their headers; CLD2 has not changed since
// 2015.
#include <cld2/internal/cld2tablesummary.h>
#include <cld2/internal/cldutil.h>
#include <cld2/internal/cldutil_shared.h>
#include <cld2/internal/compact_lang_det_impl.h>
#include <cld2/internal/getonescriptspan.h>
#include <cld2/internal/lang_script.h>
#include <cld2/internal/scoreonescriptspan.h>

namespace CLD2 {
// The tables, which no header declares. libcld2_full, which is linked before libcld2, has those of
// 160 languages.
extern const UTF8PropObj cld_generated_CjkUni_obj;
extern const CLD2TableSummary kCjkCompat_obj;
extern const CLD2TableSummary kCjkDeltaBi_obj;
extern const CLD2TableSummary kDistinctBiTable_obj;
extern const CLD2TableSummary kQuad_obj;
extern const CLD2TableSummary kQuad_obj2;
extern const CLD2TableSummary kDeltaOcta_obj;
extern const CLD2TableSummary kDistinctOcta_obj;
extern const short kAvgDeltaOctaScore[];  // four a language; 0: no data
extern const uint32 kAvgDeltaOctaScoreSize;
}  // namespace CLD2

namespace nibu::internal {
namespace {

constexpr CLD2::ScoringTables kTables = {
    &CLD2::cld_generated_CjkUni_obj, &CLD2::kCjkCompat_obj,    &CLD2::kCjkDeltaBi_obj,
    &CLD2::kDistinctBiTable_obj,     &CLD2::kQuad_obj,         &CLD2::kQuad_obj2,
    &CLD2::kDeltaOcta_obj,           &CLD2::kDistinctOcta_obj, CLD2::kAvgDeltaOctaScore};

// Blanks behind the text, since CLD2 looks a few bytes ahead in places.
constexpr size_t kPadding = 64;

// The languages that CLD2 has data for, each with an expected score that is not 0.
struct Cld2Languages {
  Cld2Languages() {
    for (uint32_t i = 0; 4 * i + 3 < CLD2::kAvgDeltaOctaScoreSize; ++i) {
      const auto language = static_cast<CLD2::Language>(i);
      const short* expected = CLD2::kAvgDeltaOctaScore + 4 * i;
      if (std::all_of(expected, expected + 4, [](short score) { return score == 0; })) continue;
      std::string code = Code(language);
      if (code.empty()) continue;
      std::vector<std::string> scripts;
      for (int n = 0; n < 4; ++n) {
        const CLD2::ULScript script = CLD2::LanguageRecognizedScript(language, n);
        if (script != CLD2::ULScript_Common) scripts.emplace_back(CLD2::ULScriptCode(script));
      }
      languages.push_back(language);
      names.push_back({std::move(code), std::move(scripts)});
    }
  }

  // Returns BCP 47's code of a language; empty for unknown languages and for Klingon, Pig Latin and
  // the like.
  static std::string Code(CLD2::Language language) {
    std::string code = CLD2::LanguageCode(language);
    if (code == "iw") return "he";
    if (code == "jw") return "jv";
    if (code == "bh") return "bho";  // Bihari; Bhojpuri is its largest
    if (code == "un" || code == "xxx" || code == "tlh" || code.substr(0, 2) == "zz") return "";
    return code;
  }

  std::vector<CLD2::Language> languages;
  std::vector<ScoredLanguage> names;
};

const Cld2Languages& Languages() {
  static const auto* languages = new Cld2Languages;
  return *languages;
}

// Adds the languages and scores, up to three, that an entry of a table packs into 32 bits.
// `sums` is indexed by CLD2's numbers of the languages of one script.
void AddPacked(uint32_t packed, std::vector<int>* sums) {
  const CLD2::uint8* scores = CLD2::LgProb2TblEntry(packed & 0xff);
  for (int i = 0; i < 3; ++i) {
    const uint32_t language = packed >> (8 * (i + 1)) & 0xff;
    if (language != 0) (*sums)[language] += CLD2::LgProb3(scores, i);
  }
}

// Adds the scores of all groups of letters that were found: of four letters or one ideograph
// (base), of words or two ideographs (delta), and those that tell similar languages apart
// (distinct).
void AddHits(const CLD2::ScoringHitBuffer& hits, bool is_cjk, std::vector<int>* sums) {
  for (int i = 0; i < hits.next_base; ++i) {
    // The highest bit chooses one of two tables. From kCLDTableSizeOne on, entries are twice as
    // long.
    uint32_t index = hits.base[i].indirect;
    const CLD2::CLD2TableSummary* table = is_cjk        ? kTables.unigram_compat_obj
                                          : index >> 31 ? kTables.quadgram_obj2
                                                        : kTables.quadgram_obj;
    index &= 0x7fffffff;
    const bool is_long = index >= table->kCLDTableSizeOne;
    if (is_long) index += index - table->kCLDTableSizeOne;
    AddPacked(table->kCLDTableInd[index], sums);
    if (is_long) AddPacked(table->kCLDTableInd[index + 1], sums);
  }
  const CLD2::CLD2TableSummary* words = is_cjk ? kTables.deltabi_obj : kTables.deltaocta_obj;
  for (int i = 0; i < hits.next_delta; ++i) {
    AddPacked(words->kCLDTableInd[hits.delta[i].indirect], sums);
  }
  const CLD2::CLD2TableSummary* distinct =
      is_cjk ? kTables.distinctbi_obj : kTables.distinctocta_obj;
  for (int i = 0; i < hits.next_distinct; ++i) {
    AddPacked(distinct->kCLDTableInd[hits.distinct[i].indirect], sums);
  }
}

// Scores the letters of one script, which are in lower case. They begin at byte 1; byte 0 is a
// blank.
void ScoreSpan(const CLD2::LangSpan& span, CLD2::ScoringHitBuffer* hits, ScriptScores* scores) {
  const Cld2Languages& known = Languages();
  scores->bytes += span.text_bytes;
  const CLD2::ULScriptRType type = CLD2::ULScriptRecognitionType(span.ulscript);
  if (type == CLD2::RTypeNone) return;
  if (type == CLD2::RTypeOne) {  // only one language has the script
    const auto only = std::find(known.languages.begin(), known.languages.end(),
                                CLD2::DefaultLanguage(span.ulscript));
    if (only != known.languages.end()) {
      scores->scores[only - known.languages.begin()] += span.text_bytes;
    }
    return;
  }
  CLD2::ScoringContext context = {};
  context.ulscript = span.ulscript;
  context.scoringtables = &kTables;
  const bool is_cjk = type == CLD2::RTypeCJK;
  std::vector<int> sums(256);
  for (int begin = 1; begin < span.text_bytes;) {
    hits->init();
    hits->ulscript = span.ulscript;
    hits->lowest_offset = begin;
    int end;
    if (is_cjk) {
      end = CLD2::GetUniHits(span.text, begin, span.text_bytes, &context, hits);
      CLD2::GetBiHits(span.text, begin, end, &context, hits);
    } else {
      end = CLD2::GetQuadHits(span.text, begin, span.text_bytes, &context, hits);
      CLD2::GetOctaHits(span.text, begin, end, &context, hits);
    }
    AddHits(*hits, is_cjk, &sums);
    begin = std::max(end, begin + 1);
  }
  for (size_t i = 0; i < known.languages.size(); ++i) {
    // Two languages without a script in common may have the same number.
    const CLD2::uint8 number = CLD2::PerScriptNumber(span.ulscript, known.languages[i]);
    if (number != 0 && CLD2::FromPerScriptNumber(span.ulscript, number) == known.languages[i]) {
      scores->scores[i] += sums[number];
    }
  }
}

// Returns a copy of the first kScoredText bytes, with blanks for those that CLD2 cannot read (what
// is not UTF-8, control characters and noncharacters), and with kPadding blanks behind it.
std::string ReadableText(absl::string_view text) {
  text = text.substr(0, kScoredText);
  std::string readable;
  readable.reserve(text.size() + kPadding);
  while (true) {
    const int valid = CLD2::SpanInterchangeValid(text.data(), static_cast<int>(text.size()));
    readable.append(text.data(), valid);
    if (static_cast<size_t>(valid) == text.size()) break;
    readable.push_back(' ');
    text.remove_prefix(valid + 1);
  }
  readable.append(kPadding, ' ');
  return readable;
}

}  // namespace

const std::vector<ScoredLanguage>& ScoredLanguages() { return Languages().names; }

std::vector<ScriptScores> ScoreLanguages(absl::string_view text, bool is_html) {
  const std::string readable = ReadableText(text);
  CLD2::ScriptScanner scanner(readable.data(), static_cast<int>(readable.size() - kPadding),
                              /*is_plain_text=*/!is_html);
  const auto hits = std::make_unique<CLD2::ScoringHitBuffer>();
  std::vector<ScriptScores> scripts;
  size_t bytes = 0;
  CLD2::LangSpan span = {};
  while (bytes < kScoredLetters && scanner.GetOneScriptSpanLower(&span)) {
    const std::string script = CLD2::ULScriptCode(span.ulscript);
    auto scores = std::find_if(scripts.begin(), scripts.end(),
                               [&](const ScriptScores& known) { return known.script == script; });
    if (scores == scripts.end()) {
      scripts.push_back({script, 0, std::vector<int>(ScoredLanguages().size())});
      scores = scripts.end() - 1;
    }
    ScoreSpan(span, hits.get(), &*scores);
    bytes += span.text_bytes;
  }
  return scripts;
}

}  // namespace nibu::internal
