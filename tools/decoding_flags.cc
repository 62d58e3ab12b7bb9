#include "tools/decoding_flags.h"

#include <sched.h>

#include <algorithm>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/core/status_macros.h"
#include "models/files/file_bytes.h"
#include "models/vocabulary/shortlist_file.h"
#include "tokenizer/language_code.h"
#include "tools/bundled_model.h"
#include "tools/flags.h"

ABSL_FLAG(std::string, model, "",
          "Directory or file of a model, in any supported format. Empty: the bundled "
          "English-German model.");
ABSL_FLAG(std::string, src_lang, "",
          "Language of the source, for models that have to be told; en, eng, en-US, eng_Latn, ...: "
          "in any common form.");
ABSL_FLAG(std::string, tgt_lang, "",
          "Language to translate into, for models that have to be told.");
ABSL_FLAG(std::string, sentencepiece, "",
          "SOURCE.spm[,TARGET.spm]: SentencePiece models for a model without them; one serves both "
          "sides.");
ABSL_FLAG(
    int, beam_size, 4,
    "Hypotheses kept at each step; 1 is greedy search. A model's own default is used in place "
    "of 4.");
ABSL_FLAG(float, patience, 1,
          "Beam search goes on until round(beam_size * patience) hypotheses have finished.");
ABSL_FLAG(int, num_hypotheses, 1, "Hypotheses returned for a line, best first (nbest and jsonl).");
ABSL_FLAG(float, length_penalty, 1,
          "Hypotheses are ranked by log-probability / length^length_penalty. A model's own default "
          "is used in place of 1.");
ABSL_FLAG(int, min_decoding_length, 1, "Tokens generated at least, for a sentence.");
ABSL_FLAG(int, max_decoding_length, 256,
          "Tokens generated at most, for a sentence (never more than the model's positions).");
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
ABSL_FLAG(
    int, threads, 0,
    "Sentences are shared out to this many threads, a single one of an int8 model too; 0: all "
    "cores.");
ABSL_FLAG(int, batch_size, 0, "What a thread decodes together; 0: chosen for speed.");
ABSL_FLAG(std::string, batch_type, "examples",
          "batch_size counts examples (sentences) or tokens (of the sources).");

namespace nibu {

std::vector<std::string> SearchFlags() {
  return {"beam_size", "patience", "num_hypotheses", "length_penalty"};
}

std::vector<std::string> SpeedFlags() {
  return {"compute_type", "draft_model", "shortlist", "threads", "batch_size", "batch_type"};
}

absl::StatusOr<ComputeType> ParseComputeType(const std::string& text) {
  if (text == "auto") return FastestComputeType();
  if (text == "float32") return ComputeType::kFloat32;
  if (text == "bfloat16") return ComputeType::kBFloat16;
  if (text == "int8") return ComputeType::kInt8;
  return absl::InvalidArgumentError(
      absl::StrCat("--compute_type must be auto, float32, bfloat16 or int8, not \"", text, "\""));
}

absl::StatusOr<ModelFlags> ReadModelFlags() {
  ModelFlags flags;
  flags.path = absl::GetFlag(FLAGS_model);
  if (flags.path.empty()) flags.path = BundledModelPath();
  flags.draft = absl::GetFlag(FLAGS_draft_model);
  NIBU_ASSIGN_OR_RETURN(flags.compute_type, ParseComputeType(absl::GetFlag(FLAGS_compute_type)));
  if (!IsSupported(flags.compute_type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--compute_type=bfloat16 needs AVX-512, this CPU has ", InstructionSet()));
  }
  return flags;
}

LanguageFlags ReadLanguageFlags() {
  return {absl::GetFlag(FLAGS_src_lang), absl::GetFlag(FLAGS_tgt_lang)};
}

absl::StatusOr<std::optional<Frame>> ChooseLanguages(const LoadedModel& loaded,
                                                     const LanguageFlags& flags) {
  const ModelLanguages& model = loaded.vocabulary.languages;
  if (model.languages.empty()) {
    if (flags.source.empty() && flags.target.empty()) return std::nullopt;
    return absl::InvalidArgumentError(absl::StrCat(
        flags.source.empty() ? "--tgt_lang" : "--src_lang",
        " is not for this model, which has no languages to choose from",
        loaded.vocabulary.language_tokens ? "; one of several targets is chosen by its token in "
                                            "front of a line, as >>xx<< or <2xx>"
                                          : ""));
  }
  std::vector<std::string> codes;
  for (const auto& language : model.languages) codes.push_back(language.code);
  const auto find = [&](const char* flag, const std::string& given,
                        const std::string& own) -> absl::StatusOr<int> {
    const std::string& code = given.empty() ? own : given;
    for (const auto& language : model.languages) {
      if (language.code == code) return language.token;
    }
    const std::vector<std::string> same = SameLanguage(given, codes);
    if (same.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, "=", given, " may be ", absl::StrJoin(same, " or "), " of this model; say which"));
    }
    for (const auto& language : model.languages) {
      if (!same.empty() && language.code == same[0]) return language.token;
    }
    const std::string nearest = Nearest(given, codes);
    return absl::InvalidArgumentError(
        absl::StrCat(flag,
                     given.empty() ? " is needed with this model"
                                   : absl::StrCat("=", given, " is not a language of this model"),
                     nearest.empty() ? "" : absl::StrCat(", did you mean ", nearest, "?"),
                     "; it has ", absl::StrJoin(codes, ", ")));
  };
  NIBU_ASSIGN_OR_RETURN(const int source, find("--src_lang", flags.source, model.default_source));
  NIBU_ASSIGN_OR_RETURN(const int target, find("--tgt_lang", flags.target, model.default_target));
  const ModelConfig& config = loaded.model->config;
  Frame frame;
  frame.source_suffix = config.source_suffix;
  (model.source_in_front ? frame.source_prefix : frame.source_suffix).push_back(source);
  if (model.target_follows_start) frame.decoder_start.push_back(config.decoder_start);
  frame.decoder_start.push_back(target);
  return frame;
}

absl::StatusOr<DecodingOptions> ReadDecodingFlags(const ModelFlags& model,
                                                  const ModelDefaults& defaults) {
  DecodingOptions options;
  options.beam_size = absl::GetFlag(FLAGS_beam_size);
  options.patience = absl::GetFlag(FLAGS_patience);
  options.num_hypotheses = absl::GetFlag(FLAGS_num_hypotheses);
  options.length_penalty = absl::GetFlag(FLAGS_length_penalty);
  options.min_decoding_length = absl::GetFlag(FLAGS_min_decoding_length);
  options.max_decoding_length = absl::GetFlag(FLAGS_max_decoding_length);
  if (!WasGiven("beam_size")) options.beam_size = defaults.beam_size.value_or(options.beam_size);
  if (!WasGiven("length_penalty")) {
    options.length_penalty = defaults.length_penalty.value_or(options.length_penalty);
  }
  // A length that the command line asks for is not cut.
  if (!WasGiven("min_decoding_length") && !WasGiven("max_decoding_length")) {
    options.max_length_factor = defaults.max_length_factor.value_or(0);
  }
  const absl::Status status = options.Validate();
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("--", status.message()));
  if (!model.draft.empty() && options.beam_size != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--draft_model needs --beam_size=1, not ", options.beam_size));
  }
  return options;
}

absl::Status ChooseSentencePiece(ModelVocabulary* vocabulary) {
  const std::string paths = absl::GetFlag(FLAGS_sentencepiece);
  if (paths.empty()) return absl::OkStatus();
  const std::vector<std::string> files = absl::StrSplit(paths, absl::MaxSplits(',', 1));
  NIBU_ASSIGN_OR_RETURN(const auto source, FileBytes::Open(files.front()));
  NIBU_ASSIGN_OR_RETURN(const auto target, FileBytes::Open(files.back()));
  vocabulary->source_sentencepiece = std::string(source->bytes());
  vocabulary->target_sentencepiece = std::string(target->bytes());
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Shortlist>> ChooseShortlist(
    const ModelVocabulary& vocabulary, std::shared_ptr<const Shortlist> own) {
  const std::string path = absl::GetFlag(FLAGS_shortlist);
  if (path.empty()) return own;
  if (path == "none") return nullptr;
  NIBU_ASSIGN_OR_RETURN(const auto file, FileBytes::Open(path));
  return ReadShortlist(*file, vocabulary, {});
}

absl::StatusOr<LoadedModel> LoadDraft(const LoadedModel& loaded, const ModelFlags& flags) {
  if (flags.draft.empty()) return LoadedModel();
  NIBU_ASSIGN_OR_RETURN(LoadedModel draft, LoadModel(flags.draft, loaded.model->compute_type));
  const ModelVocabulary& vocabulary = draft.vocabulary;
  if (vocabulary.source_tokens != loaded.vocabulary.source_tokens ||
      vocabulary.target_tokens != loaded.vocabulary.target_tokens ||
      draft.model->config.eos != loaded.model->config.eos) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.draft, ": has not the vocabulary of ", flags.path,
                     "; give a --draft_model that was trained with the same"));
  }
  return draft;
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
  const std::string type = absl::GetFlag(FLAGS_batch_type);
  if (type != "examples" && type != "tokens") {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch_type must be examples or tokens, not \"", type, "\""));
  }
  options.batch_type = type == "tokens" ? BatchType::kTokens : BatchType::kExamples;
  options.max_source_length = absl::GetFlag(FLAGS_max_input_length);
  if (options.max_source_length < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max_input_length must be at least 1, not ", options.max_source_length));
  }
  const absl::Status status = options.Validate();
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("--", status.message()));
  return options;
}

}  // namespace nibu
