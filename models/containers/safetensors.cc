#include "models/containers/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/core/status_macros.h"
#include "nlohmann/json.hpp"

namespace nibu {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kMaxRank = 8;

struct HeaderTensor {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> offsets;
};

// Takes the header's JSON apart as it is parsed: anything that is not of the form above stops the
// parser, so that hostile nesting costs nothing.
class HeaderHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<HeaderTensor> tensors;
  std::string error;

  bool null() override { return Fail("null"); }
  bool boolean(bool) override { return Fail("a boolean"); }
  bool number_integer(number_integer_t value) override {
    return Fail(absl::StrCat("the number ", value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Fail(absl::StrCat("the number ", text));
  }
  bool binary(binary_t&) override { return Fail("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ != State::kArray) return Fail("a number");
    if (array_->size() == kMaxRank) return Fail("more than 8 numbers");
    array_->push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::kMetadata) return true;
    if (state_ != State::kTensor || field_ != Field::kDtype) return Fail("a string");
    tensors.back().dtype = value;
    return true;
  }

  bool start_object(size_t) override {
    switch (state_) {
      case State::kStart:
        state_ = State::kTop;
        return true;
      case State::kTop:
        state_ = in_metadata_ ? State::kMetadata : State::kTensor;
        return true;
      default:
        return Fail("an object");
    }
  }

  bool key(string_t& value) override {
    where_ = value;
    if (state_ == State::kTop) {
      in_metadata_ = value == "__metadata__";
      if (!in_metadata_) {
        tensors.push_back({value, "", {}, {}});
        seen_ = 0;
      }
      return true;
    }
    if (state_ != State::kTensor) return true;  // in the metadata
    if (value == "dtype") {
      field_ = Field::kDtype;
    } else if (value == "shape") {
      field_ = Field::kShape;
      array_ = &tensors.back().shape;
    } else if (value == "data_offsets") {
      field_ = Field::kOffsets;
      array_ = &tensors.back().offsets;
    } else {
      return Fail("an unknown field");
    }
    const unsigned bit = 1u << static_cast<unsigned>(field_);
    if ((seen_ & bit) != 0) return Fail("the same field twice");
    seen_ |= bit;
    return true;
  }

  bool end_object() override {
    if (state_ == State::kTensor && seen_ != 7u) {
      where_ = tensors.back().name;
      return Fail("no dtype, shape or data_offsets");
    }
    state_ = state_ == State::kTop ? State::kStart : State::kTop;
    return true;
  }

  bool start_array(size_t) override {
    if (state_ != State::kTensor || field_ == Field::kDtype) return Fail("an array");
    state_ = State::kArray;
    return true;
  }

  bool end_array() override {
    state_ = State::kTensor;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    if (error.empty()) error = absl::StrCat("not JSON at byte ", position);
    return false;
  }

 private:
  enum class State { kStart, kTop, kMetadata, kTensor, kArray };
  enum class Field : unsigned { kDtype, kShape, kOffsets };

  bool Fail(absl::string_view found) {
    error = absl::StrCat("unexpected: ", found);
    if (!where_.empty()) absl::StrAppend(&error, " in \"", where_.substr(0, 100), "\"");
    return false;
  }

  State state_ = State::kStart;
  bool in_metadata_ = false;
  Field field_ = Field::kDtype;
  unsigned seen_ = 0;
  std::vector<uint64_t>* array_ = nullptr;
  std::string where_;
};

bool ParseDType(absl::string_view name, DType* dtype) {
  static constexpr struct {
    absl::string_view name;
    DType dtype;
  } kTypes[] = {{"F32", DType::kFloat32}, {"F16", DType::kFloat16}, {"BF16", DType::kBFloat16},
                {"I8", DType::kInt8},     {"I16", DType::kInt16},   {"I32", DType::kInt32},
                {"I64", DType::kInt64},   {"U8", DType::kUint8}};
  for (const auto& type : kTypes) {
    if (type.name == name) {
      *dtype = type.dtype;
      return true;
    }
  }
  return false;
}

absl::Status Damaged(const FileBytes& file, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": not a whole safetensors file: ", what, "; download it again"));
}

// The tensor's place and size, its offsets still unchecked against its neighbours'.
absl::StatusOr<StoredTensor> CheckTensor(const HeaderTensor& header, absl::string_view data,
                                         std::shared_ptr<const FileBytes> file) {
  StoredTensor tensor;
  if (!ParseDType(header.dtype, &tensor.view.dtype)) {
    return absl::UnimplementedError(absl::StrCat(file->path(), ": tensor \"", header.name,
                                                 "\" has type \"", header.dtype,
                                                 "\", which nibu does not read"));
  }
  uint64_t bytes = DTypeSize(tensor.view.dtype);
  for (const uint64_t dim : header.shape) {
    if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
        __builtin_mul_overflow(bytes, dim, &bytes)) {
      return Damaged(*file, absl::StrCat("the shape of tensor \"", header.name, "\" overflows"));
    }
    tensor.view.shape.push_back(static_cast<int64_t>(dim));
  }
  if (header.offsets.size() != 2 || header.offsets[0] > header.offsets[1] ||
      header.offsets[1] > data.size()) {
    return Damaged(*file, absl::StrCat("tensor \"", header.name, "\" lies outside the file's ",
                                       data.size(), " bytes of data"));
  }
  if (header.offsets[1] - header.offsets[0] != bytes) {
    return Damaged(*file,
                   absl::StrCat("tensor \"", header.name, "\" of shape ",
                                ShapeString(tensor.view.shape), " needs ", bytes,
                                " bytes, its place has ", header.offsets[1] - header.offsets[0]));
  }
  tensor.view.data = data.data() + header.offsets[0];
  tensor.file = std::move(file);
  return tensor;
}

}  // namespace

absl::StatusOr<TensorSource> ReadSafetensors(std::shared_ptr<const FileBytes> file) {
  const absl::string_view bytes = file->bytes();
  uint64_t header_size = 0;
  if (bytes.size() < sizeof(header_size)) {
    return Damaged(*file, absl::StrCat("it has only ", bytes.size(), " bytes"));
  }
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  if (header_size > kMaxHeader || header_size > bytes.size() - sizeof(header_size)) {
    return Damaged(*file,
                   absl::StrCat("a header of ", header_size, " bytes in a file of ", bytes.size()));
  }
  const absl::string_view header = bytes.substr(sizeof(header_size), header_size);
  const absl::string_view data = bytes.substr(sizeof(header_size) + header_size);
  if (header.empty() || header[0] != '{') return Damaged(*file, "its header is not a JSON object");

  HeaderHandler handler;
  if (!nlohmann::json::sax_parse(header.begin(), header.end(), &handler)) {
    return Damaged(*file, absl::StrCat("its header has ", handler.error));
  }

  std::sort(handler.tensors.begin(), handler.tensors.end(),
            [](const HeaderTensor& a, const HeaderTensor& b) { return a.offsets < b.offsets; });
  TensorSource source(file->path());
  uint64_t end = 0;
  for (HeaderTensor& entry : handler.tensors) {
    NIBU_ASSIGN_OR_RETURN(StoredTensor tensor, CheckTensor(entry, data, file));
    if (entry.offsets[0] != end) {
      return Damaged(*file, absl::StrCat("tensor \"", entry.name, "\" begins at byte ",
                                         entry.offsets[0], " of the data, expected ", end));
    }
    end = entry.offsets[1];
    NIBU_RETURN_IF_ERROR(source.Add(std::move(entry.name), std::move(tensor)));
  }
  if (end != data.size()) {
    return Damaged(*file, absl::StrCat("the header describes ", end,
                                       " bytes of data, the file has ", data.size()));
  }
  return source;
}

}  // namespace nibu
