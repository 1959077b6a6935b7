// What people ask for with --strategy: all forms, and every mistake with its sentence.
#include "strategy/phases.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/builtin_strategies.h"

namespace trireme::strategy {
namespace {

const RunLength kLength{1000, 100, {4, {}}};
const StrategyRegistry kStrategies = builtin_strategies();

TEST(Phases, OneStrategy) {
  const std::vector<Phase> phases = parse_phases(kStrategies, "ps:mode=async", kLength);
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].text, "ps:mode=async");
  EXPECT_EQ(phases[0].until, kLength.total_steps);
  EXPECT_FALSE(phases[0].traits().is_synchronous);
}

struct Expected {
  std::string text;
  std::int64_t until = 0;
  bool keeps_state = true;
};

void expect_phases(std::string_view text, const std::vector<Expected>& expected, const RunLength& length = kLength) {
  const std::vector<Phase> phases = parse_phases(kStrategies, text, length);
  ASSERT_EQ(phases.size(), expected.size()) << text;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_EQ(phases[i].text, expected[i].text) << text;
    EXPECT_EQ(phases[i].until, expected[i].until) << text;
    EXPECT_EQ(phases[i].keeps_state, expected[i].keeps_state) << text;
  }
  const std::vector<NamedConfig> configs = parse_configs(kStrategies, text, length.workers.workers);
  ASSERT_EQ(configs.size(), expected.size()) << text;
  for (std::size_t i = 0; i < configs.size(); ++i) EXPECT_EQ(configs[i].text, expected[i].text) << text;
}

TEST(Phases, Switches) {
  const std::vector<Expected> usual{{"allreduce", 500}, {"ps:mode=async", 1000}};
  for (const char* text : {"switch", "switch:", "switch:at=50%", "switch:from=allreduce", "switch:to=ps:mode=async",
                           "switch:at=500steps", "switch:at=5epochs", "switch:at=50%,from=allreduce,to=ps:mode=async",
                           "switch:to=ps:mode=async,from=allreduce,at=50%", "switch:state=keep"})
    expect_phases(text, usual);
  expect_phases("switch:at=0%,to=ps", {{"allreduce", 0}, {"ps", 1000}});
  expect_phases("switch:at=100%,to=ps", {{"allreduce", 1000}, {"ps", 1000}});
  expect_phases("switch:at=33.35%,to=ps", {{"allreduce", 334}, {"ps", 1000}});
  expect_phases("switch:state=reset,to=ps", {{"allreduce", 500}, {"ps", 1000, false}});
}

TEST(Phases, OptionsBelongToTheStrategyBefore) {
  expect_phases("switch:at=10%,from=allreduce:algorithm=ring,bucket=64,to=ps:mode=ssp,staleness=2",
                {{"allreduce:algorithm=ring,bucket=64", 100}, {"ps:mode=ssp,staleness=2", 1000}});
  expect_phases("switch:from=ps,mode=dssp,low=1,high=2,at=10%,to=allreduce,bucket=64",
                {{"ps:mode=dssp,low=1,high=2", 100}, {"allreduce:bucket=64", 1000}});
}

TEST(Phases, SeveralSwitches) {
  expect_phases("switch:at=20%,to=ps,at=700steps,to=allreduce,at=9epochs,to=ps:mode=async",
                {{"allreduce", 200}, {"ps", 700}, {"allreduce", 900}, {"ps:mode=async", 1000}});
  expect_phases("switch:at=20%,at=40%,to=ps,to=allreduce,state=reset,state=keep",
                {{"allreduce", 200}, {"ps", 400, false}, {"allreduce", 1000}});
  expect_phases("switch:at=20%,at=40%,to=ps,to=allreduce,state=keep,state=reset",
                {{"allreduce", 200}, {"ps", 400}, {"allreduce", 1000, false}});
}

// Whether moments fit a run is only known with its length.
TEST(Phases, MomentsOfAnyLengthOfRun) {
  expect_phases("switch:at=50%,at=2epochs,to=ps,to=allreduce", {{"allreduce", 150}, {"ps", 200}, {"allreduce", 300}},
                {300, 100, {2, {}}});
  expect_phases("switch:at=10steps,at=1epochs,to=ps,to=allreduce", {{"allreduce", 10}, {"ps", 100}, {"allreduce", 300}},
                {300, 100, {2, {}}});
  expect_phases("switch:at=5000epochs,to=ps", {{"allreduce", 50000}, {"ps", 60000}}, {60000, 10, {2, {}}});
}

TEST(Phases, Mistakes) {
  struct Mistake {
    const char* text;
    std::vector<const char*> words;
  };
  const std::vector<Mistake> mistakes{
      {"", {"''", "allreduce", "single"}},
      {"allreduec", {"'allreduec'", "'allreduce'"}},
      {"single:bucket=1", {"single", "bucket"}},
      {"allreduce:algoritm=ring", {"'algoritm'", "'algorithm'"}},
      {"allreduce:algorithm=rings", {"'rings'", "ring"}},
      {"allreduce:bucket=-1", {"bucket", "-1"}},
      {"allreduce:bucket=many", {"bucket", "'many'"}},
      {"allreduce:bucket=1,bucket=2", {"bucket", "twice"}},
      {"ps:mode=asink", {"'asink'", "'async'"}},
      {"ps:staleness=3", {"staleness"}},
      {"ps:mode=async,staleness=3", {"staleness"}},
      {"ps:mode=async,return=gradients", {"return"}},
      {"ps:return=wheights", {"'wheights'", "gradients"}},
      {"ps:mode=ssp,staleness=-1", {"staleness", "-1"}},
      {"ps:mode=ssp,staleness=9000000000000000000", {"staleness", "9000000000000000000", "1000000"}},
      {"ps:mode=ssp,staleness=1.5", {"staleness", "'1.5'"}},
      {"ps:mode=dssp,low=5,high=4", {"high", "4", "low", "5"}},
      {"ps:mode=dssp,low=-1", {"low", "-1"}},
      {"ps:mode=dssp,high=-1", {"high", "-1"}},
      {"ps:mode=async,lr-scale=0", {"lr-scale", "0"}},
      {"ps:mode=async,lr-scale=nan", {"lr-scale", "nan"}},
      {"ps:mode=async,lr-scale=inf", {"lr-scale", "inf"}},
      {"ps:mode=async,lr-scale=fast", {"lr-scale", "fast"}},
      {"switch:at=101%", {"at", "101%"}},
      {"switch:at=-1%", {"at", "-1%"}},
      {"switch:at=50", {"at", "'50'", "50%"}},
      {"switch:at=%", {"at", "'%'"}},
      {"switch:at=half%", {"at", "half"}},
      {"switch:at=nan%", {"at", "nan"}},
      {"switch:at=1001steps", {"at=1001steps", "1001", "1000"}},
      {"switch:at=11epochs", {"at=11epochs", "1100", "1000"}},
      {"switch:at=-1epochs", {"at", "-1epochs"}},
      {"switch:at=9223372036854775807epochs", {"at", "9223372036854775807epochs"}},
      {"switch:at=steps", {"at", "'steps'"}},
      {"switch:at=50%,at=20%,to=ps,to=allreduce", {"order", "20%", "50%"}},
      {"switch:at=20%,at=40%", {"2", "3", "to"}},
      {"switch:at=20%,to=ps,to=allreduce", {"1", "2", "to"}},
      {"switch:from=ps,from=allreduce", {"from"}},
      {"switch:bucket=3", {"'bucket=3'", "from", "to"}},
      {"switch:state=kept", {"'kept'", "keep", "reset"}},
      {"switch:state=keep,state=reset", {"state", "1", "2"}},
      {"switch:to=switch", {"switch", "at and to"}},
      {"switch:to=sp", {"'sp'", "'ps'"}},
      {"switch:to=", {"''"}},
  };
  for (const Mistake& mistake : mistakes) try {
      parse_phases(kStrategies, mistake.text, kLength);
      ADD_FAILURE() << mistake.text << " was accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::user) << mistake.text;
      for (const char* word : mistake.words)
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
            << mistake.text << ": '" << word << "' is not in: " << error.what();
    }
}

TEST(Phases, ServersOfSomePhase) {
  EXPECT_FALSE(needs_servers(kStrategies, "switch:from=allreduce,to=local"));
  EXPECT_TRUE(needs_servers(kStrategies, "switch:from=allreduce,to=local:by=servers"));
  EXPECT_TRUE(needs_servers(kStrategies, "groups:count=3")) << "before the number of workers is known";
}

// A program of a user's own adds a strategy; everything else finds it by its row.
TEST(Phases, AStrategyOfOnesOwn) {
  struct Own : StrategyConfig {
    Own() : StrategyConfig({.outlives_workers = true}) {}
    std::unique_ptr<Strategy> make_worker_side(const WorkerContext&) const override { return nullptr; }
  };
  StrategyRegistry strategies = builtin_strategies();
  strategies.add({"own", "", {{"state", "kept", ""}}, [](base::Spec& spec, const WorkerSet&) {
                    EXPECT_EQ(spec.word("state", ""), "lost");
                    return std::make_shared<Own>();
                  }});
  const std::vector<Phase> phases = parse_phases(strategies, "switch:from=own,state=lost,to=ps", kLength);
  EXPECT_TRUE(phases[0].traits().outlives_workers);
  EXPECT_TRUE(phases[1].keeps_state) << "state is an option of the strategy before it";
}

}  // namespace
}  // namespace trireme::strategy
