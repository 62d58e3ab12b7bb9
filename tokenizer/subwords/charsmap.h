#ifndef NIBU_TOKENIZER_SUBWORDS_CHARSMAP_H_
#define NIBU_TOKENIZER_SUBWORDS_CHARSMAP_H_

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Whether the character maps in a serialized SentencePiece model are sound. SentencePiece walks
// them unchecked, so that a damaged one would make it read outside of memory.
//
// The model is a protocol buffer; its fields 3 and 5 (normalizers) have the map as their field 2:
//   u32 bytes of the trie | trie: u32 units | replacements, each ended by a NUL
// The trie is a double array (Aoe 1989) as Darts-clone stores it. A unit is a node, with bit 31 0:
//   bits 0-7 label | bit 8: has a value | bit 9: offset times 256 | bits 10-30 offset
// whose child for a byte b is unit (i ^ offset ^ b), the value being at (i ^ offset); or a value,
// with bit 31 1: bits 0-30 position of the replacement.
bool CharsmapsAreSound(absl::string_view model);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_CHARSMAP_H_
