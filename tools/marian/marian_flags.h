// The table of Marian's flags.
#ifndef NIBU_TOOLS_MARIAN_MARIAN_FLAGS_H_
#define NIBU_TOOLS_MARIAN_MARIAN_FLAGS_H_

#include "absl/types/span.h"

namespace nibu::internal {

// How nibu treats a flag of Marian's.
enum class MarianFlagKind {
  kUnderstood,  // It is obeyed.
  kIgnored,     // It means nothing here, which the program says once.
  kRefused,     // It would change what the caller gets; its help says why nibu refuses it.
};

// How many values a flag takes.
enum class MarianFlagForm {
  kSwitch,    // none
  kOne,       // one
  kOptional,  // one, or none for the value `alone`
  kList,      // all arguments up to the next flag
};

struct MarianFlag {
  const char* name;
  char letter;  // of the short form, or 0
  MarianFlagKind kind;
  MarianFlagForm form;
  const char* type;      // "bool", "int", "float", "text" or "path"
  const char* defaults;  // the values when the flag is not given, with blanks between them
  const char* alone;  // kOptional and kList: the value of a flag without one; empty: there is none
  const char* commands;    // "decode", "score", or both with a blank between them
  const char* help;        // sentences, of which the first one says by itself what the flag does
  const char* group = "";  // of the help; empty: that of the flag in front of it
};

// Returns all flags, those of one purpose side by side. They live forever.
absl::Span<const MarianFlag> MarianFlags();

}  // namespace nibu::internal

#endif  // NIBU_TOOLS_MARIAN_MARIAN_FLAGS_H_
