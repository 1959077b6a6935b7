// The Toom-Cook convolution, asked for by name: against the reference, and its bits on every instruction set; and which
// shapes get it.
#include "ops/conv/toom_cook/toom_cook.h"

#include <gtest/gtest.h>

#include "ops/conv/own_conv.h"

namespace trireme::optest {
namespace {

OpCase line_conv(const Shape& src, const ops::ConvOptions& o) {
  OpCase c = own_conv(src, o, ops::make_toom_cook);
  c.bound = toom_cook_bound(o.kernel[0], o.padding.empty() ? 0 : o.padding[0]);
  return c;
}

std::vector<OpCase> toom_cook_cases() {
  return {
      line_conv({3, 16, 96}, {.channels = 16, .kernel = {8}, .relu = true}),
      line_conv({2, 16, 444}, {.channels = 16, .kernel = {8}}),
      line_conv({1, 16, 8}, {.channels = 16, .kernel = {8}}),
      line_conv({2, 32, 19}, {.channels = 16, .kernel = {4}, .padding = {3}, .bias = false}),
      line_conv({2, 16, 21}, {.channels = 48, .kernel = {5}, .padding = {2}, .relu = true}),
      line_conv({2, 16, 22}, {.channels = 16, .kernel = {3}, .padding = {1}, .relu = true}),
      line_conv({1, 16, 3}, {.channels = 16, .kernel = {7}, .padding = {6}}),
      line_conv({1, 16, 1}, {.channels = 32, .kernel = {5}, .padding = {2}, .bias = false, .relu = true}),
      line_conv({2, 48, 30}, {.channels = 32, .kernel = {9}, .padding = {4}, .relu = true}),
      line_conv({1, 16, 70}, {.channels = 16, .kernel = {32}, .padding = {16}}),
      line_conv({2, 16, 35}, {.channels = 16, .kernel = {31}, .bias = false}),
      // Output tiles fill a run, input tiles do not.
      line_conv({1, 16, 229}, {.channels = 16, .kernel = {6}}),
  };
}

TEST(ToomCook, EqualsTheReferenceAndItselfOnEveryInstructionSet) {
  for (const OpCase& c : toom_cook_cases()) check_own_conv(c);
}

TEST(ToomCook, TakesWeightsInTheLayoutOfAnotherProgram) {
  const OpCase c = line_conv({2, 16, 41}, {.channels = 32, .kernel = {6}, .relu = true});
  const CaseData data = make_data(c, true);
  const std::vector<tensor::Layout> offered{tensor::Layout::plain(c.shapes[0])};
  const std::vector<tensor::Layout> plain{tensor::Layout::plain({32, 16, 6}), tensor::Layout::plain({32})};
  expect_same_bits("plain weights", run_kernel(c, data, {.offered = offered}),
                   run_kernel(c, data, {.offered = offered, .fixed_weights = plain}));
}

bool fits(const Shape& src, const ops::ConvOptions& options, base::Isa isa) {
  return ops::toom_cook_fits(complete(options), src, isa);
}
bool toom_cook_wins(const Shape& src, const ops::ConvOptions& options, base::Isa isa) {
  return ops::toom_cook_wins(complete(options), src, ops::conv(options)->output(std::vector<Shape>{src}), isa);
}

// Expectations are those of the measurements in docs/design/004-winograd.md.
TEST(ToomCook, IsChosenForLongLines) {
  for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
    SCOPED_TRACE(base::isa_name(isa));
    for (const std::int64_t samples : {1, 32}) {
      EXPECT_TRUE(toom_cook_wins({samples, 16, 896}, {.channels = 16, .kernel = {8}}, isa));
      EXPECT_TRUE(toom_cook_wins({samples, 16, 444}, {.channels = 16, .kernel = {8}}, isa));
      EXPECT_TRUE(toom_cook_wins({samples, 16, 448}, {.channels = 16, .kernel = {3}, .padding = {1}}, isa));
      EXPECT_TRUE(toom_cook_wins({samples, 64, 448}, {.channels = 64, .kernel = {5}, .padding = {2}}, isa));
      EXPECT_FALSE(toom_cook_wins({samples, 16, 8}, {.channels = 16, .kernel = {8}, .padding = {4}}, isa));
      EXPECT_FALSE(toom_cook_wins({samples, 16, 20}, {.channels = 16, .kernel = {5}, .padding = {2}}, isa));
    }
    EXPECT_TRUE(toom_cook_wins({32, 64, 12}, {.channels = 64, .kernel = {8}, .padding = {4}}, isa));
    EXPECT_FALSE(toom_cook_wins({1, 64, 12}, {.channels = 64, .kernel = {8}, .padding = {4}}, isa))
        << "transforming filters";
  }
  EXPECT_FALSE(toom_cook_wins({32, 16, 896}, {.channels = 16, .kernel = {8}}, base::Isa::generic))
      << "fma is a call there";
}

TEST(ToomCook, FitsOneSpatialSizeAndWholeBlocks) {
  const ops::ConvOptions good{.channels = 16, .kernel = {8}};
  EXPECT_TRUE(fits({32, 16, 896}, good, base::Isa::avx512));
  EXPECT_FALSE(fits({32, 24, 896}, good, base::Isa::avx512));
  EXPECT_TRUE(fits({32, 24, 896}, good, base::Isa::avx2));
  for (const ops::ConvOptions& bad :
       {ops::ConvOptions{.channels = 24, .kernel = {8}}, ops::ConvOptions{.channels = 16, .kernel = {2}},
        ops::ConvOptions{.channels = 16, .kernel = {65}}, ops::ConvOptions{.channels = 16, .kernel = {3, 3}},
        ops::ConvOptions{.channels = 16, .kernel = {8}, .stride = {2}},
        ops::ConvOptions{.channels = 16, .kernel = {8}, .padding = {8}},
        ops::ConvOptions{.channels = 16, .kernel = {8}, .groups = 2}})
    EXPECT_FALSE(fits(bad.kernel.size() == 1 ? Shape{32, 16, 896} : Shape{32, 16, 8, 8}, bad, base::Isa::avx512));
  EXPECT_FALSE(fits({32, 512, 896}, {.channels = 512, .kernel = {8}}, base::Isa::avx512)) << "filters of 15 MB";
}

}  // namespace
}  // namespace trireme::optest
