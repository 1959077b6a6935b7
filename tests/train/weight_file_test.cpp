// Weights of other programs.
#include "train/run_folder/weight_file.h"

#include "data/readers/numpy/numpy_files.h"
#include "support/core_errors.h"
#include "support/temporary_folder.h"

namespace trireme::train {
namespace {

TEST(WeightFile, OfANumpyArchive) {
  const test::TemporaryFolder folder;
  data::write_bytes(folder / "w.npz",
                    data::zip({{"fc.weight.npy", data::npy("<f8", "(2, 2)", data::raw<double>({1, 2, 3, 4.5}))}}));
  const store::SafetensorsFile file = read_weight_file(folder / "w.npz");
  const store::NamedTensor* weight = file.find("fc.weight");
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->shape, tensor::Shape({2, 2}));
  EXPECT_EQ(weight->values, (std::vector<float>{1, 2, 3, 4.5f}));
}

TEST(WeightFile, OfAnotherProgramSaysHowToConvertIt) {
  for (const char* name : {"w.pt", "w.pth", "w.h5", "w.keras", "w.onnx"}) {
    const std::string said = support::sentence(base::ErrorKind::user, [&] { (void)read_weight_file(name); });
    EXPECT_TRUE(support::contains(said, std::string("('") + name + "'")) << said;
    EXPECT_TRUE(support::contains(said, "numpy.savez('w.npz', **{")) << said;
    EXPECT_TRUE(said.ends_with("})")) << said;
  }
}

}  // namespace
}  // namespace trireme::train
