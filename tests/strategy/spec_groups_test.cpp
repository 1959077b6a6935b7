// What may be asked of groups and local, and what may not.
#include "strategy/spec.h"

#include <gtest/gtest.h>

#include "support/core_errors.h"

namespace trireme::strategy {
namespace {

const RunLength kLength{100, 10, 4, {}};

Plan plan_of(const std::string& text) { return parse_strategy(text, kLength).at(0).plan; }

void expect_refused(const std::string& text, const std::string& saying) {
  try {
    parse_strategy(text, kLength);
    ADD_FAILURE() << text << " was accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::user) << text;
    EXPECT_NE(std::string(error.what()).find(saying), std::string::npos) << text << ": " << error.what();
  }
}

TEST(SpecOfGroups, Local) {
  EXPECT_EQ(plan_of("local").local.every, 8);
  EXPECT_EQ(plan_of("local:drift=0.05").local.drift, 0.05);
  EXPECT_EQ(plan_of("local:every=0,drift=0.05").local.every, 0);
  EXPECT_TRUE(plan_of("local").is_synchronous());
  EXPECT_FALSE(plan_of("local").needs_servers());
  EXPECT_EQ(plan_of("local:state=keep").local.state, StateAtAverage::keep);
  const Plan by_servers = plan_of("local:every=4,by=servers");
  EXPECT_TRUE(by_servers.needs_servers());
  EXPECT_FALSE(by_servers.servers_hold());
  EXPECT_TRUE(by_servers.ps.synchronous && by_servers.ps.returns_gradients);
  expect_refused("local:every=-1", "every is -1");
  expect_refused("local:drift=-1", "drift is -1");
  expect_refused("local:every=0", "drift");
  expect_refused("local:by=nobody", "'nobody'");
  expect_refused("local:state=lost", "'lost'");
  expect_refused("local:evry=3", "'every'");
}

TEST(SpecOfGroups, TwoLevels) {
  EXPECT_TRUE(plan_of("ps").ps.teams.empty());
  EXPECT_TRUE(plan_of("ps:levels=1").leaders().empty());
  EXPECT_EQ(plan_of("ps:levels=2").ps.teams, (WorkerGroups{{0, 1, 2, 3}}));
  const RunLength on_hosts{100, 10, 5, {"a", "a", "b", "a", "a"}};
  const Plan plan = parse_strategy("ps:levels=2", on_hosts).at(0).plan;
  EXPECT_EQ(plan.ps.teams, (WorkerGroups{{0, 1}, {2}, {3, 4}})) << "workers that follow each other";
  EXPECT_EQ(plan.leaders(), (std::vector{0, 2, 3}));
  EXPECT_TRUE(plan.is_synchronous());
  EXPECT_EQ(plan.rowers(5), 5);
  expect_refused("ps:levels=3", "levels is 3");
  expect_refused("ps:mode=async,levels=2", "'levels'");
}

TEST(SpecOfGroups, Groups) {
  const Plan two = plan_of("groups:count=2");
  EXPECT_EQ(two.groups, (WorkerGroups{{0, 1}, {2, 3}}));
  EXPECT_EQ(two.lr_scale, 0);
  EXPECT_TRUE(two.bound.is_none());
  EXPECT_FALSE(two.is_synchronous());
  EXPECT_TRUE(two.needs_servers() && two.servers_hold());
  EXPECT_EQ(two.rowers(4), 2);
  EXPECT_EQ(two.rower_of(3), 1);
  EXPECT_EQ(two.workers_of(1), (std::vector{2, 3}));
  EXPECT_EQ(two.leaders(), (std::vector{0, 2}));
  EXPECT_EQ(plan_of("groups:count=2,staleness=1").bound.high, 1);
  EXPECT_EQ(plan_of("groups:count=4,lr-scale=0.3").lr_scale, 0.3);
  const RunLength on_hosts{100, 10, 4, {"a", "b", "a", "c"}};
  for (const char* text : {"groups", "groups:by=host"}) {
    const Plan plan = parse_strategy(text, on_hosts).at(0).plan;
    EXPECT_EQ(plan.groups, (WorkerGroups{{0, 2}, {1}, {3}}));
  }
  EXPECT_TRUE(parse_plans("groups:count=3", 0).at(0).needs_servers()) << "before the number of workers is known";
  expect_refused("groups:count=0", "count is 0");
  expect_refused("groups:count=5", "4 workers");
  expect_refused("groups:count=2,by=host", "not both");
  expect_refused("groups:by=rack", "'rack'");
  expect_refused("groups:count=2,staleness=-1", "staleness is -1");
  const Plan ps = plan_of("ps:mode=async");
  EXPECT_EQ(ps.rowers(4), 4);
  EXPECT_EQ(ps.rower_of(3), 3);
  EXPECT_EQ(ps.workers_of(3), std::vector{3});
  EXPECT_TRUE(ps.leaders().empty());
}

TEST(SpecOfGroups, SwitchToLocal) {
  const auto phases = parse_strategy("switch:at=30%,from=allreduce,to=local:every=8", kLength);
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].until, 30);
  EXPECT_EQ(phases[1].plan.way, Way::local);
  EXPECT_EQ(phases[1].plan.local.every, 8);
  // Behind local, `state` is local's; the switch's stands before it.
  const auto both = parse_strategy("switch:at=30%,state=reset,to=local:every=2,state=keep", kLength);
  EXPECT_FALSE(both[1].keeps_state);
  EXPECT_EQ(both[1].plan.local.state, StateAtAverage::keep);
}

}  // namespace
}  // namespace trireme::strategy
