// Translates a line and computes the attention weights of the model for it.
#include "tools/inspect/inspect.h"

#include <algorithm>
#include <filesystem>
#include <future>

#include "engine/core/errors.h"
#include "engine/core/option_error.h"
#include "engine/core/status_macros.h"
#include "engine/plan.h"
#include "engine/translator.h"
#include "models/assembly/mixer_text.h"
#include "tokenizer/unicode/characters.h"
#include "tools/cli/flags.h"
#include "tools/cli/model_flags.h"
#include "tools/text/lines/choose_languages.h"
#include "tools/text/model/model_parts.h"
#include "tools/text/model/text_coder.h"

namespace nibu::internal {
namespace {

// The most weights of a page. It has 100 MB then, with scores, queries and keys; more is too much
// for browsers.
constexpr size_t kMostWeights = size_t{1} << 22;

absl::Status CheckSize(const ModelConfig& config, size_t source, size_t target) {
  int encoder = config.layers_encoder * config.heads_encoder;
  for (int l = 0; l < config.layers_encoder; ++l) {
    if (config.encoder_mixer(l).has_two_parts()) encoder += config.heads_encoder;
  }
  const int decoder = config.layers_decoder * config.heads_decoder;
  const size_t weights = static_cast<size_t>(encoder) * source * source +
                         static_cast<size_t>(decoder) * target * (target + source);
  if (weights <= kMostWeights) return absl::OkStatus();
  return Invalid("TEXT has ", source, " tokens, its translation ", target, ": ", weights,
                 " weights are more than can be looked at (", kMostWeights,
                 "); give a shorter text");
}

// Translates the source. The tokens include the end token, if the translation reached one.
absl::StatusOr<std::vector<int>> Translation(const std::shared_ptr<const Model>& model,
                                             const DecodingOptions& decoding,
                                             const std::vector<int>& source) {
  NIBU_ASSIGN_OR_RETURN(const auto translator, Translator::Create(model, {}));
  NIBU_ASSIGN_OR_RETURN(const auto found, translator->Translate({source}, decoding));
  std::vector<int> tokens = found[0][0].tokens;
  if (found[0][0].finished) tokens.push_back(found[0][0].end_token);
  return tokens;
}

// Returns the sum of the log-probabilities of the target, among all tokens.
absl::StatusOr<double> LogProb(const std::shared_ptr<const Model>& model,
                               const DecodingOptions& decoding, const std::vector<int>& source,
                               const std::vector<int>& target) {
  NIBU_ASSIGN_OR_RETURN(const auto translator, Translator::Create(model, {}));
  Request request = {.source = source, .options = decoding, .target = target};
  request.options.score_as_search = false;
  request.options.shortlist = nullptr;
  request.options.return_scores = true;
  std::promise<Result> result;
  NIBU_RETURN_IF_ERROR(
      translator
          ->Submit(std::move(request),
                   [&](uint64_t, Result found) { result.set_value(std::move(found)); })
          .status());
  NIBU_ASSIGN_OR_RETURN(const auto found, result.get_future().get());
  double sum = 0;
  for (const float each : found[0].token_scores) sum += static_cast<double>(each);
  return sum;
}

// Lets the model read source and target with another mechanism in its encoder. `framed` and `read`
// are what encoder and decoder get.
absl::StatusOr<ComparedMechanism> Compare(const std::string& mechanism, const std::string& path,
                                          ModelOptions loading, const DecodingOptions& decoding,
                                          const std::vector<int>& source,
                                          const std::vector<int>& target,
                                          const std::vector<int>& framed,
                                          const std::vector<int>& read) {
  loading.encoder_attention = mechanism;
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenModelOrShape(path, /*is_shape=*/false, loading));
  const auto loaded = LoadParts(std::move(opened), {path}, loading);
  if (OptionOf(loaded.status()) == kEncoderAttention) {
    return WrongUsage("--compare", loaded.status().message().substr(kEncoderAttention.size()));
  }
  NIBU_RETURN_IF_ERROR(loaded.status());
  const std::shared_ptr<const Model>& model = loaded->loaded.model;
  NIBU_ASSIGN_OR_RETURN(AttentionMaps maps, FindAttention(*model, framed, read));
  NIBU_ASSIGN_OR_RETURN(const double log_prob, LogProb(model, decoding, source, target));
  return ComparedMechanism{mechanism, std::move(maps.encoder), log_prob};
}

}  // namespace

absl::StatusOr<AttentionView> ViewAttention(const std::string& model, const ModelOptions& loading,
                                            const Options& asked, const std::string& text,
                                            const std::optional<std::string>& target,
                                            absl::Span<const std::string> compare) {
  NIBU_ASSIGN_OR_RETURN(OpenedModel opened, OpenModelOrShape(model, /*is_shape=*/false, loading));
  NIBU_ASSIGN_OR_RETURN(DecodingOptions decoding,
                        ReadDecodingFlags(asked, loading, opened.defaults));
  const auto loaded = LoadParts(std::move(opened), {model}, loading);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(loaded.status()));
  for (const std::string& note : loaded->notes) PrintWarning(note);
  if (!asked.tokenized && !loaded->coder.has_sentencepiece()) {
    return Invalid(model,
                   ": has no SentencePiece model; give it with --sentencepiece, or pieces "
                   "separated by spaces with --tokenized");
  }
  const std::shared_ptr<const Model>& weights = loaded->loaded.model;
  const ModelConfig& config = weights->config;
  auto languages =
      ChooseLanguages(loaded->loaded.vocabulary, config, asked.src_lang, asked.tgt_lang);
  NIBU_RETURN_IF_ERROR(UsageOfFlag(languages.status()));
  decoding.shortlist = loaded->loaded.shortlist;
  decoding.frame = std::move(languages->frame);
  AddForcedToken(loaded->loaded.defaults, config, &decoding.frame);
  const TextCoder coder = (asked.tokenized ? loaded->coder.Tokenized() : loaded->coder)
                              .WithTarget(languages->target_token);
  const Frame frame = FrameFor(decoding, config);

  const TextCoder::Line line = coder.ParseLine(text, /*split=*/false);
  if (IsBlank(line.text)) {
    return WrongUsage("TEXT is blank, there is nothing to attend to");
  }
  NIBU_ASSIGN_OR_RETURN(const EncodedText coded, coder.Encode(line, line.text));
  const std::vector<std::string>& pieces = coded.pieces;
  const std::vector<int> plain = coder.Ids(pieces);
  absl::StatusOr<std::vector<int>> ids =
      target.has_value() ? coder.TargetIds(*target) : Translation(weights, decoding, plain);
  NIBU_RETURN_IF_ERROR(ids.status());
  if (target.has_value()) ids->push_back(config.eos);
  std::vector<int> said(frame.decoder_start.begin() + 1, frame.decoder_start.end());
  said.insert(said.end(), ids->begin(), ids->end());

  AttentionView view;
  view.model = std::filesystem::weakly_canonical(model).filename().string();
  view.config = config;
  view.compute_type = weights->compute_type;
  view.layer = config.alignment_layer + (config.alignment_layer < 0 ? config.layers_decoder : 0);
  view.head = config.alignment_heads == 1 ? 0 : -1;
  std::vector<int> source = frame.source_prefix;
  source.insert(source.end(), plain.begin(), plain.end());
  source.insert(source.end(), frame.source_suffix.begin(), frame.source_suffix.end());
  for (const int id : source) {
    view.source.push_back(coder.source_vocabulary().Token(id));
  }
  // Shows the pieces as they are written, those that the vocabulary lacks included.
  std::copy(pieces.begin(), pieces.end(),
            view.source.begin() + static_cast<long>(frame.source_prefix.size()));

  NIBU_RETURN_IF_ERROR(CheckSize(config, source.size(), said.size()));
  std::vector<int> read = {frame.decoder_start[0]};
  read.insert(read.end(), said.begin(), said.end() - 1);
  NIBU_ASSIGN_OR_RETURN(view.maps, FindAttention(*weights, source, read));
  view.terms = FindScoreTerms(*weights, source);
  for (const std::string& mechanism : compare) {
    NIBU_ASSIGN_OR_RETURN(view.compared.emplace_back(),
                          Compare(mechanism, model, loading, decoding, plain, *ids, source, read));
  }
  view.target = coder.Tokens(said);
  view.read = {read[0] < 0 ? "\u2205" : coder.Tokens({read[0]})[0]};  // -1: a zero vector
  view.read.insert(view.read.end(), view.target.begin(), view.target.end() - 1);
  return view;
}

}  // namespace nibu::internal
