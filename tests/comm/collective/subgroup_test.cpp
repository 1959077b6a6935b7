// Collectives among some ranks of a group: every subgroup gets what its own members have, while other subgroups work
// and ranks outside write to each other, in the foreground, the background and both, in shared memory and not.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "base/oar_tree.h"
#include "comm/collective/rank_values.h"
#include "comm/collective/slices.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

using Ranks = std::vector<int>;

constexpr std::size_t kMost = 5003;  // floats of an array; enough to be reduced where it lies
constexpr int kOars = 6;
constexpr std::uint32_t kPerPhase = 1000;  // more operations than a phase has
const std::vector<Reduction> kReductions = {Reduction::sum, Reduction::mean, Reduction::max};

float expected(Reduction how, std::span<const int> members, std::size_t i) {
  float all = 0;
  for (const int rank : members) all = how == Reduction::max ? std::max(all, value(rank, i)) : all + value(rank, i);
  return how == Reduction::mean ? all * (1.0f / static_cast<float>(members.size())) : all;
}

// One subgroup's work, in memory of the caller's: room() floats.
class Work {
 public:
  static std::size_t room() { return (1 + kOars) * kMost; }

  Work(Collectives& collectives, const Ranks& members, std::span<float> memory)
      : c_(collectives), members_(members), own_(members[static_cast<std::size_t>(c_.rank())]), memory_(memory) {}

  void run() {
    ASSERT_EQ(c_.world(), static_cast<int>(members_.size()));
    c_.barrier();
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, kMost}) {
      move_bytes(count);
      reduce(count);
    }
    for (const std::size_t count : {std::size_t{1}, std::size_t{103}, kMost}) exact(count);
    c_.barrier();
  }

 private:
  int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  std::span<float> fill(std::size_t count) {
    const auto data = memory_.first(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = value(own_, i);
    return data;
  }
  void expect(std::span<const float> got, std::size_t offset, Reduction how, std::span<const int> members,
              const std::string& what) const {
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != expected(how, members, offset + i)) {
        ADD_FAILURE() << what << ", rank " << own_ << ": place " << offset + i << " is " << got[i] << ", expected "
                      << expected(how, members, offset + i);
        return;
      }
  }

  void move_bytes(std::size_t count) {
    const auto ranks = static_cast<std::size_t>(c_.world());
    std::vector<std::byte> all(ranks * count), back(all.size()), own(count);
    for (int root = 0; root < c_.world(); ++root) {
      auto data = bytes(own_, count);
      c_.broadcast(data, root);
      EXPECT_TRUE(data == bytes(member(root), count)) << "broadcast from " << member(root) << " to " << own_;
      const auto sent = bytes(member(root), c_.rank() == root ? ranks * count : 0);
      c_.scatter(sent, own, root);
      for (std::size_t i = 0; i < count; i += 1 + count / 50)
        ASSERT_EQ(own[i], byte_at(member(root), static_cast<std::size_t>(c_.rank()) * count + i));
      c_.gather(own, c_.rank() == root ? std::span(back) : std::span<std::byte>(), root);
      EXPECT_TRUE(c_.rank() != root || back == sent) << "gather to " << own_;
    }
    c_.all_gather(bytes(own_, count), all);
    for (int from = 0; from < c_.world(); ++from)
      EXPECT_TRUE(std::ranges::equal(std::span(all).subspan(static_cast<std::size_t>(from) * count, count),
                                     bytes(member(from), count)))
          << "all-gather from " << member(from) << " to " << own_;
    c_.all_to_all(bytes(own_, ranks * count), all);
    for (int from = 0; from < c_.world(); ++from)
      for (std::size_t i = 0; i < count; i += 1 + count / 50)
        ASSERT_EQ(all[static_cast<std::size_t>(from) * count + i],
                  byte_at(member(from), static_cast<std::size_t>(c_.rank()) * count + i));
  }

  void reduce(std::size_t count) {
    for (const Reduction how : kReductions) {
      for (const AllReduce& algorithm : all_reduce_list()) {
        const auto data = fill(count);
        c_.all_reduce(data, how, algorithm.algorithm);
        expect(data, 0, how, members_, std::string(algorithm.name));
      }
      auto data = fill(count);
      c_.all_reduce(data, how);  // in the windows, where there are some
      expect(data, 0, how, members_, "automatic");
      data = fill(count);
      c_.reduce(data, how, c_.world() - 1);
      if (c_.rank() == c_.world() - 1) expect(data, 0, how, members_, "reduce");
      data = fill(count);
      c_.scan(data, how);
      expect(data, 0, how, std::span(members_).first(static_cast<std::size_t>(c_.rank()) + 1), "scan");
      data = fill(count);
      const auto own = c_.reduce_scatter(data, how);
      expect(own, static_cast<std::size_t>(own.data() - data.data()), how, members_, "reduce-scatter");
    }
  }

  // Numbers whose sums depend on the order; other ones in every subgroup.
  std::vector<float> oar_values(int oar, std::size_t count) const {
    std::mt19937 random(static_cast<unsigned>(oar + 100 * members_[0]) * 7919u + 1u);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& one : values) one = normal(random) * std::exp2(static_cast<float>(oar % 5));
    return values;
  }
  std::vector<float> tree_sum(base::Range node, std::size_t count) const {
    return base::oar_tree_sum<std::vector<float>>(
        static_cast<int>(node.begin), static_cast<int>(node.end), [&](int oar) { return oar_values(oar, count); },
        [](int) { return false; },
        [](std::vector<float> left, const std::vector<float>& right) {
          for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
          return left;
        });
  }

  void exact(std::size_t count) {
    OarShares shares{kOars, {}, {}};
    for (int rank = 0; rank < c_.world(); ++rank) shares.held.push_back(base::oars_of_worker(rank, c_.world(), kOars));
    const ExactPlan plan(shares);
    const base::Range own = plan.of_rank(c_.rank());
    std::vector<std::span<float>> partials;
    for (std::int64_t i = own.begin; i < own.end; ++i) {
      const auto values = tree_sum(plan.partials()[static_cast<std::size_t>(i)].oars, count);
      partials.push_back(memory_.subspan((1 + partials.size()) * kMost, count));
      std::ranges::copy(values, partials.back().begin());
    }
    const auto result = memory_.first(count);
    c_.exact_all_reduce(plan, partials, result);
    EXPECT_EQ(std::memcmp(result.data(), tree_sum({0, kOars}, count).data(), result.size_bytes()), 0)
        << "exact sum of " << count << " floats, rank " << own_;
  }

  Collectives& c_;
  const Ranks& members_;
  int own_;  // of the group
  std::span<float> memory_;
};

// Subgroups at the same time, none with a rank of another's; ranks in none of them are outside.
using Phase = std::vector<Ranks>;

std::vector<Phase> phases(int world) {
  const int last = world - 1;
  Ranks all, backwards, even, odd, but_first;
  for (int rank = 0; rank < world; ++rank) {
    all.push_back(rank);
    backwards.insert(backwards.begin(), rank);
    (rank % 2 == 0 ? even : odd).push_back(rank);
    if (rank > 0) but_first.push_back(rank);
  }
  return {{all},
          {even, odd},
          {{last, 0}},
          {backwards},
          {but_first},
          {{1}, {last, 0}},
          {{0, last}, but_first.size() > 3 ? Ranks{3, 1, 2} : Ranks{1}},
          {all}};
}

// Ranks outside write to each other.
void write_letters(Mailbox& mailbox, const Ranks& outside) {
  constexpr Tag kTag = 11;
  for (int turn = 0; turn < 50; ++turn) {
    for (const int to : outside) mailbox.send(to, kTag, std::as_bytes(std::span(&turn, 1)));
    for (const int from : outside) {
      int got = -1;
      mailbox.receive(from, kTag, std::as_writable_bytes(std::span(&got, 1)));
      EXPECT_EQ(got, turn) << "from rank " << from;
    }
  }
}

// How the subgroups' work is run.
enum class Manner { front, back, both };

void run_phase(Group& group, const Phase& phase, std::uint32_t sequence, Manner manner,
               std::span<const std::span<float>> memories) {
  const int own = group.mailbox().rank();
  Ranks outside;
  for (int rank = 0; rank < group.mailbox().world(); ++rank)
    if (std::ranges::none_of(phase, [&](const Ranks& one) { return std::ranges::count(one, rank) > 0; }))
      outside.push_back(rank);
  if (std::ranges::count(outside, own) > 0) return write_letters(group.mailbox(), outside);
  const Ranks& members =
      *std::ranges::find_if(phase, [&](const Ranks& one) { return std::ranges::count(one, own) > 0; });
  group.among(members, sequence);
  EXPECT_EQ(members[static_cast<std::size_t>(group.rank())], own);
  std::vector<PendingCollective> pending;
  if (manner != Manner::front)
    pending.push_back(group.start([&](Collectives& c) { Work(c, members, memories[0]).run(); }));
  if (manner != Manner::back) Work(group, members, memories[1]).run();
  for (PendingCollective& one : pending) one.wait();
}

void run_phases(Group& group) {
  const auto all = phases(group.world());
  const auto window = group.allocate(2 * Work::room() * sizeof(float));
  const std::span<float> shared(reinterpret_cast<float*>(window->own().data()), 2 * Work::room());
  std::vector<float> memory(2 * Work::room());
  std::uint32_t sequence = 0;
  for (const bool is_shared : {false, true})
    for (const Manner manner : {Manner::front, Manner::back, Manner::both})
      for (const Phase& phase : all) {
        const auto room = is_shared ? shared : std::span(memory);
        run_phase(group, phase, sequence += kPerPhase, manner,
                  std::array{room.first(Work::room()), room.subspan(Work::room())});
      }
}

class SomeRanks : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(SomeRanks, HaveCollectivesOfTheirOwn) {
  const auto& [transport, world] = GetParam();
  run_over(transport, world, run_phases);
}

INSTANTIATE_TEST_SUITE_P(Over, SomeRanks,
                         testing::Combine(testing::Values("inproc", "shm", "tcp"), testing::Values(3, 5, 8)),
                         [](const auto& one) {
                           return std::get<0>(one.param) + "_world" + std::to_string(std::get<1>(one.param));
                         });

TEST(Subgroup, MayLieOnSeveralHosts) {
  run_world(inproc_groups(8, kTestDeadline, {0, 1, 1, 0, 2, 1, 0, 2}), run_phases);
}

// Ranks need not agree on when they go over: what was started before is among the ranks of then.
TEST(Subgroup, WhatWasStartedStaysInItsSubgroup) {
  run_world(inproc_groups(4, kTestDeadline), [](Group& group) {
    const int own = group.rank();
    std::vector<float> wide(20000, 1.0f), narrow(20000, 1.0f);
    PendingCollective before = group.start([&](Collectives& c) { c.all_reduce(wide, Reduction::sum); });
    group.among({own % 2, own % 2 + 2}, 100);
    PendingCollective after = group.start([&](Collectives& c) { c.all_reduce(narrow, Reduction::sum); });
    after.wait();
    before.wait();
    EXPECT_EQ(wide[19999], 4.0f);
    EXPECT_EQ(narrow[19999], 2.0f);
  });
}

TEST(Subgroup, DisagreementIsNamedWithTheRanksOfTheGroup) {
  auto groups = inproc_groups(4, kTestDeadline);
  const auto errors = run_ranks(groups, [](Group& group) {
    if (group.rank() < 2) return;
    group.among({3, 2}, 100);
    std::vector<float> data(group.rank() == 0 ? 10 : 20);
    group.all_reduce(data, Reduction::sum);
  });
  EXPECT_NE(errors[3].find("rank 3 is in all-reduce 100 of 40 bytes, but rank 2 sent 80 bytes"), std::string::npos)
      << errors[3];
}

TEST(Subgroup, RefusesWhatCannotBeOne) {
  auto groups = inproc_groups(3, kTestDeadline);
  groups[0].among({0}, 100);
  groups[0].barrier();
  EXPECT_THROW(groups[0].among({1, 2}, 200), std::exception) << "without this rank";
  EXPECT_THROW(groups[0].among({0, 1, 0}, 200), std::exception) << "a rank twice";
  EXPECT_THROW(groups[0].among({0, 3}, 200), std::exception) << "no such rank";
  EXPECT_THROW(groups[0].among({0}, 100), std::exception) << "counted back";
  EXPECT_EQ(groups[0].world(), 1);
}

}  // namespace
}  // namespace trireme::comm
