#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/str_split.h"
#include "engine/core/status_macros.h"
#include "models/files/errors.h"
#include "models/files/file_bytes.h"
#include "tools/decoding_flags.h"
#include "tools/flags.h"
#include "tools/text/glossary.h"

ABSL_FLAG(int, beam_size, 4,
          "Hypotheses kept at each step; 1 is greedy search. A model's own default is used in "
          "place of 4.");
ABSL_FLAG(float, patience, 1,
          "Beam search goes on until round(beam_size * patience) hypotheses have finished.");
ABSL_FLAG(int, num_hypotheses, 1,
          "Hypotheses returned for a line, best first (nbest and jsonl): more than 1 need a beam, "
          "--sampling_topk or --return_alternatives.");
ABSL_FLAG(std::string, search_compat, "nibu",
          "Whose rules say when a search ends: nibu, ctranslate2 (the same), marian or "
          "huggingface.");
ABSL_FLAG(float, length_penalty, 1,
          "Hypotheses are ranked by log-probability / length^length_penalty. A model's own default "
          "is used in place of 1.");
ABSL_FLAG(float, word_penalty, 0,
          "Taken from the log-probability for each token (Marian). A model's own default is used "
          "in place of 0.");
ABSL_FLAG(float, coverage_penalty, 0,
          "Weight of the logarithms of the attention that each source token got (at most 1), which "
          "are added to the score.");
ABSL_FLAG(float, repetition_penalty, 1,
          "Above 1: makes tokens that a hypothesis has less probable.");
ABSL_FLAG(int, no_repeat_ngram_size, 0,
          "So many tokens in a row do not come twice in a hypothesis; 0: they may.");
ABSL_FLAG(std::string, suppress_sequences, "",
          "Sequences that are never generated: tokens with blanks, sequences with commas between "
          "them.");
ABSL_FLAG(bool, disable_unk, false, "The unknown token is never generated.");
ABSL_FLAG(bool, replace_unknowns, false,
          "An unknown token becomes the source token that it attends to most.");
ABSL_FLAG(std::string, end_token, "",
          "Any of these tokens (with commas between them) ends a hypothesis, in place of the "
          "model's end of sentence.");
ABSL_FLAG(std::string, on_repetition, "keep",
          "What becomes of a translation that is caught in a loop: keep; or retry, once more with "
          "no n-gram of 3 tokens twice, and the better one by the plain score.");
ABSL_FLAG(int, min_decoding_length, 1, "Tokens generated at least, for a sentence.");
ABSL_FLAG(int, max_decoding_length, 256,
          "Tokens generated at most, for a sentence (never more than the model's positions).");
ABSL_FLAG(float, prefix_bias_beta, 0,
          "0: what --target_prefix says is taken as it is. Above 0, below 1: it is favoured, "
          "p' = (1 - beta) p + beta for its next token, until a hypothesis leaves it.");
ABSL_FLAG(bool, return_alternatives, false,
          "The --num_hypotheses most probable tokens behind the prefix (or the first ones), each "
          "completed by a search of its own.");
ABSL_FLAG(float, min_alternative_expansion_prob, 0,
          "Alternatives that begin with a less probable token are left out.");
ABSL_FLAG(int, sampling_topk, 1,
          "Tokens are drawn at random from so many of the most probable ones; 0: from all; 1: no "
          "sampling. Needs --beam_size=1, which it sets.");
ABSL_FLAG(float, sampling_topp, 1,
          "Tokens are drawn from the most probable ones that together have this probability.");
ABSL_FLAG(float, sampling_temperature, 1,
          "Below 1: probable tokens are drawn more often; above 1: less often.");
ABSL_FLAG(uint64_t, seed, 0, "Of sampling: the same seed gives the same output.");
ABSL_FLAG(std::string, glossary, "",
          "File of terms, \"SOURCE<tab>TARGET\" a line: where a source phrase is in a sentence, "
          "one of its targets is to be in the translation. Needs a beam.");
ABSL_FLAG(std::string, protect, "all",
          "What comes out of a text as it is: all, none, or any of urls, emails, paths, "
          "placeholders, emoji, unknown (characters that the model does not know), with commas "
          "between them. Not with --tokenized.");
ABSL_FLAG(std::string, protect_pattern, "",
          "A regular expression (RE2's): what it matches comes out as it is, too.");
ABSL_FLAG(std::string, alignment, "none",
          "Which source tokens the target tokens come from: none; hard (pairs s-t, from 0), or "
          "soft (the attention). In text and nbest behind ||| at the end.");
ABSL_FLAG(std::string, alignment_level, "pieces", "pieces or words.");
ABSL_FLAG(int, alignment_layer, -1,
          "Decoder layer whose cross-attention is taken, from 0; -1: the last one. A model's own "
          "is used unless this is given.");
ABSL_FLAG(int, alignment_heads, 0,
          "The mean of so many heads is taken, 0: of all. A model's own number is used unless this "
          "is given.");

namespace nibu {

std::vector<std::string> SearchFlags() {
  return absl::StrSplit(
      "beam_size patience num_hypotheses search_compat length_penalty word_penalty "
      "coverage_penalty repetition_penalty no_repeat_ngram_size disable_unk on_repetition "
      "return_alternatives min_alternative_expansion_prob sampling_topk sampling_topp "
      "sampling_temperature seed",
      ' ');
}

std::vector<std::string> TextSearchFlags() {
  return absl::StrSplit(
      "suppress_sequences end_token replace_unknowns target_prefix prefix_bias_beta glossary "
      "protect protect_pattern alignment alignment_level alignment_layer alignment_heads",
      ' ');
}

namespace {

absl::StatusOr<ProtectedKinds> ReadProtectFlag() {
  const std::string value = absl::GetFlag(FLAGS_protect);
  if (value == "all") return ProtectedKinds();
  ProtectedKinds kinds = kProtectNothing;
  if (value == "none") return kinds;
  for (const absl::string_view name : absl::StrSplit(value, ',')) {
    NIBU_ASSIGN_OR_RETURN(
        bool ProtectedKinds::*const kind,
        Choose<bool ProtectedKinds::*>("protect", std::string(name),
                                       {{"urls", &ProtectedKinds::urls},
                                        {"emails", &ProtectedKinds::emails},
                                        {"paths", &ProtectedKinds::paths},
                                        {"placeholders", &ProtectedKinds::placeholders},
                                        {"emoji", &ProtectedKinds::emoji},
                                        {"unknown", &ProtectedKinds::unknown},
                                        {"all", nullptr},
                                        {"none", nullptr}}));
    if (kind == nullptr) {
      return Invalid("--protect=", value, ": all and none stand alone");
    }
    kinds.*kind = true;
  }
  return kinds;
}

absl::Status CheckCompanions() {
  for (const auto& [flag, companion] : {std::pair{"sampling_topp", "sampling_topk"},
                                        {"sampling_temperature", "sampling_topk"},
                                        {"prefix_bias_beta", "target_prefix"},
                                        {"min_alternative_expansion_prob", "return_alternatives"},
                                        {"alignment_level", "alignment"}}) {
    const absl::CommandLineFlag& given = *absl::FindCommandLineFlag(flag);
    if (given.CurrentValue() != given.DefaultValue() && !WasGiven(companion)) {
      return Invalid("--", flag, " means nothing without --", companion);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults) {
  DecodingOptions options = DefaultDecoding(defaults);
  options.sampling = {absl::GetFlag(FLAGS_sampling_topk), absl::GetFlag(FLAGS_sampling_topp),
                      absl::GetFlag(FLAGS_sampling_temperature), absl::GetFlag(FLAGS_seed)};
  if (options.sampling.is_on()) options.beam_size = 1;
  if (WasGiven("beam_size")) options.beam_size = absl::GetFlag(FLAGS_beam_size);
  if (WasGiven("length_penalty")) options.length_penalty = absl::GetFlag(FLAGS_length_penalty);
  if (WasGiven("word_penalty")) options.word_penalty = absl::GetFlag(FLAGS_word_penalty);
  // A length that the command line asks for is not cut.
  if (WasGiven("min_decoding_length") || WasGiven("max_decoding_length")) {
    options.max_length_factor = 0;
  }
  options.patience = absl::GetFlag(FLAGS_patience);
  options.num_hypotheses = absl::GetFlag(FLAGS_num_hypotheses);
  NIBU_ASSIGN_OR_RETURN(
      options.search_compat,
      Choose<SearchCompat>("search_compat", {{"nibu", SearchCompat::kNibu},
                                             {"ctranslate2", SearchCompat::kCTranslate2},
                                             {"marian", SearchCompat::kMarian},
                                             {"huggingface", SearchCompat::kHuggingFace}}));
  options.coverage_penalty = absl::GetFlag(FLAGS_coverage_penalty);
  options.repetition_penalty = absl::GetFlag(FLAGS_repetition_penalty);
  options.no_repeat_ngram_size = absl::GetFlag(FLAGS_no_repeat_ngram_size);
  options.disable_unk = absl::GetFlag(FLAGS_disable_unk);
  NIBU_ASSIGN_OR_RETURN(options.on_repetition,
                        Choose<OnRepetition>("on_repetition", {{"keep", OnRepetition::kKeep},
                                                               {"retry", OnRepetition::kRetry}}));
  options.min_decoding_length = absl::GetFlag(FLAGS_min_decoding_length);
  options.max_decoding_length = absl::GetFlag(FLAGS_max_decoding_length);
  options.prefix_bias_beta = absl::GetFlag(FLAGS_prefix_bias_beta);
  options.return_alternatives = absl::GetFlag(FLAGS_return_alternatives);
  options.min_alternative_expansion_prob = absl::GetFlag(FLAGS_min_alternative_expansion_prob);
  if (WasGiven("alignment_layer")) options.alignment_layer = absl::GetFlag(FLAGS_alignment_layer);
  if (WasGiven("alignment_heads")) options.alignment_heads = absl::GetFlag(FLAGS_alignment_heads);
  NIBU_RETURN_IF_ERROR(NameFlag(options.Validate()));
  if (!model.text.draft_model.empty() && options.beam_size != 1) {
    return Invalid("--draft_model needs --beam_size=1, not ", options.beam_size);
  }
  return options;
}

absl::Status ReadTextSearchFlags(TextOptions* options) {
  NIBU_RETURN_IF_ERROR(CheckCompanions());
  const std::string end_tokens = absl::GetFlag(FLAGS_end_token);
  if (!end_tokens.empty()) options->end_tokens = absl::StrSplit(end_tokens, ',');
  const std::string sequences = absl::GetFlag(FLAGS_suppress_sequences);
  // An empty one is refused later on.
  if (!sequences.empty()) {
    for (const absl::string_view sequence : absl::StrSplit(sequences, ',')) {
      options->suppress_sequences.push_back(absl::StrSplit(sequence, ' ', absl::SkipEmpty()));
    }
  }
  options->replace_unknowns = absl::GetFlag(FLAGS_replace_unknowns);
  NIBU_ASSIGN_OR_RETURN(options->alignment,
                        Choose<AlignmentKind>("alignment", {{"none", AlignmentKind::kNone},
                                                            {"hard", AlignmentKind::kHard},
                                                            {"soft", AlignmentKind::kSoft}}));
  NIBU_ASSIGN_OR_RETURN(options->align_words,
                        Choose<bool>("alignment_level", {{"pieces", false}, {"words", true}}));
  NIBU_ASSIGN_OR_RETURN(options->protect, ReadProtectFlag());
  options->protect_pattern = absl::GetFlag(FLAGS_protect_pattern);
  for (const char* flag : {"protect", "protect_pattern"}) {
    const bool asks = WasGiven(flag) && FlagValue(flag) != "none";
    if (options->tokenized && asks) {
      return Invalid("--", flag, " needs text, not the pieces of --tokenized; give one of them");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadGlossaryFlag(TextOptions* options) {
  const std::string glossary = absl::GetFlag(FLAGS_glossary);
  if (glossary.empty()) return absl::OkStatus();
  NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(glossary));
  auto entries = ParseGlossary(file->bytes());
  if (!entries.ok()) {
    return Invalid(glossary, ": ", entries.status().message());
  }
  options->glossary = *std::move(entries);
  return absl::OkStatus();
}

}  // namespace nibu
