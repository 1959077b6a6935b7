// Weights in files of any origin.
#include "compare/weight_files.h"

#include <gtest/gtest.h>

#include "data/readers/numpy/numpy_files.h"
#include "support/core_errors.h"
#include "support/temporary_folder.h"
#include "train/run_folder/weight_file.h"

namespace trireme::compare {
namespace {

using support::contains;

store::NamedTensor vector_of(const std::string& name, std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {name, tensor::Shape({count}), std::move(values)};
}

TEST(ReadWeights, OfNumpyAndSafetensors) {
  const test::TemporaryFolder folder;
  const Tensors expected{{"conv.weight", tensor::Shape({2, 2}), {1, 2, 3, 4}}, vector_of("conv.bias", {5})};
  store::write_safetensors(folder / "a.safetensors", expected);
  const data::Bytes archive =
      data::zip({{"conv.weight.npy", data::npy("<f4", "(2, 2)", data::raw<float>({1, 2, 3, 4}))},
                 {"conv.bias.npy", data::npy("<f8", "(1,)", data::raw<double>({5}))}});
  data::write_bytes(folder / "b.npz", archive);
  const Tensors a = train::read_weight_file(folder / "a.safetensors").tensors,
                b = train::read_weight_file(folder / "b.npz").tensors;
  ASSERT_EQ(b.size(), 2u);
  EXPECT_EQ(b[0].name, "conv.weight");
  EXPECT_EQ(b[0].shape, expected[0].shape);
  EXPECT_TRUE(compare_weights(a, b).passed) << compare_weights(a, b).summary;
}

TEST(CompareWeights, NamesWhatDiffers) {
  const Tensors one{vector_of("a", {1, 2}), vector_of("b", {3})};
  EXPECT_TRUE(compare_weights(one, {one[1], one[0]}).passed) << "the order of names does not matter";
  const Level moved = compare_weights(one, {one[0], vector_of("b", {3.3f})});
  EXPECT_FALSE(moved.passed);
  EXPECT_TRUE(contains(moved.summary, "b differs by 0.0909")) << moved.summary;
  EXPECT_EQ(moved.rows.size(), 2u);
  EXPECT_TRUE(contains(compare_weights(one, {one[0]}).summary, "b is only in the first"));
  EXPECT_TRUE(contains(compare_weights({one[0]}, one).summary, "b is only in the second"));
  EXPECT_TRUE(contains(compare_weights(one, {one[1], vector_of("a", {1})}).summary, "a is 2 in the first"));
  EXPECT_FALSE(compare_weights({vector_of("a", {0.0f})}, {vector_of("a", {-0.0f})}).passed) << "other bits";
}

TEST(CompareWeights, GoesByOrderWhereNoNameIsInBoth) {
  const Tensors one{vector_of("a", {1, 2}), vector_of("b", {3})};
  const Level level = compare_weights(one, {vector_of("kernel", {1, 2}), vector_of("bias", {3})});
  EXPECT_TRUE(level.passed);
  EXPECT_TRUE(contains(level.summary, "by their order")) << level.summary;
}

}  // namespace
}  // namespace trireme::compare
