// Tests the contracts of the headers in models/.
#include "tests/contracts.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "engine/model/config.h"
#include "models/assembly/name_table.h"
#include "models/containers/safetensors.h"
#include "models/containers/tensor_source.h"
#include "models/files/file_bytes.h"
#include "models/files/new_file.h"
#include "models/load_model.h"
#include "models/native/native.h"
#include "models/random_model.h"
#include "models/writers/hugging_face_writer.h"
#include "tests/models/files.h"

namespace nibu::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TempFolder;

using ModelContracts = ContractTest;

TEST_F(ModelContracts, WeightsAreListedForValidConfigurations) {
  const ModelConfig none;
  ASSERT_FALSE(none.Validate().ok());
  EXPECT_BROKEN(ListWeights(none), "config.Validate().ok()");
  // These two list the weights, too, but do not leave the check to that.
  const auto checked_in = [](const char* file) {
    return AllOf(HasSubstr(file), HasSubstr("config.Validate().ok()"));
  };
  EXPECT_DEATH(NativeNames(none, nullptr), checked_in("native.cc"));
  EXPECT_DEATH((void)OpenRandom(none, 1), checked_in("random_model.cc"));
}

TEST_F(ModelContracts, HuggingFaceDirectoriesHoldNoIntegers) {
  const TempFolder folder;
  testing::TinyMarian().Write(folder);
  const absl::StatusOr<OpenedModel> model = OpenModel(folder.path());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_BROKEN(WriteHuggingFace(*model, ComputeType::kInt8, folder / "hf").IgnoreError(),
                "!HasInt8Inputs(*quantization)");
}

TEST_F(ModelContracts, RowsAreThoseOfTheMatrix) {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  std::array<float, 3> row = {};
  auto* out = reinterpret_cast<char*>(row.data());
  MatrixView matrix;
  matrix.values = {DType::kFloat32, {2, 3}, values.data()};
  CopyRow(matrix, 1, out);
  EXPECT_EQ(row[2], 6);
  EXPECT_BROKEN(CopyRow(matrix, 2, out), "0 <= row");
  EXPECT_BROKEN(CopyRow(matrix, -1, out), "0 <= row");
  matrix.out_in = false;
  CopyRow(matrix, 2, out);
  EXPECT_EQ(row[1], 6);
  EXPECT_BROKEN(CopyRow(matrix, 3, out), "0 <= row");
}

TEST_F(ModelContracts, TensorsTakeAsManyNumbersAsTheyHave) {
  StoredTensor tensor;
  tensor.view.shape = {2};
  EXPECT_BROKEN(tensor.TakeFloat64("path", std::string(8, '\0')), "bytes.size() == BytesOf");
  EXPECT_BROKEN(tensor.TakeFloat64("path", std::string(24, '\0')), "bytes.size() == BytesOf");
}

TEST_F(ModelContracts, SafetensorsAreWrittenInFloatingPoint) {
  const TempFolder folder;
  const auto bytes = [] { return std::string(4, '\0'); };
  EXPECT_BROKEN(
      WriteSafetensors({{"w", DType::kInt8, {4}, bytes}}, folder / "m.safetensors").IgnoreError(),
      "absl::c_linear_search(kWrittenTypes, tensor.dtype)");
}

TEST_F(ModelContracts, PartsLieInTheWhole) {
  const std::shared_ptr<const FileBytes> whole = FileBytes::InMemory("whole", "abcdef");
  EXPECT_EQ(FileBytes::PartOf(whole, "end", whole->bytes().substr(6))->bytes(), "");
  const absl::string_view all = whole->bytes();
  EXPECT_BROKEN((void)FileBytes::PartOf(whole, "x", {all.data() - 1, 2}), "IsPart");
  EXPECT_BROKEN((void)FileBytes::PartOf(whole, "x", {all.data() + 5, 2}), "IsPart");
}

TEST_F(ModelContracts, OnlyWrittenBytesAreReplaced) {
  const TempFolder folder;
  absl::StatusOr<NewFile> file = NewFile::Create(folder / "new");
  ASSERT_TRUE(file.ok() && file->Append("abcd").ok() && file->WriteAt(2, "xy").ok());
  EXPECT_BROKEN(file->WriteAt(3, "xy").IgnoreError(), "bytes.size() <= size_ - offset");
  EXPECT_BROKEN(file->WriteAt(5, "").IgnoreError(), "offset <= size_");
}

}  // namespace
}  // namespace nibu::internal
