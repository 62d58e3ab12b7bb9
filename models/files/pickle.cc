// Runs the opcodes of a pickle on a stack of values; see pickle.h.
#include "models/files/pickle.h"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/core/errors.h"
#include "engine/core/status_macros.h"
#include "models/files/byte_reader.h"

namespace nibu::internal {

using Kind = PickleValue::Kind;

// The stack machine. Values lie in pickle_, the stack has their indices. A mark is a height of the
// stack at which a tuple, list or dictionary begins. The memo holds values by numbers that the
// pickle gives them, for later references. Each Step() runs one opcode.
class PickleMachine {
 public:
  PickleMachine(absl::string_view bytes, const std::string& file,
                absl::Span<const absl::string_view> globals)
      : reader_(bytes), file_(file), globals_(globals) {}

  absl::StatusOr<Pickle> Run(size_t* consumed) {
    while (!stopped_) {
      const auto opcode = reader_.Read<uint8_t>();
      if (!reader_.ok()) return Damaged("it ends too early");
      NIBU_RETURN_IF_ERROR(Step(opcode));
      if (!reader_.ok()) return Damaged("it ends too early");
      if (pickle_.values_.size() > kMaxValues) return Damaged("too many values");
    }
    *consumed = reader_.position();
    return std::move(pickle_);
  }

 private:
  static constexpr size_t kMaxValues = 1'000'000;

  absl::Status Damaged(absl::string_view what) const {
    return Invalid(file_, ": not a whole pickle: ", what, " (at byte ", reader_.position(), ")");
  }

  PickleValue& New(Kind kind) {
    stack_.push_back(static_cast<PickleRef>(pickle_.values_.size()));
    pickle_.values_.emplace_back().kind = kind;
    return pickle_.values_.back();
  }
  absl::Status PushInt(int64_t integer, Kind kind = Kind::kInt) {
    New(kind).integer = integer;
    return absl::OkStatus();
  }
  absl::Status PushText(absl::string_view text, Kind kind = Kind::kString) {
    New(kind).text = text;
    return absl::OkStatus();
  }

  using Items = std::vector<PickleRef>;

  absl::Status PushItems(Kind kind, absl::StatusOr<Items> items) {
    NIBU_RETURN_IF_ERROR(items.status());
    if (kind == Kind::kDict && items->size() % 2 != 0) return Damaged("a key has no value");
    New(kind).items = *std::move(items);
    return absl::OkStatus();
  }

  // Returns the number of values above the newest mark, or above the bottom.
  size_t Available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  // Removes the top `n` values, and returns them in the order in which they were pushed.
  absl::StatusOr<Items> Pop(size_t n) {
    if (Available() < n) return Damaged("a value is missing");
    Items items(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
    stack_.resize(stack_.size() - n);
    return items;
  }
  absl::StatusOr<Items> PopToMark() {
    if (marks_.empty()) return Damaged("a mark is missing");
    absl::StatusOr<Items> items = Pop(Available());
    marks_.pop_back();
    return items;
  }

  // Appends `items` to the list or dictionary on top of the stack.
  absl::Status Extend(Kind kind, const absl::StatusOr<Items>& items) {
    NIBU_RETURN_IF_ERROR(items.status());
    if (Available() < 1) return Damaged("a value is missing");
    PickleValue& target = pickle_.values_[stack_.back()];
    if (target.kind != kind || (kind == Kind::kDict && items->size() % 2 != 0)) {
      return Damaged("values are put where none can be");
    }
    target.items.insert(target.items.end(), items->begin(), items->end());
    return absl::OkStatus();
  }

  // Pushes a function's or class's name, if it is on the list.
  absl::Status Global(absl::string_view module, absl::string_view name) {
    const std::string both = absl::StrCat(module, " ", name);
    for (const absl::string_view global : globals_) {
      if (global != both) continue;
      return PushText(global, Kind::kGlobal);
    }
    return NotSupported(file_, ": refers to \"", absl::Utf8SafeCHexEscape(both.substr(0, 100)),
                        "\", which has no place in a file of weights; nothing was executed");
  }

  // A call becomes a value. Of the functions, only the constructors of dictionaries are known.
  absl::Status Call() {
    NIBU_ASSIGN_OR_RETURN(Items items, Pop(2));  // function, arguments
    const PickleValue& function = pickle_.values_[items[0]];
    const PickleValue& arguments = pickle_.values_[items[1]];
    if (function.kind != Kind::kGlobal || arguments.kind != Kind::kTuple) {
      return Damaged("a call of something that is no function");
    }
    if ((function.text == "collections OrderedDict" && arguments.items.empty()) ||
        function.text == "collections defaultdict") {
      return PushItems(Kind::kDict, Items());
    }
    return PushItems(Kind::kCall, std::move(items));
  }

  // Adds the attributes on top of the stack to the object below. Those of a dictionary (PyTorch's
  // _metadata) are dropped.
  absl::Status Build() {
    NIBU_ASSIGN_OR_RETURN(const Items items, Pop(1));
    if (Available() < 1) return Damaged("a value is missing");
    PickleValue& object = pickle_.values_[stack_.back()];
    if (object.kind == Kind::kCall && object.items.size() == 2) {
      object.items.push_back(items[0]);
    } else if (object.kind != Kind::kDict) {
      return Damaged("attributes are given to something that has none");
    }
    return absl::OkStatus();
  }

  absl::Status Put(uint64_t index) {
    if (Available() < 1) return Damaged("a value is missing");
    if (memo_.size() > kMaxValues) return Damaged("too many values");
    memo_[index] = stack_.back();
    return absl::OkStatus();
  }
  absl::Status Get(uint64_t index) {
    const auto it = memo_.find(index);
    if (it == memo_.end()) return Damaged("a value is missing");
    stack_.push_back(it->second);
    // Each reference costs memory, too.
    if (++references_ > 4 * kMaxValues) return Damaged("too many values");
    return absl::OkStatus();
  }

  absl::Status Step(uint8_t opcode) {
    switch (opcode) {
      case 0x80: {  // PROTO
        const auto version = reader_.Read<uint8_t>();
        if (version > 5) return Damaged("an unknown protocol");
        return absl::OkStatus();
      }
      case 0x95:  // FRAME
        reader_.Read<uint64_t>();
        return absl::OkStatus();
      case '.':  // STOP
        if (stack_.size() != 1 || !marks_.empty()) return Damaged("values are left over");
        pickle_.root_ = stack_[0];
        stopped_ = true;
        return absl::OkStatus();
      case '(':  // MARK
        if (marks_.size() > kMaxValues) return Damaged("too many values");
        marks_.push_back(stack_.size());
        return absl::OkStatus();
      case '0':  // POP
        return Pop(1).status();

      case 'N':  // NONE
        return PushInt(0, Kind::kNone);
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        return PushInt(opcode == 0x88 ? 1 : 0, Kind::kBool);
      case 'J':  // BININT
        return PushInt(reader_.Read<int32_t>());
      case 'K':  // BININT1
        return PushInt(reader_.Read<uint8_t>());
      case 'M':  // BININT2
        return PushInt(reader_.Read<uint16_t>());
      case 0x8a:  // LONG1
        return Long();
      case 'G':  // BINFLOAT, big-endian
        return Float();

      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
      case 0x8c:  // SHORT_BINUNICODE
        return PushText(reader_.ReadBytes(reader_.Read<uint8_t>()));
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        return PushText(reader_.ReadBytes(reader_.Read<uint32_t>()));

      case ')':  // EMPTY_TUPLE
        return PushItems(Kind::kTuple, Items());
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        return PushItems(Kind::kTuple, Pop(opcode - 0x84u));
      case 't':  // TUPLE
        return PushItems(Kind::kTuple, PopToMark());
      case ']':  // EMPTY_LIST
        return PushItems(Kind::kList, Items());
      case 'l':  // LIST
        return PushItems(Kind::kList, PopToMark());
      case 'a':  // APPEND
        return Extend(Kind::kList, Pop(1));
      case 'e':  // APPENDS
        return Extend(Kind::kList, PopToMark());
      case '}':  // EMPTY_DICT
        return PushItems(Kind::kDict, Items());
      case 'd':  // DICT
        return PushItems(Kind::kDict, PopToMark());
      case 's':  // SETITEM
        return Extend(Kind::kDict, Pop(2));
      case 'u':  // SETITEMS
        return Extend(Kind::kDict, PopToMark());

      case 'c': {  // GLOBAL
        const absl::string_view module = reader_.ReadLine();
        return Global(module, reader_.ReadLine());
      }
      case 0x93: {  // STACK_GLOBAL
        NIBU_ASSIGN_OR_RETURN(const Items items, Pop(2));
        return Global(pickle_.values_[items[0]].text, pickle_.values_[items[1]].text);
      }
      case 'R':   // REDUCE
      case 0x81:  // NEWOBJ
        return Call();
      case 'b':  // BUILD
        return Build();
      case 'Q':  // BINPERSID
        return PushItems(Kind::kPersistent, Pop(1));

      case 'q':  // BINPUT
        return Put(reader_.Read<uint8_t>());
      case 'r':  // LONG_BINPUT
        return Put(reader_.Read<uint32_t>());
      case 0x94:  // MEMOIZE
        return Put(memo_.size());
      case 'h':  // BINGET
        return Get(reader_.Read<uint8_t>());
      case 'j':  // LONG_BINGET
        return Get(reader_.Read<uint32_t>());
      default:
        return NotSupported(file_, ": pickle opcode 0x", absl::Hex(opcode),
                            ", which has no place in a file of weights; nothing was executed");
    }
  }

  // Reads a signed little-endian number, in front of which stands the number of its bytes.
  absl::Status Long() {
    const auto size = reader_.Read<uint8_t>();
    const absl::string_view bytes = reader_.ReadBytes(size);
    if (size > sizeof(int64_t)) return Damaged("an integer of more than 64 bits");
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
    }
    const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
    if (negative && size < sizeof(int64_t)) value |= ~uint64_t{0} << (8 * size);
    return PushInt(static_cast<int64_t>(value));
  }

  absl::Status Float() {
    const uint64_t bits = __builtin_bswap64(reader_.Read<uint64_t>());
    std::memcpy(&New(Kind::kFloat).number, &bits, sizeof(bits));
    return absl::OkStatus();
  }

  ByteReader reader_;
  const std::string& file_;
  const absl::Span<const absl::string_view> globals_;
  Pickle pickle_;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleRef> memo_;
  size_t references_ = 0;
  bool stopped_ = false;
};

absl::StatusOr<Pickle> Pickle::Read(absl::string_view bytes, const std::string& file,
                                    absl::Span<const absl::string_view> globals, size_t* consumed) {
  return PickleMachine(bytes, file, globals).Run(consumed);
}

const PickleValue* Pickle::Attributes(const PickleValue& object) const {
  if (object.kind != Kind::kCall || object.items.size() != 3) return nullptr;
  const PickleValue& state = values_[object.items[2]];
  return state.kind == Kind::kDict ? &state : nullptr;
}

const PickleValue* Pickle::Find(const PickleValue& dict, absl::string_view key) const {
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& k = values_[dict.items[i]];
    if (k.kind == Kind::kString && k.text == key) return &values_[dict.items[i + 1]];
  }
  return nullptr;
}

}  // namespace nibu::internal
