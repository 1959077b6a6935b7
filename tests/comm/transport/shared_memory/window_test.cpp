// Memory from allocate(): reduced where it lies, with the same results.
#include <cstring>

#include "comm/worlds.h"

namespace trireme::comm {
namespace {

std::span<float> floats(const std::shared_ptr<const SharedWindow>& window) {
  return {reinterpret_cast<float*>(window->own().data()), window->own().size() / sizeof(float)};
}

class Windows : public testing::TestWithParam<std::string> {};

TEST_P(Windows, AreReducedWhereTheyLie) {
  for (const int world : {1, 2, 3, 4, 5, 7, 8})
    run_world(make_groups(GetParam(), world), [&](Group& group) {
      for (const std::size_t count : {0, 1, 3, 1000, 1000007}) {
        const auto window = group.allocate(count * sizeof(float));
        const auto data = floats(window);
        ASSERT_EQ(data.size(), count);
        for (std::size_t i = 0; i < count; ++i)
          data[i] = static_cast<float>((group.rank() + 1) * static_cast<int>(i % 7));
        group.all_reduce(data, Reduction::sum);
        const int sum = world * (world + 1) / 2;
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(data[i], static_cast<float>(sum * static_cast<int>(i % 7))) << i;
        // A part of it, again and again: nobody is overtaken.
        if (count < 1000) continue;
        const auto part = data.subspan(7, count / 2);
        for (int turn = 0; turn < 5; ++turn) {
          std::fill(part.begin(), part.end(), static_cast<float>(group.rank() + turn));
          group.all_reduce(part, Reduction::max);
          ASSERT_EQ(part[0], static_cast<float>(world - 1 + turn));
          ASSERT_EQ(part[part.size() - 1], static_cast<float>(world - 1 + turn));
        }
      }
    });
}

// Ranks need not name the same part.
TEST_P(Windows, AnyPlaceWillDo) {
  run_world(make_groups(GetParam(), 3), [](Group& group) {
    const auto window = group.allocate(400000);
    const auto data = floats(window).subspan(static_cast<std::size_t>(group.rank()) * 100, 50000);
    std::fill(data.begin(), data.end(), static_cast<float>(group.rank() + 1));
    group.all_reduce(data, Reduction::sum);
    EXPECT_EQ(data[0], 6.0f);
    EXPECT_EQ(data[49999], 6.0f);
  });
}

TEST_P(Windows, MemoryOfOneRankOnlyIsNamed) {
  auto groups = make_groups(GetParam(), 2);
  const auto errors = run_ranks(groups, [](Group& group) {
    const auto window = group.allocate(100000);
    std::vector<float> other(25000);
    group.all_reduce(group.rank() == 0 ? floats(window) : std::span(other), Reduction::sum);
  });
  if (GetParam() == "tcp") {  // no memory in common: any will do
    EXPECT_EQ(errors[0] + errors[1], "");
    return;
  }
  EXPECT_NE(errors[0].find("rank 0 is in all-reduce of shared memory 0 of 100000 bytes, but rank 1 sent"),
            std::string::npos)
      << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Over, Windows, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trireme::comm
