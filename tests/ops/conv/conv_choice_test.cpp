// Which algorithm convolutions get. Expectations are those of the measurements in docs/design/004-winograd.md.
#include "ops/conv/conv_choice.h"

#include <gtest/gtest.h>

namespace trireme::ops {
namespace {

ConvShape square(std::int64_t samples, std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t padding = 1) {
  const std::int64_t out_size = size + 2 * padding - 2;
  return {.samples = samples,
          .in_channels = in,
          .out_channels = out,
          .in = {size, size},
          .out = {out_size, out_size},
          .kernel = {3, 3},
          .stride = {1, 1},
          .padding = {padding, padding}};
}

TEST(ConvChoice, WinogradForTheLayersOfResidualNetworks) {
  for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512})
    for (const ConvShape& shape :
         {square(42, 64, 64, 32), square(42, 128, 128, 16), square(42, 256, 256, 8), square(42, 512, 512, 4),
          square(8, 512, 512, 4), square(26, 16, 16, 32), square(26, 32, 32, 16), square(26, 64, 64, 8),
          square(8, 64, 128, 64), square(32, 32, 64, 26, 0), square(42, 192, 384, 3), square(1, 64, 64, 32),
          square(26, 48, 12, 28), square(26, 48, 12, 7)})
      EXPECT_EQ(winograd_or_direct(shape, isa), ConvAlgorithm::winograd)
          << base::isa_name(isa) << " " << shape.in_channels << " channels of " << shape.in[0];
}

// A tile of 4 x 4 outputs is mostly wasted on smaller maps, and one sample does not pay for transforming 512 filters.
TEST(ConvChoice, DirectForTinyMapsAndFewSamples) {
  for (const ConvShape& shape : {square(42, 512, 512, 1), square(42, 256, 256, 2), square(1, 512, 512, 4),
                                 square(4, 256, 256, 3), square(42, 64, 64, 2)})
    EXPECT_EQ(winograd_or_direct(shape, base::Isa::avx512), ConvAlgorithm::direct)
        << shape.in_channels << " channels of " << shape.in[0];
}

TEST(ConvChoice, DirectForWhatWinogradCannotDo) {
  const ConvShape good = square(42, 64, 64, 32);
  ConvShape strided = good, large = good, grouped = good, few = good, odd = good;
  strided.stride = {2, 1};
  large.kernel = {3, 5};
  grouped.groups = 2;
  few.in_channels = 3;
  odd.out_channels = 68;
  odd.bias = true;
  for (const ConvShape& shape : {strided, large, grouped, few, odd}) {
    EXPECT_FALSE(winograd_fits(shape, base::Isa::avx512));
    EXPECT_EQ(winograd_or_direct(shape, base::Isa::avx512), ConvAlgorithm::direct);
  }
  odd.bias = false;
  EXPECT_TRUE(winograd_fits(odd, base::Isa::avx512)) << "the last block is padded";
  ConvShape eight = good;  // a block of AVX2
  eight.in_channels = 24;
  EXPECT_FALSE(winograd_fits(eight, base::Isa::avx512));
  EXPECT_TRUE(winograd_fits(eight, base::Isa::avx2));
}

// There it is right, but slow.
TEST(ConvChoice, DirectWithoutVectors) {
  EXPECT_TRUE(winograd_fits(square(42, 64, 64, 32), base::Isa::generic));
  EXPECT_EQ(winograd_or_direct(square(42, 64, 64, 32), base::Isa::generic), ConvAlgorithm::direct);
}

}  // namespace
}  // namespace trireme::ops
