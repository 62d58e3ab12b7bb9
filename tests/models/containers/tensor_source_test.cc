// Tests of TensorSource, which gives tensors by name, type and shape, and of FileBytes.
#include "models/containers/tensor_source.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/files.h"

namespace nibu::internal {
namespace {

using ::testing::HasSubstr;

class TensorSourceTest : public ::testing::Test {
 protected:
  TensorSourceTest() : source_("dir/weights") { Add("w", DType::kFloat32, {2, 3}); }

  void Add(const std::string& name, DType dtype, Shape shape, std::vector<float> scales = {}) {
    ASSERT_TRUE(source_.Add(name, Stored(dtype, shape, scales)).ok());
  }
  StoredTensor Stored(DType dtype, Shape shape, std::vector<float> scales = {}) {
    StoredTensor stored;
    stored.view = {dtype, shape, file_->bytes().data()};
    stored.file = file_;
    stored.OwnScales(std::move(scales));
    return stored;
  }

  std::shared_ptr<const FileBytes> file_ = FileBytes::InMemory("file", std::string(100, 0));
  TensorSource source_;
};

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST_F(TensorSourceTest, GivesWhatIsAskedForRightly) {
  const absl::StatusOr<TensorView> view = source_.Get("w", {2, 3}, {DType::kFloat32});
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->data, file_->bytes().data());
  EXPECT_TRUE(source_.Has("w"));
  EXPECT_FALSE(source_.Has("x"));
}

TEST_F(TensorSourceTest, NamesWhatDoesNotFit) {
  EXPECT_THAT(Message(source_.Get("x", {2, 3}, {DType::kFloat32}).status()),
              HasSubstr("dir/weights: tensor \"x\" is missing, expected with shape [2, 3]"));
  EXPECT_THAT(Message(source_.Get("w", {3, 2}, {DType::kFloat32}).status()),
              HasSubstr("file: tensor \"w\" has shape [2, 3], expected [3, 2]"));
  EXPECT_THAT(Message(source_.Get("w", {2, 3}, {DType::kInt8, DType::kInt16}).status()),
              HasSubstr("file: tensor \"w\" has type float32, expected int8 or int16"));
  EXPECT_THAT(Message(source_.Add("w", Stored(DType::kInt8, {1}))),
              HasSubstr("file: tensor \"w\" is there twice"));
}

TEST_F(TensorSourceTest, MatricesInBothOrders) {
  EXPECT_TRUE(source_.GetMatrix("w", 3, 2, true).ok());
  EXPECT_TRUE(source_.GetMatrix("w", 2, 3, false).ok());
  EXPECT_FALSE(source_.GetMatrix("w", 2, 3, true).ok());
}

TEST_F(TensorSourceTest, IntegerMatricesNeedScales) {
  Add("one", DType::kInt8, {2, 3}, {4.0f});
  Add("each", DType::kInt16, {2, 3}, {4.0f, 5.0f});
  Add("none", DType::kInt8, {2, 3});
  Add("index", DType::kInt32, {2, 3}, {1.0f});
  EXPECT_EQ(source_.GetMatrix("one", 3, 2, true)->scales.size(), 1u);
  EXPECT_EQ(source_.GetMatrix("each", 3, 2, true)->scales[1], 5.0f);
  EXPECT_THAT(Message(source_.GetMatrix("each", 2, 3, false).status()),
              HasSubstr("\"each\" of shape [2, 3] has 2 scales, expected 1 or 3"));
  EXPECT_FALSE(source_.GetMatrix("none", 3, 2, true).ok());
  EXPECT_FALSE(source_.GetMatrix("index", 3, 2, true).ok());
}

TEST_F(TensorSourceTest, VectorsMayBeRows) {
  Add("v", DType::kFloat16, {3});
  Add("row", DType::kBFloat16, {1, 3});
  EXPECT_EQ(source_.GetVector("v", 3)->shape, Shape({3}));
  EXPECT_EQ(source_.GetVector("row", 3)->shape, Shape({3}));
  EXPECT_FALSE(source_.GetVector("v", 4).ok());
  EXPECT_FALSE(source_.GetVector("w", 6).ok());
}

TEST_F(TensorSourceTest, UnusedTensorsAreNamed) {
  EXPECT_THAT(Message(source_.CheckAllUsed()),
              HasSubstr("dir/weights: 1 tensor of no known use: w;"));
  ASSERT_TRUE(source_.Get("w", {2, 3}, {DType::kFloat32}).ok());
  EXPECT_TRUE(source_.CheckAllUsed().ok());
  for (const char* name : {"a", "b", "c", "d"}) Add(name, DType::kFloat32, {1});
  EXPECT_THAT(Message(source_.CheckAllUsed()),
              HasSubstr("4 tensors of no known use: a, b, c, ..."));
  for (const char* name : {"a", "b", "c", "d", "not there"}) source_.Ignore(name);
  EXPECT_TRUE(source_.CheckAllUsed().ok());
}

TEST_F(TensorSourceTest, AbsorbsOtherFiles) {
  TensorSource other("other");
  ASSERT_TRUE(other.Add("v", Stored(DType::kFloat32, {1})).ok());
  ASSERT_TRUE(source_.Absorb(std::move(other)).ok());
  EXPECT_TRUE(source_.Has("v"));
  TensorSource again("again");
  ASSERT_TRUE(again.Add("v", Stored(DType::kFloat32, {1})).ok());
  EXPECT_FALSE(source_.Absorb(std::move(again)).ok());
}

TEST(FileBytes, MapsAndNamesErrors) {
  const testing::TempFolder folder;
  testing::WriteFile(folder / "a", std::string("x\0y", 3));
  testing::WriteFile(folder / "empty", "");
  const auto file = FileBytes::Open(folder / "a");
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->DropPages();
  EXPECT_EQ((*file)->bytes(), absl::string_view("x\0y", 3));
  EXPECT_EQ((*FileBytes::Open(folder / "empty"))->bytes(), "");
  EXPECT_EQ(FileBytes::Open(folder / "none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(FileBytes::Open(folder.path()).status()), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace nibu::internal
