// What a line's parts are translated to, made one.
#ifndef NIBU_TOOLS_TEXT_JOIN_H_
#define NIBU_TOOLS_TEXT_JOIN_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/model/config.h"
#include "engine/request.h"
#include "tools/text/alignment.h"
#include "tools/text/marked_text.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_options.h"
#include "tools/text/watch.h"

namespace nibu {

// What is translated in one piece: a sentence, or a part of a long one.
struct LinePart {
  std::string untouched;  // text in front that is left alone
  std::string before;     // the white space in front
  CodedText source;
  MarkedText marked = {};  // the source (of WithNames), if it carries anything or has markup
  std::vector<Hypothesis> hypotheses;
};

struct LineParts {
  std::vector<LinePart> parts;
  std::string behind;      // white space, and text that is left alone
  bool is_marked = false;  // what is carried or left alone may have line breaks
  bool is_scored = false;
};

// Refers to all of them.
class Joiner {
 public:
  Joiner(const TextCoder& coder, const ModelConfig& config, const TextOptions& options)
      : coder_(coder), config_(config), options_(options) {}

  // The n-th hypotheses of all parts.
  TextHypothesis Join(const LineParts& line, size_t n) const;

 private:
  // The attention of a part's tokens, [target][source] without language tokens.
  AttentionRows Attention(const LinePart& part, const Hypothesis& hypothesis) const;
  // What its tokens say, with all that it carries. Adds to the warnings.
  std::string Text(const LinePart& part, const LineParts& line, const Hypothesis& hypothesis,
                   const AttentionRows& attention, absl::Span<const std::string> tokens,
                   Warnings* warnings) const;
  void ReplaceUnknowns(absl::Span<const std::string> source, const AttentionRows& attention,
                       std::vector<std::string>* tokens) const;
  void Align(const LineParts& line, const AttentionRows& attention, TextHypothesis* joined) const;

  const TextCoder& coder_;
  const ModelConfig& config_;
  const TextOptions& options_;
};

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_JOIN_H_
