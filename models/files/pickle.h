// Reads Python pickles as plain values, and executes nothing.
//
// A pickle is a program for a stack machine: opcodes (one byte, then arguments) push values,
// collect them into tuples, lists and dictionaries, and call functions that they name. Here a call
// becomes a value that holds the function's name and its arguments; only names on a list are let
// through. Opcodes: protocols 2 to 4, as PyTorch writes them (Python's Lib/pickletools.py documents
// them).
#ifndef NIBU_MODELS_FILES_PICKLE_H_
#define NIBU_MODELS_FILES_PICKLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace nibu::internal {

// The index of a value. Values may be referred to from several places, even from inside themselves,
// so that no walk over them may follow references without a bound on depth.
using PickleRef = uint32_t;

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,        // integer
    kInt,         // integer
    kFloat,       // number
    kString,      // text: UTF-8 or bytes
    kTuple,       // items
    kList,        // items
    kDict,        // items: key, value, key, value, ...
    kGlobal,      // text: "module name"
    kCall,        // items: function, tuple of arguments, and the state that BUILD has set, if any;
                  // an OrderedDict or defaultdict becomes a kDict
    kPersistent,  // items: an id whose meaning is the caller's (PyTorch: a storage)
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  absl::string_view text;  // points into the pickle (kGlobal: into the list of names)
  std::vector<PickleRef> items;
};

// The values of one pickle. Immutable. The bytes that it was read from, and the list of names, must
// outlive it.
class Pickle {
 public:
  // Reads one pickle from the front of `bytes`; `*consumed` becomes its size. `file` is for
  // messages. `globals`: the names ("collections OrderedDict") that may be referred to.
  // InvalidArgument: it is damaged or not whole. Unimplemented, naming what was found: it has
  // another name, or an opcode that is not known.
  static absl::StatusOr<Pickle> Read(absl::string_view bytes, const std::string& file,
                                     absl::Span<const absl::string_view> globals, size_t* consumed);

  size_t size() const { return values_.size(); }
  PickleRef root() const { return root_; }
  const PickleValue& operator[](PickleRef ref) const { return values_[ref]; }

  bool Is(PickleRef ref, PickleValue::Kind kind) const { return values_[ref].kind == kind; }
  // Returns the dictionary of an object's attributes; null for any value without one.
  const PickleValue* Attributes(const PickleValue& object) const;
  // Returns the value of a text key, or null.
  const PickleValue* Find(const PickleValue& dict, absl::string_view key) const;

 private:
  friend class PickleMachine;

  std::vector<PickleValue> values_;
  PickleRef root_ = 0;
};

}  // namespace nibu::internal

#endif  // NIBU_MODELS_FILES_PICKLE_H_
