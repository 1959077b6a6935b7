// A map of the state is whole, or it is said what is wrong with it.
#include "strategy/common/state_map.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trireme::strategy {
namespace {

std::string why_not_whole(const StateMap& pieces, std::int64_t floats, std::int64_t version) {
  try {
    check_is_whole(pieces, floats, version);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(StateMap, IsWholeInAnyOrder) {
  EXPECT_EQ(why_not_whole({{2, {5, 9}, 7}, {1, {0, 5}, 8}}, 9, 7), "");
  EXPECT_EQ(why_not_whole({{0, {0, 9}, 7}}, 9, 7), "");
  EXPECT_EQ(why_not_whole({{0, {0, 9}, 7}, {1, {9, 9}, 0}, {2, {0, 0}, 0}}, 9, 7), "")
      << "an owner of nothing, to whom nothing was ever pushed";
  EXPECT_EQ(why_not_whole({}, 0, 7), "");
}

TEST(StateMap, NamesWhatIsMissingTwiceOrOld) {
  EXPECT_NE(why_not_whole({{1, {0, 5}, 7}, {2, {6, 9}, 7}}, 9, 7).find("process 2 holds floats 6 to 9"),
            std::string::npos);
  EXPECT_NE(why_not_whole({{1, {0, 5}, 7}, {2, {4, 9}, 7}}, 9, 7).find("process 2 holds floats 4 to 9"),
            std::string::npos);
  EXPECT_NE(why_not_whole({{1, {0, 5}, 7}}, 9, 7).find("nobody holds floats 5 to 9"), std::string::npos);
  EXPECT_NE(why_not_whole({{1, {0, 5}, 7}, {2, {5, 9}, 6}}, 9, 7).find("process 2 holds floats 5 to 9 of step 6"),
            std::string::npos);
}

}  // namespace
}  // namespace trireme::strategy
