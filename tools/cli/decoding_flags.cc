#include "tools/cli/decoding_flags.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/check_range.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/assembly/mixer_text.h"
#include "models/random_model.h"
#include "tools/cli/flags.h"

ABSL_FLAG(std::string, model, "",
          "Directory or file of a model, in any supported format. nibu-translate, nibu-score and "
          "nibu-bench take several with commas between them, an ensemble; a comma within a path is "
          "written \\,. Empty: the bundled English-German model.");
ABSL_FLAG(std::vector<std::string>, ensemble_weights, {},
          "Of the models of an ensemble, whose log-probabilities are averaged: numbers above 0 "
          "with commas between them. Empty: equal ones.");
ABSL_FLAG(std::string, src_lang, "",
          "Language of the source, for models that have to be told; en, eng, en-US, eng_Latn, ...: "
          "in any common form.");
ABSL_FLAG(std::string, tgt_lang, "",
          "Language to translate into, for models that have to be told.");
ABSL_FLAG(std::string, sentencepiece, "",
          "SOURCE.spm[,TARGET.spm]: SentencePiece models for a model without them; one serves both "
          "sides.");
ABSL_FLAG(bool, split_sentences, true,
          "Translate the sentences of a line one by one, and keep the white space between them; "
          "not with --tokenized.");
ABSL_FLAG(std::string, split_language, "",
          "Language of the text, for --split_sentences: en, de-DE, zho_Hans, ...; empty: "
          "--src_lang, or what the model says.");
ABSL_FLAG(
    std::string, protect, "all",
    "What comes out of a text as it is: all, none, or any of urls, emails (and @names), paths, "
    "placeholders, emoji, unknown (characters that the model does not know), with commas "
    "between them. Not with --tokenized.");
ABSL_FLAG(std::string, protect_pattern, "",
          "A regular expression (RE2's): what it matches comes out as it is, too.");
ABSL_FLAG(int, max_input_length, 1024,
          "Tokens of a sentence translated in one piece (never more than the model's positions).");
ABSL_FLAG(std::string, compute_type, "auto",
          "Type of the matrix products: float32, bfloat16, int8, or auto, the fastest on this CPU "
          "(int8 on any x86-64 since SSE4.1).");
ABSL_FLAG(std::string, draft_model, "",
          "A smaller model of the same vocabularies that guesses the next tokens, which the model "
          "then checks all at once: greedy search of few lines at a time gets faster, and what it "
          "finds stays the same. Needs --beam_size=1.");
ABSL_FLAG(std::string, shortlist, "",
          "Lexical shortlist (Marian's, or a vmap.txt) that narrows the output to tokens worth it "
          "for a line. Empty: the model's own, if it has one; none: all tokens.");
ABSL_FLAG(std::string, encoder_attention, "",
          "What the encoder's layers do in place of full attention: window:64, bigbird, lsh, "
          "mean:2, pool, ...; one for all layers, or one for each with semicolons between them. Of "
          "several models, in the first.");
ABSL_FLAG(int, threads, 0,
          "Sentences are shared out to this many threads, a single one of an int8 model too; 0: "
          "all cores.");
ABSL_FLAG(int, batch_size, 0, "What a thread decodes together; 0: chosen for speed.");
ABSL_FLAG(std::string, batch_type, "examples",
          "batch_size counts examples (sentences) or tokens (of the sources).");
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
          "So many tokens in a row do not come twice in a hypothesis; 0: they may. A model's own "
          "default is used unless this is given.");
ABSL_FLAG(bool, disable_unk, false, "The unknown token is never generated.");
ABSL_FLAG(std::string, on_repetition, "keep",
          "What becomes of a translation that is caught in a loop: keep; or retry, once more with "
          "no n-gram of 3 tokens twice, and the better one by the plain score.");
ABSL_FLAG(int, min_decoding_length, 1, "Tokens generated at least, for a sentence.");
ABSL_FLAG(
    int, max_decoding_length, 256,
    "Tokens generated at most, for a sentence (never more than the model's positions). A model's "
    "own default is used in place of 256.");
ABSL_FLAG(float, prefix_bias_beta, 0,
          "0: what --target_prefix says is taken as it is. Above 0, below 1: it is favoured, "
          "p' = (1 - beta) p + beta for its next token, until a hypothesis leaves it.");
ABSL_FLAG(bool, return_alternatives, false,
          "The --num_hypotheses most probable tokens behind the prefix (or the first ones), each "
          "completed by a search of its own.");
ABSL_FLAG(float, min_alternative_expansion_prob, 0,
          "Alternatives that begin with a less probable token are left out, but for the first.");
ABSL_FLAG(int, sampling_topk, 1,
          "Tokens are drawn at random from so many of the most probable ones; 0: from all; 1: no "
          "sampling. Needs --beam_size=1, which it sets.");
ABSL_FLAG(float, sampling_topp, 1,
          "Tokens are drawn from the most probable ones that together have this probability.");
ABSL_FLAG(float, sampling_temperature, 1,
          "Below 1: probable tokens are drawn more often; above 1: less often.");
ABSL_FLAG(uint64_t, seed, 0, "Of sampling: the same seed gives the same output.");
ABSL_FLAG(int, alignment_layer, -1,
          "Decoder layer whose cross-attention is taken, from 0; -1: the last one. A model's own "
          "is used unless this is given.");
ABSL_FLAG(int, alignment_heads, 0,
          "The mean of so many heads is taken, 0: of all. A model's own number is used unless this "
          "is given.");

namespace nibu::internal {
namespace {

// Directory of the bundled English-German model: beside the installed programs
// (../share/nibu/models/en-de), or in the source tree this was built from.
std::string BundledModelPath() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share/nibu/models/en-de";
  if (!error && std::filesystem::is_directory(installed, error)) return installed.string();
  return NIBU_SOURCE_DIR "/models/pretrained/en-de";
}

// The paths that --model names: one that exists as it is written, or several with commas between
// them. "\," is a comma within a path.
std::vector<std::string> SplitPaths(const std::string& paths) {
  std::error_code error;
  if (std::filesystem::exists(paths, error)) return {paths};
  std::vector<std::string> split(1);
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i] == ',') {
      split.emplace_back();
      continue;
    }
    if (paths[i] == '\\' && i + 1 < paths.size() && paths[i + 1] == ',') ++i;
    split.back() += paths[i];
  }
  return split;
}

absl::StatusOr<ProtectedKinds> ReadProtectFlag() {
  const std::string value = absl::GetFlag(FLAGS_protect);
  ProtectedKinds kinds;
  if (value == "none") return kinds;
  if (value == "all") return kinds.set();
  for (const absl::string_view name : absl::StrSplit(value, ',')) {
    const auto found = absl::c_find(kProtectedNames, name);
    if (found == kProtectedNames.end()) {
      return WrongUsage("--protect must be all, none or any of ",
                        absl::StrJoin(kProtectedNames, ", "), ", not \"", value, "\"");
    }
    kinds.set(static_cast<size_t>(found - kProtectedNames.begin()));
  }
  return kinds;
}

}  // namespace

absl::StatusOr<ComputeType> ChooseComputeType(
    absl::string_view flag, std::vector<std::pair<std::string, ComputeType>> others) {
  others.insert(others.end(), {{"float32", ComputeType::kFloat32},
                               {"bfloat16", ComputeType::kBFloat16},
                               {"int8", ComputeType::kInt8}});
  return Choose(flag, others);
}

absl::StatusOr<ModelFlags> ReadModelFlags() {
  ModelFlags flags;
  flags.path = absl::GetFlag(FLAGS_model);
  if (flags.path.empty()) flags.path = BundledModelPath();
  const std::vector<std::string> paths = SplitPaths(flags.path);
  if (std::count(paths.begin(), paths.end(), "") > 0) {
    return WrongUsage("--model=", flags.path, " has a comma with no model beside it");
  }
  if (paths.size() == 1 && WasGiven("ensemble_weights")) {
    return WrongUsage(
        "--ensemble_weights means nothing with one model; give several in --model=A,B");
  }
  flags.path = paths[0];
  flags.text = {absl::GetFlag(FLAGS_sentencepiece),
                absl::GetFlag(FLAGS_shortlist),
                absl::GetFlag(FLAGS_draft_model),
                {},
                {paths.begin() + 1, paths.end()}};
  const auto mixers = ParseMixers(absl::GetFlag(FLAGS_encoder_attention));
  NIBU_RETURN_IF_ERROR(UsageOfFlag(mixers.status()));
  flags.text.encoder_attention = *mixers;
  NIBU_ASSIGN_OR_RETURN(flags.compute_type,
                        ChooseComputeType("compute_type", {{"auto", FastestComputeType()}}));
  if (!IsSupported(flags.compute_type)) {
    return WrongUsage("--compute_type=bfloat16 needs AVX-512, this CPU has ", InstructionSet());
  }
  return flags;
}

absl::StatusOr<ModelFlags> ReadOneModelFlags() {
  absl::StatusOr<ModelFlags> flags = ReadModelFlags();
  if (flags.ok() && !flags->text.ensemble.empty()) {
    return WrongUsage(
        "--model must be one model, not an ensemble (a comma within a path is written \\,)");
  }
  return flags;
}

absl::StatusOr<OpenedModel> Open(const ModelFlags& model) {
  if (!model.random_weights) return OpenModel(model.path);
  NIBU_ASSIGN_OR_RETURN(ModelConfig config, ReadModelShape(model.path));
  const std::vector<MixerSpec>& mixers = model.text.encoder_attention;
  if (!mixers.empty()) config.encoder_attention = mixers;
  if (const absl::Status status = config.Validate(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(model.path, ": ", status.message()));
  }
  return OpenRandom(config, /*seed=*/1);
}

TextOptions ReadTextFlags(bool tokenized) {
  TextOptions options;
  options.tokenized = tokenized;
  options.src_lang = absl::GetFlag(FLAGS_src_lang);
  options.tgt_lang = absl::GetFlag(FLAGS_tgt_lang);
  options.max_input_length = absl::GetFlag(FLAGS_max_input_length);
  return options;
}

absl::Status ReadSentenceFlags(TextOptions* options) {
  options->split_sentences = absl::GetFlag(FLAGS_split_sentences);
  options->split_language = absl::GetFlag(FLAGS_split_language);
  options->protect_pattern = absl::GetFlag(FLAGS_protect_pattern);
  NIBU_ASSIGN_OR_RETURN(options->protect, ReadProtectFlag());
  // These flags need text, except with the value beside them.
  for (const auto& [flag, nothing] :
       {std::pair{"split_sentences", "false"}, {"protect", "none"}, {"protect_pattern", "none"}}) {
    if (options->tokenized && WasGiven(flag) && FlagValue(flag) != nothing) {
      return WrongUsage("--", flag, " needs text, not the pieces of --tokenized; give one of them");
    }
  }
  return Refuse(
      {{options->tokenized && WasGiven("sentencepiece"),
        "--sentencepiece makes pieces, --tokenized is for pieces that are made; give one of them"},
       {(options->tokenized || !options->split_sentences) && WasGiven("split_language"),
        "--split_language means nothing without --split_sentences"}});
}

absl::Status UsageOfFlag(const absl::Status& status) {
  const absl::string_view message = status.message();
  const std::string name(message.substr(0, message.find_first_of(" =:")));
  const bool is_of_flag = absl::IsInvalidArgument(status) && absl::FindCommandLineFlag(name);
  return is_of_flag ? WrongUsage("--", message) : status;
}

absl::StatusOr<TranslatorOptions> ReadTranslatorFlags() {
  TranslatorOptions options;
  options.threads = absl::GetFlag(FLAGS_threads);
  if (options.threads == 0) {
    // Of those this process may use.
    cpu_set_t cpus;
    options.threads = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  }
  options.batch_size = absl::GetFlag(FLAGS_batch_size);
  NIBU_ASSIGN_OR_RETURN(options.batch_type,
                        Choose<BatchType>("batch_type", {{"examples", BatchType::kExamples},
                                                         {"tokens", BatchType::kTokens}}));
  for (const std::string& weight : absl::GetFlag(FLAGS_ensemble_weights)) {
    if (!absl::SimpleAtof(weight, &options.ensemble_weights.emplace_back())) {
      return WrongUsage("--ensemble_weights must be numbers, not \"", weight, "\"");
    }
  }
  options.max_source_length = absl::GetFlag(FLAGS_max_input_length);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(CheckRange("max_input_length", options.max_source_length, 1)));
  options.max_decoding_length = std::max(1, absl::GetFlag(FLAGS_max_decoding_length));
  NIBU_RETURN_IF_ERROR(UsageOfFlag(options.Validate()));
  return options;
}

absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults) {
  DecodingOptions options = DefaultDecoding(defaults);
  options.sampling = {absl::GetFlag(FLAGS_sampling_topk), absl::GetFlag(FLAGS_sampling_topp),
                      absl::GetFlag(FLAGS_sampling_temperature), absl::GetFlag(FLAGS_seed)};
  if (options.sampling.is_on()) options.beam_size = 1;
  if (WasGiven("beam_size")) options.beam_size = absl::GetFlag(FLAGS_beam_size);
  if (WasGiven("length_penalty")) options.length_penalty = absl::GetFlag(FLAGS_length_penalty);
  if (WasGiven("word_penalty")) options.word_penalty = absl::GetFlag(FLAGS_word_penalty);
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
  if (WasGiven("no_repeat_ngram_size")) {
    options.no_repeat_ngram_size = absl::GetFlag(FLAGS_no_repeat_ngram_size);
  }
  options.disable_unk = absl::GetFlag(FLAGS_disable_unk);
  NIBU_ASSIGN_OR_RETURN(options.on_repetition,
                        Choose<OnRepetition>("on_repetition", {{"keep", OnRepetition::kKeep},
                                                               {"retry", OnRepetition::kRetry}}));
  options.min_decoding_length = absl::GetFlag(FLAGS_min_decoding_length);
  if (WasGiven("max_decoding_length")) {
    options.max_decoding_length = absl::GetFlag(FLAGS_max_decoding_length);
  }
  options.prefix_bias_beta = absl::GetFlag(FLAGS_prefix_bias_beta);
  options.return_alternatives = absl::GetFlag(FLAGS_return_alternatives);
  options.min_alternative_expansion_prob = absl::GetFlag(FLAGS_min_alternative_expansion_prob);
  if (WasGiven("alignment_layer")) options.alignment_layer = absl::GetFlag(FLAGS_alignment_layer);
  if (WasGiven("alignment_heads")) options.alignment_heads = absl::GetFlag(FLAGS_alignment_heads);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(options.Validate()));
  if (!model.text.draft_model.empty() && options.beam_size != 1) {
    return WrongUsage("--draft_model needs --beam_size=1, not ", options.beam_size);
  }
  return options;
}

}  // namespace nibu::internal
