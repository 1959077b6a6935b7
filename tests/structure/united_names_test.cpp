#include "structure/united_names.h"

#include <gtest/gtest.h>

namespace trireme::structure {
namespace {

const std::string kOne = R"(#include "x.h"
namespace trireme::comm {
namespace {

constexpr int kMost = 3;
struct Place {
  int number() const { return 1; }
};

template <class T>
std::span<const std::byte> bytes_of(const T& one) {
  return std::as_bytes(std::span(&one, 1));
}
bool is_open(int port) { return port > 0; }

}  // namespace

int public_one(int x) {
  return bytes_of(x).size();
}

}  // namespace trireme::comm
)";
const std::string kOther = R"(namespace trireme::comm {
namespace {
std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
}  // namespace
}  // namespace trireme::comm
)";

TEST(UnitedNames, FunctionsOfAnonymousNamespacesOnly) {
  EXPECT_EQ(anonymous_functions({"src/comm/one.cpp", kOne}), (std::vector<std::string>{"bytes_of", "is_open"}));
}

TEST(UnitedNames, TwoFilesOfAFolder) {
  const Offences offences = check_united_names({{"src/comm/one.cpp", kOne}, {"src/comm/other.cpp", kOther}});
  ASSERT_EQ(offences.size(), 1u);
  EXPECT_NE(offences[0].find("bytes_of"), std::string::npos) << offences[0];
  EXPECT_TRUE(check_united_names({{"src/comm/one.cpp", kOne}, {"src/comm/tcp/other.cpp", kOther}}).empty());
  EXPECT_EQ(check_united_names({{"src/comm/one.cpp", kOne}, {"src/comm/tcp/other.cpp", kOther}}, {"comm"}).size(), 1u);
  EXPECT_TRUE(check_united_names({{"src/comm/one.cpp", kOne}, {"src/comm/other_avx2.cpp", kOther}}).empty());
}

TEST(UnitedNames, PartsTogetherAsDeclared) {
  EXPECT_EQ(parts_together("trireme_part(a CONTROL DEPENDS b)\ntrireme_part(c CONTROL TOGETHER DEPENDS a\n  b)\n"),
            std::set<std::string>{"c"});
}

}  // namespace
}  // namespace trireme::structure
