// Memory from allocate(): reduced where it lies, with the same results.
#include <cstring>

#include "comm/worlds.h"

namespace trireme::comm {
namespace {

std::span<float> floats(const std::shared_ptr<const Window>& window) {
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

TEST_P(Windows, OtherPlacesAreNamed) {
  if (GetParam() == "tcp") GTEST_SKIP() << "over TCP there is no memory in common, so any place will do";
  auto groups = make_groups(GetParam(), 2);
  const auto errors = run_ranks(groups, [](Group& group) {
    const auto window = group.allocate(100000);
    group.all_reduce(floats(window).subspan(group.rank() == 0 ? 0 : 16, 10000), Reduction::sum);
  });
  EXPECT_NE(errors[0].find("its array begins at 0 of window 0, that of rank 1 at 64"), std::string::npos) << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Over, Windows, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trireme::comm
