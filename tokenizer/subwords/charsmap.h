// Checks the character maps of a SentencePiece model.
#ifndef NIBU_TOKENIZER_SUBWORDS_CHARSMAP_H_
#define NIBU_TOKENIZER_SUBWORDS_CHARSMAP_H_

#include "absl/strings/string_view.h"

namespace nibu::internal {

// Returns true if the character maps in a serialized SentencePiece model are sound: every place
// that a walk can reach lies inside of its map. SentencePiece walks them unchecked, so that a
// damaged one would make it read outside of memory.
//
// The model is a protocol buffer; its fields 3 and 5 (normalizers) have the map as their field 2:
//   u32 bytes of the trie | trie: u32 units | replacements, each ended by a NUL
// The trie is a double array (Aoe 1989) as Darts-clone stores it. Unit i is a node or a value:
//   node    bits 0-7 label | bit 8: has a value | bit 9: offset times 256 | bits 10-30 offset |
//           bit 31: 0. Its child for a byte b is unit i ^ offset ^ b, its value unit i ^ offset.
//   value   bits 0-30 position of the replacement | bit 31: 1
bool CharsmapsAreSound(absl::string_view model);

}  // namespace nibu::internal

#endif  // NIBU_TOKENIZER_SUBWORDS_CHARSMAP_H_
