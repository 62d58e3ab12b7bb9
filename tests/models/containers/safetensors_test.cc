// Tests of the reader of .safetensors files: tensors of every type, and errors for every other
// form.
#include "models/containers/safetensors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/files.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;
using testing::Safetensors;

absl::StatusOr<TensorSource> Read(const std::string& bytes) {
  return ReadSafetensors(FileBytes::InMemory("m.safetensors", bytes));
}

// Returns the error of reading `header` with `data_size` bytes of data behind it.
std::string Error(const std::string& header, size_t data_size) {
  const absl::StatusOr<TensorSource> source = Read(Safetensors(header, std::string(data_size, 0)));
  EXPECT_FALSE(source.ok()) << header;
  const std::string message(source.status().message());
  EXPECT_THAT(message, HasSubstr("m.safetensors: "));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

TEST(Safetensors, ReadsTensorsOfEveryType) {
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},)"
                             R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                             R"("none":{"dtype":"I64","shape":[0,5],"data_offsets":[16,16]},)"
                             R"("c":{"data_offsets":[16,18],"shape":[2],"dtype":"I8"}}   )";
  std::string data(18, '\0');
  data[4] = 'x';
  absl::StatusOr<TensorSource> source = Read(Safetensors(header, data));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->size(), 4u);
  absl::StatusOr<TensorView> b = source->Get("b", {2, 3}, {DType::kFloat16});
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ(*static_cast<const char*>(b->data), 'x');
  EXPECT_TRUE(source->Get("a", {}, {DType::kFloat32}).ok());
  EXPECT_TRUE(source->Get("c", {2}, {DType::kInt8}).ok());
  EXPECT_TRUE(source->Get("none", {0, 5}, {DType::kInt64}).ok());
  EXPECT_TRUE(source->CheckAllUsed().ok());
}

TEST(Safetensors, Float64IsReadAsFloat32) {
  const double values[2] = {0.1, -3};
  const std::string data(reinterpret_cast<const char*>(values), sizeof(values));
  absl::StatusOr<TensorSource> source =
      Read(Safetensors(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})", data));
  ASSERT_TRUE(source.ok()) << source.status();
  const absl::StatusOr<TensorView> a = source->Get("a", {2}, {DType::kFloat32});
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(static_cast<const float*>(a->data)[0], 0.1f);
  EXPECT_EQ(static_cast<const float*>(a->data)[1], -3.0f);
  EXPECT_THAT(Error(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", 8),
              HasSubstr("needs 16 bytes"));
}

TEST(Safetensors, EmptyObjectHasNoTensors) {
  const absl::StatusOr<TensorSource> source = Read(Safetensors("{}", ""));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->size(), 0u);
}

TEST(Safetensors, RefusesTruncatedFiles) {
  const std::string good =
      Safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "12345678");
  ASSERT_TRUE(Read(good).ok());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(Read(good.substr(0, n)).ok()) << n;
  EXPECT_FALSE(Read(good + "9").ok());
}

TEST(Safetensors, RefusesALyingHeaderLength) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{3}, uint64_t{1000}, uint64_t{100'000'001},
                              uint64_t{1} << 63, ~uint64_t{0}}) {
    std::string bytes = Safetensors("{}", "");
    std::memcpy(bytes.data(), &size, 8);
    EXPECT_FALSE(Read(bytes).ok()) << size;
  }
}

TEST(Safetensors, NamesWhatIsWrong) {
  EXPECT_THAT(Error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
              HasSubstr("tensor \"a\" of shape [2] needs 8 bytes, its place has 4"));
  EXPECT_THAT(Error(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 4),
              HasSubstr("tensor \"a\" lies outside the file's 4 bytes of data"));
  EXPECT_THAT(Error(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4),
              HasSubstr("lies outside"));
  EXPECT_THAT(Error(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8),
              HasSubstr("begins at byte 4 of the data, expected 0"));
  EXPECT_THAT(Error(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                    R"("b":{"dtype":"I8","shape":[4],"data_offsets":[2,6]}})",
                    6),
              HasSubstr("tensor \"b\" begins at byte 2 of the data, expected 4"));
  EXPECT_THAT(Error(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 9),
              HasSubstr("describes 4 bytes of data, the file has 9"));
  EXPECT_THAT(Error(R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8),
              HasSubstr("tensor \"a\" has type \"C64\""));
  EXPECT_THAT(Error(R"({"a":{"dtype":"I8","shape":[],"data_offsets":[0,1]},)"
                    R"("a":{"dtype":"I8","shape":[],"data_offsets":[1,2]}})",
                    2),
              HasSubstr("the key \"a\" is there twice"));
}

TEST(Safetensors, RefusesShapesThatOverflow) {
  for (const char* shape :
       {"[18446744073709551615]", "[9223372036854775808]", "[4294967296,4294967296]",
        "[4611686018427387904,4,0]", "[2305843009213693952,8]"}) {
    EXPECT_THAT(
        Error(absl::StrCat(R"({"a":{"dtype":"F32","shape":)", shape, R"(,"data_offsets":[0,0]}})"),
              0),
        HasSubstr("overflow"))
        << shape;
  }
}

TEST(Safetensors, RefusesEveryOtherForm) {
  for (const char* header :
       {"[]",
        "{",
        "{} x",
        "nonsense",
        "{\"a\":1}",
        "{\"a\":[]}",
        "{\"a\":{}}",
        R"({"a":{"dtype":"I8","shape":[]}})",
        R"({"a":{"dtype":1,"shape":[],"data_offsets":[0,1]}})",
        R"({"a":{"dtype":"I8","shape":[-1],"data_offsets":[0,1]}})",
        R"({"a":{"dtype":"I8","shape":[1.0],"data_offsets":[0,1]}})",
        R"({"a":{"dtype":"I8","shape":"1","data_offsets":[0,1]}})",
        R"({"a":{"dtype":"I8","shape":[[1]],"data_offsets":[0,1]}})",
        R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0]}})",
        R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1,2]}})",
        R"({"a":{"dtype":"I8","shape":[1],"shape":[1],"data_offsets":[0,1]}})",
        R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1],"extra":1}})",
        R"({"a":{"dtype":"I8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})",
        R"({"__metadata__":{"a":{}}})",
        R"({"__metadata__":{"a":1}})",
        R"({"__metadata__":1})",
        R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1e400]}})",
        "{\"a\xff\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}"}) {
    Error(header, 1);
  }
}

TEST(Safetensors, DeepNestingCostsNothing) {
  Error(std::string(10'000'000, '['), 0);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  Error(objects, 0);
}

}  // namespace
}  // namespace nibu::internal
