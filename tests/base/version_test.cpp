// The version is one line with the number and the revision in it; the clock goes forward.
#include "base/version.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/system/clock.h"

namespace trireme::base {
namespace {

TEST(Version, Text) {
  EXPECT_TRUE(std::regex_match(std::string(version_number()), std::regex(R"(\d+\.\d+\.\d+(\+\d+\.g[0-9a-f]+)?)")));
  EXPECT_TRUE(std::regex_match(std::string(source_date()), std::regex(R"((\d{4}-\d\d-\d\d)?)")));
  EXPECT_FALSE(source_revision().empty());
  EXPECT_EQ(version_text(), "trireme " + std::string(version_number()) + " (" + std::string(source_revision()) + ")");
}

TEST(Clock, GoesForward) {
  const std::int64_t start = now_ns();
  std::int64_t before = start;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
  EXPECT_GE(seconds_since(start), 1e-9 * static_cast<double>(before - start));
}

}  // namespace
}  // namespace trireme::base
