#include "base/cpu/add_into.h"

#include <gtest/gtest.h>

#include <vector>

namespace trireme::base {
namespace {

TEST(AddInto, AddsEveryElementOnce) {
  for (const std::int64_t count : {0, 1, 7, 16, 17, 63, 1000}) {
    std::vector<float> into(static_cast<std::size_t>(count) + 1, 0.5f), from(into.size(), 0.25f);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] *= static_cast<float>(i);
    add_into(into.data(), from.data(), count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      ASSERT_EQ(into[i], 0.5f + 0.25f * static_cast<float>(i));
    EXPECT_EQ(into.back(), 0.5f) << "one too many";
  }
}

}  // namespace
}  // namespace trireme::base
