// Text in, text out: what is asked and what is answered.
#ifndef NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_
#define NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_

#include <string>
#include <vector>

#include "engine/request.h"

namespace nibu {

// What to do with a sentence of more than max_input_length tokens.
enum class LongInput {
  kSplit,     // at sentence or clause ends; the parts' translations are joined by a space
  kTruncate,  // what is too much is left out
  kError,     // the line is refused
};

struct TextOptions {
  // Of a multilingual model, in any common form: en, eng, en-US, eng_Latn. Empty: its own default.
  std::string src_lang;
  std::string tgt_lang;
  bool tokenized = false;  // input and output are pieces separated by single spaces
  // A line's sentences are translated one by one, and white space stays as it was; not if
  // tokenized.
  bool split_sentences = true;
  std::string split_language;  // empty: src_lang, or the model's source language
  LongInput long_input = LongInput::kSplit;
  int max_input_length = 1024;  // tokens, EOS not counted; never more than the Translator's
  DecodingOptions decoding;     // its frame is made from the languages
};

struct TextHypothesis {
  std::string text;                 // without line breaks
  std::vector<std::string> tokens;  // of all sentences; EOS left out
  std::vector<float> token_scores;  // log-probability of each of the tokens
  float log_prob = 0;               // S, EOS included
  float score = 0;                  // S / L^length_penalty
  bool finished = true;             // false: it, or a part of it, was cut at a length limit
};

struct TextResult {
  // Best first. One empty hypothesis of score 0 for a line that is blank, or has nothing but a
  // language token.
  std::vector<TextHypothesis> hypotheses;
  int source_tokens = 0;
  int target_tokens = 0;  // of the best hypothesis
  bool too_long = false;  // more than max_input_length tokens, in a sentence
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_TEXT_OPTIONS_H_
