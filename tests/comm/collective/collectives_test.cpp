// Every collective over worlds and sizes, against what it must give in closed form.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "comm/collective/rank_values.h"
#include "comm/collective/slices.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

const std::vector<int> kWorlds = {1, 2, 3, 4, 5, 7, 8};
const std::vector<std::size_t> kSizes = {0, 1, 3, 1000, 1000007};

std::vector<float> values(int rank, std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = value(rank, i);
  return all;
}
// Of all ranks 0 ... ranks - 1.
float expected(Reduction how, int ranks, std::size_t i) {
  const float unit = value(0, i);
  const float sum = unit * static_cast<float>(ranks * (ranks + 1) / 2);
  if (how == Reduction::max) return unit * static_cast<float>(ranks);
  return how == Reduction::sum ? sum : sum * (1.0f / static_cast<float>(ranks));
}

void expect_reduced(std::span<const float> got, std::size_t offset, Reduction how, int ranks, const std::string& what) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected(how, ranks, offset + i)) {
      ADD_FAILURE() << what << ": place " << offset + i << " is " << got[i] << ", expected "
                    << expected(how, ranks, offset + i);
      return;
    }
}

class CollectivesTest : public testing::TestWithParam<std::tuple<std::string, int, std::size_t>> {
 protected:
  std::string transport() const { return std::get<0>(GetParam()); }
  int world() const { return std::get<1>(GetParam()); }
  std::size_t count() const { return std::get<2>(GetParam()); }
  void run(const std::function<void(Group&)>& body) const { run_over(transport(), world(), body); }
};

TEST_P(CollectivesTest, AllReduce) {
  run([&](Group& group) {
    for (const AllReduce& algorithm : all_reduce_list())
      for (const Reduction how : {Reduction::sum, Reduction::mean, Reduction::max}) {
        auto data = values(group.rank(), count());
        group.all_reduce(data, how, algorithm.algorithm);
        expect_reduced(data, 0, how, world(), std::string(algorithm.name));
      }
    auto data = values(group.rank(), count());
    group.all_reduce(data, Reduction::sum);
    expect_reduced(data, 0, Reduction::sum, world(), "automatic");
  });
}

TEST_P(CollectivesTest, ReduceToEachRoot) {
  run([&](Group& group) {
    for (int root = 0; root < world(); ++root)
      for (const Reduction how : {Reduction::sum, Reduction::mean, Reduction::max}) {
        auto data = values(group.rank(), count());
        group.reduce(data, how, root);
        if (group.rank() == root) expect_reduced(data, 0, how, world(), "reduce");
      }
  });
}

TEST_P(CollectivesTest, ReduceScatter) {
  run([&](Group& group) {
    for (const Reduction how : {Reduction::sum, Reduction::mean, Reduction::max}) {
      auto data = values(group.rank(), count());
      const auto own = group.reduce_scatter(data, how);
      expect_reduced(own, static_cast<std::size_t>(own.data() - data.data()), how, world(), "reduce-scatter");
    }
  });
}

TEST_P(CollectivesTest, Scan) {
  run([&](Group& group) {
    for (const Reduction how : {Reduction::sum, Reduction::mean, Reduction::max}) {
      auto data = values(group.rank(), count());
      group.scan(data, how);
      expect_reduced(data, 0, how, group.rank() + 1, "scan");
    }
  });
}

TEST_P(CollectivesTest, BroadcastFromEachRoot) {
  run([&](Group& group) {
    for (int root = 0; root < world(); ++root) {
      auto data = bytes(group.rank(), count());
      group.broadcast(data, root);
      EXPECT_TRUE(data == bytes(root, count())) << "root " << root;
    }
  });
}

TEST_P(CollectivesTest, ScatterAndGather) {
  run([&](Group& group) {
    const auto ranks = static_cast<std::size_t>(world());
    for (int root = 0; root < world(); root += 2) {
      const auto all = bytes(root, group.rank() == root ? ranks * count() : 0);
      std::vector<std::byte> own(count());
      group.scatter(all, own, root);
      for (std::size_t i = 0; i < count(); i += 1 + count() / 100)
        ASSERT_EQ(own[i], byte_at(root, static_cast<std::size_t>(group.rank()) * count() + i));
      std::vector<std::byte> back(all.size());
      group.gather(own, back, root);
      EXPECT_TRUE(back == all) << "root " << root;
    }
  });
}

TEST_P(CollectivesTest, AllGatherAndAllToAll) {
  run([&](Group& group) {
    const auto ranks = static_cast<std::size_t>(world());
    std::vector<std::byte> all(ranks * count());
    group.all_gather(bytes(group.rank(), count()), all);
    for (int from = 0; from < world(); ++from) {
      const auto part = std::span(all).subspan(static_cast<std::size_t>(from) * count(), count());
      EXPECT_TRUE(std::ranges::equal(part, bytes(from, count()))) << "from " << from;
    }
    const auto sent = bytes(group.rank(), ranks * count());
    std::vector<std::byte> received(sent.size());
    group.all_to_all(sent, received);
    for (int from = 0; from < world(); ++from)
      for (std::size_t i = 0; i < count(); i += 1 + count() / 100)
        ASSERT_EQ(received[static_cast<std::size_t>(from) * count() + i],
                  byte_at(from, static_cast<std::size_t>(group.rank()) * count() + i));
  });
}

INSTANTIATE_TEST_SUITE_P(Over, CollectivesTest,
                         testing::Combine(testing::ValuesIn(all_transports()), testing::ValuesIn(worlds_of(kWorlds)),
                                          testing::ValuesIn(kSizes)),
                         [](const auto& one) {
                           return std::get<0>(one.param) + "_world" + std::to_string(std::get<1>(one.param)) + "_size" +
                                  std::to_string(std::get<2>(one.param));
                         });

// Nobody leaves before the last has come.
TEST(Barrier, HoldsEveryoneBack) {
  for (const int world : kWorlds) {
    std::atomic<int> arrived{0};
    run_world(inproc_groups(world, kTestDeadline), [&](Group& group) {
      for (int turn = 1; turn <= 20; ++turn) {
        ++arrived;
        group.barrier();
        EXPECT_GE(arrived.load(), turn * world);
        group.barrier();
      }
    });
  }
}

TEST(Disagreement, IsNamedAtOnce) {
  auto groups = inproc_groups(2, kTestDeadline);
  const auto errors = run_ranks(groups, [](Group& group) {
    std::vector<float> data(group.rank() == 0 ? 10 : 20);
    group.all_reduce(data, Reduction::sum);
  });
  EXPECT_NE(errors[0].find("rank 0 is in all-reduce 0 of 40 bytes, but rank 1 sent 80 bytes"), std::string::npos)
      << errors[0];
  EXPECT_NE(errors[1].find("rank 1 is in all-reduce 0 of 80 bytes, but rank 0 sent 40 bytes"), std::string::npos)
      << errors[1];
}

TEST(Deadline, NamesWhoIsLate) {
  auto groups = inproc_groups(3, 0.2);
  const auto errors = run_ranks(groups, [](Group& group) {
    if (group.rank() != 2) group.barrier();
  });
  EXPECT_NE((errors[0] + errors[1]).find("rank 2 did not answer within 0.2 s"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[2], "");
}

}  // namespace
}  // namespace trireme::comm
