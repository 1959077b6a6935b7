// The convolution over maps of few positions, asked for by name: against the reference, and its bits on every
// instruction set; and which shapes get it.
#include "ops/conv/small_map/small_map_conv.h"

#include <gtest/gtest.h>

#include "ops/conv/own_conv.h"

namespace trireme::optest {
namespace {

OpCase small_map(const Shape& src, const ops::ConvOptions& o) { return own_conv(src, o, ops::make_small_map_conv); }

TEST(SmallMapConvolution, EqualsTheReferenceAndItselfOnEveryInstructionSet) {
  for (const OpCase& c : {
           small_map({7, 32, 1, 1}, {.channels = 64, .kernel = {1, 1}, .bias = false}),
           small_map({13, 16, 1, 1}, {.channels = 128, .kernel = {3, 3}, .padding = {1, 1}, .relu = true}),
           small_map({1, 80, 2, 2}, {.channels = 64, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}),
           small_map({6, 16, 2, 2}, {.channels = 64, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}),
           small_map({5, 16, 2, 2}, {.channels = 64, .kernel = {1, 1}, .stride = {2, 2}}),
           small_map({3, 48, 4, 4},
                     {.channels = 64, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .bias = false}),
           small_map({2, 16, 3, 2}, {.channels = 64, .kernel = {2, 5}, .padding = {1, 3}, .relu = true}),
           small_map({2, 16, 5, 1}, {.channels = 192, .kernel = {5, 1}}),
       })
    check_own_conv(c);
}

TEST(SmallMapConvolution, TakesWeightsInAGivenLayout) {
  const OpCase c = small_map({3, 16, 2, 2}, {.channels = 64, .kernel = {3, 3}, .padding = {1, 1}});
  const CaseData data = make_data(c, true);
  const KernelSetup own{.offered = offers(c)[0].layouts};
  KernelSetup given = own;
  for (const Shape& shape : {Shape{64, 16, 3, 3}, Shape{64}})
    given.fixed_weights.push_back(tensor::Layout::plain(shape));
  expect_same_bits("plain weights", run_kernel(c, data, own), run_kernel(c, data, given));
}

bool small_map_wins(const Shape& src, const ops::ConvOptions& options, base::Isa isa) {
  return ops::small_map_conv_wins(complete(options), src, ops::conv(options)->output(std::vector<Shape>{src}), isa);
}

TEST(SmallMapConvolution, IsChosenForMapsOfFewPositions) {
  for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
    SCOPED_TRACE(base::isa_name(isa));
    for (const std::int64_t samples : {1, 42}) {
      EXPECT_EQ(small_map_wins({samples, 512, 1, 1}, {.channels = 2048, .kernel = {1, 1}}, isa),
                isa == base::Isa::avx512);
      EXPECT_TRUE(small_map_wins({samples, 512, 4, 4},
                                 {.channels = 512, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, isa));
      EXPECT_TRUE(small_map_wins({samples, 256, 2, 2}, {.channels = 256, .kernel = {3, 3}, .padding = {1, 1}}, isa));
      EXPECT_FALSE(small_map_wins({samples, 256, 4, 4}, {.channels = 256, .kernel = {3, 3}, .padding = {1, 1}}, isa));
      EXPECT_FALSE(small_map_wins({samples, 17, 1, 1}, {.channels = 64, .kernel = {1, 1}}, isa))
          << "channels in no blocks";
      EXPECT_FALSE(small_map_wins({samples, 64, 1, 1}, {.channels = 10, .kernel = {1, 1}}, isa));
      EXPECT_FALSE(small_map_wins({samples, 64, 1, 1}, {.channels = 64, .kernel = {1, 1}, .groups = 2}, isa));
    }
  }
  EXPECT_FALSE(small_map_wins({42, 512, 1, 1}, {.channels = 512, .kernel = {1, 1}}, base::Isa::generic))
      << "fma is a call there";
}

}  // namespace
}  // namespace trireme::optest
