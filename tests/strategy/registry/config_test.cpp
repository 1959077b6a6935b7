// What each strategy's options mean for the run, and which are refused.
#include "strategy/registry/config.h"

#include <gtest/gtest.h>

#include "strategy/builtin_strategies.h"
#include "strategy/phases.h"
#include "support/core_errors.h"

namespace trireme::strategy {
namespace {

const StrategyRegistry kStrategies = builtin_strategies();
const WorkerSet kFour{4, {}};

StrategyConfigPtr config_of(const std::string& text, const WorkerSet& workers = kFour) {
  return parse_phases(kStrategies, text, {100, 10, workers}).at(0).strategy;
}
Traits traits_of(const std::string& text) { return config_of(text)->traits(); }
ShareRules shares_of(const std::string& text) { return config_of(text)->shares(); }

void expect_refused(const std::string& text, const std::string& saying) {
  try {
    config_of(text);
    ADD_FAILURE() << text << " was accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::user) << text;
    EXPECT_NE(std::string(error.what()).find(saying), std::string::npos) << text << ": " << error.what();
  }
}

// Every row works with nothing but its name, and the first of the values that it lists.
TEST(StrategyConfigs, EveryRowOfTheList) {
  for (const StrategyRow& row : kStrategies.rows()) {
    EXPECT_NO_THROW(config_of(row.name)) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    for (const base::SpecOption& option : row.options) EXPECT_FALSE(option.help.empty()) << row.name << option.key;
  }
}

struct Expected {
  const char* text;
  Traits traits;
};

TEST(StrategyConfigs, Traits) {
  const Traits servers{.needs_servers = true, .state_owner = StateOwner::servers};
  const Traits asynchronous{.is_synchronous = false,
                            .needs_servers = true,
                            .state_owner = StateOwner::servers,
                            .outlives_workers = true,
                            .adds_among_workers = false};
  Traits groups = asynchronous;
  groups.adds_among_workers = true;
  const Expected all[] = {{"single", {.is_for_one_worker = true}},
                          {"allreduce", {}},
                          {"allreduce:algorithm=direct", {}},
                          {"allreduce:algorithm=ring", {.adds_exactly = false}},
                          {"ps", servers},
                          {"ps:levels=2", servers},
                          {"ps:return=gradients", {.needs_servers = true}},
                          {"ps:mode=async", asynchronous},
                          {"ps:mode=ssp", asynchronous},
                          {"ps:mode=dssp", asynchronous},
                          {"groups:count=2", groups},
                          {"local", {.holds_shares = true}},
                          {"local:by=servers", {.needs_servers = true, .holds_shares = true}}};
  for (const auto& [text, expected] : all) EXPECT_EQ(traits_of(text), expected) << text;
}

TEST(StrategyConfigs, Bounds) {
  const auto bound = [](const std::string& text) {
    const StalenessBound got = shares_of(text).bound;
    return std::pair(got.low, got.high);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(bound("ps:mode=ssp"), Pair(3, 3));
  EXPECT_EQ(bound("ps:mode=ssp,staleness=0"), Pair(0, 0));
  EXPECT_EQ(bound("ps:mode=dssp"), Pair(3, 15));
  EXPECT_EQ(bound("ps:mode=dssp,low=1,high=4"), Pair(1, 4));
  EXPECT_EQ(bound("ps:mode=dssp,low=2,high=2"), Pair(2, 2));
  EXPECT_EQ(bound("groups:count=2,staleness=1"), Pair(1, 1));
  EXPECT_FALSE(shares_of("ps:mode=ssp").bound.moves());
  EXPECT_TRUE(shares_of("ps:mode=dssp").bound.moves());
  for (const char* text : {"ps", "ps:mode=async", "groups:count=2"})
    EXPECT_TRUE(shares_of(text).bound.is_none()) << text;
}

TEST(StrategyConfigs, ScaleOfTheLearningRate) {
  EXPECT_EQ(shares_of("ps:mode=async").lr_scale, 0) << "1 / the shares of a batch, whatever they are then";
  EXPECT_EQ(shares_of("ps:mode=async,lr-scale=0.5").lr_scale, 0.5);
  EXPECT_EQ(shares_of("groups:count=4,lr-scale=0.3").lr_scale, 0.3);
}

TEST(StrategyConfigs, WhoPushes) {
  const ShareRules two = shares_of("groups:count=2");
  EXPECT_EQ(two.groups, (WorkerGroups{{0, 1}, {2, 3}}));
  EXPECT_EQ(two.pushers(4), 2);
  EXPECT_EQ(two.pusher_of(3), 1);
  EXPECT_EQ(two.workers_of(1), (std::vector{2, 3}));
  EXPECT_EQ(leaders_of(two.groups), (std::vector{0, 2}));
  for (const char* text : {"groups", "groups:by=host"})
    EXPECT_EQ(config_of(text, {4, {"a", "b", "a", "c"}})->shares().groups, (WorkerGroups{{0, 2}, {1}, {3}}));
  const ShareRules alone = shares_of("ps:mode=async");
  EXPECT_EQ(alone.pushers(4), 4);
  EXPECT_EQ(alone.pusher_of(3), 3);
  EXPECT_EQ(alone.workers_of(3), std::vector{3});
}

TEST(StrategyConfigs, Mistakes) {
  expect_refused("local:every=-1", "every is -1");
  expect_refused("local:drift=-1", "drift is -1");
  expect_refused("local:every=0", "drift");
  expect_refused("local:by=nobody", "'nobody'");
  expect_refused("local:state=lost", "'lost'");
  expect_refused("local:evry=3", "'every'");
  expect_refused("ps:levels=3", "levels is 3");
  expect_refused("ps:mode=async,levels=2", "'levels'");
  expect_refused("groups:count=0", "count is 0");
  expect_refused("groups:count=5", "4 workers");
  expect_refused("groups:count=2,by=host", "not both");
  expect_refused("groups:by=rack", "'rack'");
  expect_refused("groups:count=2,staleness=-1", "staleness is -1");
}

// Behind local, `state` is local's; the switch's stands before it.
TEST(StrategyConfigs, SwitchToLocal) {
  const auto both =
      parse_phases(kStrategies, "switch:at=30%,state=reset,to=local:every=2,state=keep", {100, 10, kFour});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].until, 30);
  EXPECT_EQ(both[1].text, "local:every=2,state=keep");
  EXPECT_FALSE(both[1].keeps_state);
}

}  // namespace
}  // namespace trireme::strategy
