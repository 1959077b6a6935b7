// The convolution for few channels, asked for by name: against the reference, and its bits on every instruction
// set; and which shapes get it.
#include "ops/conv/narrow/narrow_conv.h"

#include <gtest/gtest.h>

#include "ops/conv/own_conv.h"

namespace trireme::optest {
namespace {

OpCase narrow(const Shape& src, const ops::ConvOptions& o) { return own_conv(src, o, ops::make_narrow_conv); }

std::vector<OpCase> narrow_cases() {
  return {
      narrow({3, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}}),
      narrow({2, 1, 28, 28}, {.channels = 6, .kernel = {5, 5}, .padding = {2, 2}, .relu = true}),
      narrow({1, 3, 9, 17}, {.channels = 7, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}),
      narrow({2, 4, 5, 70}, {.channels = 1, .kernel = {2, 4}, .padding = {0, 3}}),
      narrow({2, 2, 6, 33}, {.channels = 13, .kernel = {3, 1}, .padding = {2, 0}, .bias = false, .relu = true}),
      narrow({1, 1, 1, 1}, {.channels = 1, .kernel = {1, 1}}),
      narrow({5, 9, 3, 3}, {.channels = 2, .kernel = {3, 3}}),
      narrow({2, 3, 40}, {.channels = 5, .kernel = {7}, .padding = {3}}),
      narrow({1, 2, 5}, {.channels = 3, .kernel = {5}}),
      narrow({9, 1, 3}, {.channels = 1, .kernel = {2}}),  // a vector is longer than several samples
      // Lanes are channels, in one direction or both.
      narrow({3, 6, 14, 14}, {.channels = 16, .kernel = {5, 5}}),
      narrow({2, 3, 7, 5}, {.channels = 33, .kernel = {3, 3}, .padding = {1, 1}, .relu = true}),
      narrow({2, 2, 13, 20}, {.channels = 30, .kernel = {9, 8}, .bias = false}),
      narrow({1, 15, 3, 4}, {.channels = 15, .kernel = {2, 3}, .padding = {1, 2}, .relu = true}),
      narrow({2, 17, 5, 3}, {.channels = 1, .kernel = {3, 3}, .padding = {1, 1}}),
      narrow({2, 1, 9}, {.channels = 17, .kernel = {3}}),
  };
}

TEST(NarrowConvolution, EqualsTheReferenceAndItselfOnEveryInstructionSet) {
  for (const OpCase& c : narrow_cases()) check_own_conv(c);
}

bool narrow_wins(const Shape& src, const ops::ConvOptions& options, base::Isa isa) {
  return ops::narrow_conv_wins(complete(options), src, ops::conv(options)->output(std::vector<Shape>{src}), isa);
}

TEST(NarrowConvolution, IsChosenWhereItUsesMoreLanes) {
  for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
    SCOPED_TRACE(base::isa_name(isa));
    for (const std::int64_t samples : {1, 42}) {
      EXPECT_TRUE(narrow_wins({samples, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}}, isa));
      EXPECT_TRUE(narrow_wins({samples, 6, 14, 14}, {.channels = 16, .kernel = {5, 5}}, isa));
      EXPECT_FALSE(narrow_wins({samples, 4, 64, 64}, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}}, isa))
          << "few taps";
      EXPECT_FALSE(narrow_wins({samples, 48, 28, 28}, {.channels = 12, .kernel = {3, 3}, .padding = {1, 1}}, isa));
      EXPECT_FALSE(narrow_wins({samples, 3, 2, 2}, {.channels = 3, .kernel = {2, 2}}, isa)) << "rows of one column";
      EXPECT_FALSE(narrow_wins({samples, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}, .stride = {2, 2}}, isa));
      EXPECT_FALSE(narrow_wins({samples, 6, 32, 32}, {.channels = 6, .kernel = {5, 5}, .groups = 2}, isa));
    }
  }
  EXPECT_FALSE(narrow_wins({42, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}}, base::Isa::generic))
      << "fma is a call there";
}

}  // namespace
}  // namespace trireme::optest
