// What a line's parts are translated to, made one.
#ifndef NIBU_TOOLS_TEXT_JOIN_H_
#define NIBU_TOOLS_TEXT_JOIN_H_

#include <string>
#include <vector>

#include "engine/model/config.h"
#include "engine/request.h"
#include "tools/text/marked_text.h"
#include "tools/text/text_coder.h"
#include "tools/text/text_options.h"

namespace nibu {

// What is translated in one piece: a sentence, or a part of a long one.
struct LinePart {
  std::string untouched;  // text in front that is left alone
  std::string before;     // the white space in front
  CodedText source;
  MarkedText marked = {};  // the source (of WithNames), if it carries anything or has markup
  std::vector<Hypothesis> hypotheses = {};
};

struct LineParts {
  std::vector<LinePart> parts;
  std::string behind;      // white space, and text that is left alone
  bool is_marked = false;  // what is carried or left alone may have line breaks
  bool is_scored = false;
  bool is_whole = false;  // has one part
};

// The n-th hypotheses of all parts.
TextHypothesis Join(const TextCoder& coder, const ModelConfig& config, const TextOptions& options,
                    const LineParts& line, size_t n);

}  // namespace nibu

#endif  // NIBU_TOOLS_TEXT_JOIN_H_
