// The options of the library: for loading models, using threads, and translating texts.
//
// Each option is a field of one of the three structs below and a row of one table, which knows its
// name, type, range, default value and help. The command-line programs' flags, their --help, man
// pages and --config files come from that table, and so do the names that SetOption understands.
// The structs may be copied freely, and a default-constructed one holds the default values.
#ifndef NIBU_OPTIONS_H_
#define NIBU_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "nibu/engine.h"
#include "nibu/export.h"

namespace nibu {

// The type of the matrix products. kAuto: the fastest one on this CPU, or kInt4 for a file of such
// weights.
enum class ComputeType : uint8_t { kAuto, kFloat32, kBFloat16, kInt8, kInt4 };

// The treatment of a sentence of more than max_input_length tokens.
enum class LongInput : uint8_t {
  kSplit,     // It is cut at ends of sentences or clauses, and the translations are joined.
  kTruncate,  // Its first max_input_length tokens are translated.
  kError,     // Its line is refused with OutOfRange.
};

// The form in which a hypothesis tells its alignment to the source.
enum class AlignmentKind : uint8_t {
  kNone,
  kHard,  // For each target token, the source token that it attends to most.
  kSoft,  // The attention itself, too.
};

// The units of an alignment.
enum class AlignmentLevel : uint8_t { kPieces, kWords };

// The language that tags and character references of a text belong to.
enum class Markup : uint8_t { kNone, kHtml, kXml };

// The units of a text, which are translated one by one.
enum class TextKind : uint8_t {
  kLines,       // Each line is a text of its own.
  kParagraphs,  // Lines wrapped by hand are joined: mails, READMEs.
  kDocument,    // With markup: block elements are the units, whatever lines they are written on.
};

// A phrase of the source, and a phrase that is to stand for it in the translation.
struct GlossaryEntry {
  std::string source = {};
  std::string target = {};
};

// Options for loading a model. An empty path stands for the model's own file, if it has one.
struct ModelOptions {
  ComputeType compute_type = ComputeType::kAuto;
  std::string sentencepiece = {};  // "SOURCE.spm[,TARGET.spm]", for a model without them.
  std::string shortlist = {};      // A lexical shortlist; "none" turns the model's own off.
  // A second model, which translates what comes out of the first: see Model::Pivot.
  std::string pivot = {};
  // A smaller model of the same vocabularies whose guesses speed up greedy search of few sentences.
  std::string draft_model = {};
  // Mechanisms that replace full attention in the encoder, as in "window:64": one for all layers,
  // or one for each with semicolons between them.
  std::string encoder_attention = {};
  // The same for the decoder's attention to the source, as in "local_m:16".
  std::string cross_attention = {};
  // The weights of an ensemble's models, in order; empty: equal ones.
  std::vector<float> ensemble_weights = {};
  // Not in the table. True: the languages and the end of sentence of a multilingual model are
  // tokens like others, which tokenized sources and prefixes have to have, as CTranslate2 has it.
  bool languages_as_tokens = false;
};

// Options for the use of the machine by a Translator. None of them changes a translation.
struct SpeedOptions {
  int threads = 0;     // 0: as many as the cores that this process may use.
  int batch_size = 0;  // The size of a batch, which a thread decodes together; 0: chosen for speed.
  BatchType batch_type = BatchType::kExamples;
  MatmulKernels matmul = MatmulKernels::kAuto;
  // The most sentences that may be submitted and not yet delivered. 0: chosen for speed.
  int queue_size = 0;
};

// Options for translating texts. An optional field without a value stands for the model's default
// or, where the model has none, for the value in the table.
struct Options {
  // Languages, in any common form (en, eng, en-US, eng_Latn), for models that have to be told. A
  // src_lang of "auto" detects the language of each text: see Result::source_language.
  std::string src_lang = {};
  std::string tgt_lang = {};

  // The text.
  TextKind text = TextKind::kLines;
  Markup markup = Markup::kNone;
  bool markup_attributes = true;  // In documents, texts in tags are translated: alt, title, ...
  int wrap = 0;  // With TextKind::kParagraphs: columns after which lines are wrapped; 0: none are.
  bool tokenized = false;           // Source and translation are pieces separated by single spaces.
  bool split_sentences = true;      // The sentences of a line are translated one by one.
  std::string split_language = {};  // The language of the sentence splitter; empty: the source's.
  // Kinds of parts that come out as they went in: "all", "none", or some of urls, emails, paths,
  // placeholders, emoji, codes, capitals, numbers and unknown.
  std::string protect = "all";
  std::string protect_pattern = {};          // An RE2 expression whose matches are protected, too.
  std::vector<GlossaryEntry> glossary = {};  // Not in the table; needs a beam.

  // Lengths, in tokens without the end of sentence.
  // 1. If it has a value, a target is scored with the probabilities that a search would see: see
  // Request::target.
  std::optional<int> min_decoding_length = {};
  std::optional<int> max_decoding_length = {};  // kDefaultMaxDecodingLength
  int max_input_length = 1024;
  LongInput long_input = LongInput::kSplit;

  // The search. S is the sum of the log-probabilities of a hypothesis, L its length:
  //   score = (S - word_penalty * L) / L^length_penalty + coverage_penalty * coverage
  std::optional<int> beam_size = {};  // kDefaultBeamSize; 1 is greedy search.
  float patience = 1;
  int num_hypotheses = 1;
  SearchCompat search_compat = SearchCompat::kNibu;
  std::optional<float> length_penalty = {};  // 1
  std::optional<float> word_penalty = {};    // 0
  float coverage_penalty = 0;
  std::optional<float> repetition_penalty = {};  // 1
  std::optional<int> no_repeat_ngram_size = {};  // 0
  bool disable_unk = false;
  OnRepetition on_repetition = OnRepetition::kKeep;
  std::vector<std::string> suppress_sequences =
      {};                                   // Each is a sequence of tokens separated by blanks.
  std::vector<std::string> end_token = {};  // Empty: the model's end of sentence.
  float prefix_bias_beta = 0;
  bool return_alternatives = false;
  float min_alternative_expansion_prob = 0;
  int sampling_topk = 1;  // 1: no sampling; 0: the whole vocabulary.
  float sampling_topp = 1;
  float sampling_temperature = 1;
  uint64_t seed = 0;

  // The result.
  bool replace_unknowns = false;
  AlignmentKind alignment = AlignmentKind::kNone;
  AlignmentLevel alignment_level = AlignmentLevel::kPieces;
  std::optional<int> alignment_layer = {};  // From 0; negative: from the last one on.
  std::optional<int> alignment_heads = {};  // 0: the mean of all heads.
  bool return_scores = true;  // Not in the table. False spares greedy search some work.
  // Not in the table. True: tokens, their scores, alignments and attention of the result have the
  // ends of sentences, too, of the source and of the translation, as Marian prints them. Two models
  // in a row leave them out.
  bool return_ends = false;
};

// A row of the table.
struct OptionInfo {
  const char* name = "";
  const char* help = "";  // One or more sentences.
  const char* group = "";
  // "bool", "int", "float", "text", "path" (the text is that of a file or directory), "word" (one
  // of `values`), "words" or "numbers" (a list with commas between its elements).
  const char* type = "";
  const char* values = "";         // The words that a "word" may be, with blanks between them.
  const char* default_value = "";  // As text.
  double least = -std::numeric_limits<double>::infinity();  // The range of a number.
  double most = std::numeric_limits<double>::infinity();
  bool is_above_least = false;  // `least` itself is out of the range.
  bool is_below_most = false;   // `most` itself is out of the range.
  // Options of which this one needs at least one, and options that exclude it: NAME, or
  // NAME=VALUE, with blanks between them. An option counts when it differs from its default value.
  const char* needs = "";
  const char* excludes = "";
  // The programs that have the option as a flag ("translate score"), with blanks between them.
  const char* programs = "";
  bool is_common = false;  // The first screen of --help shows it.
  // For an option that the next release removes: what takes its place, as in "use beam_size". The
  // programs warn of it for one release.
  const char* replacement = "";
};

// The table: all options of the three structs, in the order of the help. The rows live forever.
NIBU_EXPORT const std::vector<OptionInfo>& OptionTable();

// Returns the name that the option compute_type has for a value: "auto", "float32", ...
NIBU_EXPORT std::string ComputeTypeName(ComputeType type);

// Sets the option of this name from text, as on the command line. Returns NotFound if the struct
// has no such option, and InvalidArgument if the text is not a value of it. See OptionOfError.
NIBU_EXPORT absl::Status SetOption(absl::string_view name, absl::string_view value,
                                   ModelOptions* options);
NIBU_EXPORT absl::Status SetOption(absl::string_view name, absl::string_view value,
                                   SpeedOptions* options);
NIBU_EXPORT absl::Status SetOption(absl::string_view name, absl::string_view value,
                                   Options* options);

// Does the same from a list. If the option is a list ("words"), its elements may contain commas.
// Any other option is set from the elements with commas between them.
NIBU_EXPORT absl::Status SetOption(absl::string_view name, absl::Span<const std::string> values,
                                   Options* options);

// Returns the name of the option that an error of this library is about, or an empty string.
NIBU_EXPORT std::string OptionOfError(const absl::Status& status);

// Reads a glossary: "SOURCE<tab>TARGET" in each line; empty lines and lines that begin with "#" are
// skipped. Returns InvalidArgument with the number of a line that makes no sense.
NIBU_EXPORT absl::StatusOr<std::vector<GlossaryEntry>> ParseGlossary(absl::string_view text);

}  // namespace nibu

#endif  // NIBU_OPTIONS_H_
