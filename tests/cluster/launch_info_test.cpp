// Launch info from the environments of every launcher, and the control pipe.
#include "cluster/launch_info.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "base/process/pipe.h"
#include "cluster/launcher/control_pipe.h"
#include "cluster/slurm.h"
#include "support/core_errors.h"
#include "support/temporary_folder.h"

namespace trireme::cluster {
namespace {

using support::contains;
using support::sentence;
using Variables = std::map<std::string, std::string>;

std::optional<LaunchInfo> launch_info_in(const Variables& variables, int input = -1) {
  return take_launch_info(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
      },
      input);
}

void write_to(const base::Pipe& pipe, const std::string& text) {
  ASSERT_EQ(::write(pipe.write.number(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

LaunchInfo launch_info_of(int rank, int world, const std::string& host) {
  LaunchInfo launch_info;
  launch_info.rank = rank;
  launch_info.world = world;
  launch_info.rendezvous.host = host;
  launch_info.rendezvous.port = 4000;
  launch_info.token = "secret";
  launch_info.launcher = "local";
  launch_info.transport = "tcp";
  launch_info.tls = true;
  return launch_info;
}

// A home folder for all tests.
std::string home() {
  static const test::TemporaryFolder folder;
  return folder.path().string();
}

Variables task(int rank) {
  return {{"HOME", home()},       {"SLURM_JOB_ID", "4242"},
          {"SLURM_STEP_ID", "1"}, {"SLURM_PROCID", std::to_string(rank)},
          {"SLURM_NTASKS", "3"},  {"SLURM_STEP_NODELIST", "node[3-5,7],b1"}};
}

TEST(LaunchInfo, NobodyGaveOne) { EXPECT_FALSE(launch_info_in({}).has_value()); }

TEST(LaunchInfo, ComesBackFromItsLine) {
  for (const std::string host : {"10.0.0.1", "", "fe80::1", "a.b"}) {
    const LaunchInfo launch_info = launch_info_from_line(to_line(launch_info_of(2, 5, host)));
    EXPECT_EQ(launch_info.rank, 2);
    EXPECT_EQ(launch_info.world, 5);
    EXPECT_EQ(launch_info.rendezvous.host, host);
    EXPECT_EQ(launch_info.rendezvous.port, 4000);
    EXPECT_EQ(launch_info.token, "secret");
    EXPECT_EQ(launch_info.launcher, "local");
    EXPECT_EQ(launch_info.transport, "tcp");
    EXPECT_TRUE(launch_info.tls);
    EXPECT_TRUE(launch_info.has_control_pipe);
  }
}

TEST(LaunchInfo, OurLauncherWinsAndTheRestOfTheInputStays) {
  const base::Pipe pipe = base::make_pipe();
  write_to(pipe, to_line(launch_info_of(1, 2, "127.0.0.1")) + "\ninterrupt\n");
  Variables variables = task(0);
  variables["TRIREME_LAUNCH_INFO"] = "stdin";
  variables["OMPI_COMM_WORLD_RANK"] = "5";
  variables["OMPI_COMM_WORLD_SIZE"] = "6";
  const auto launch_info = launch_info_in(variables, pipe.read.number());
  ASSERT_TRUE(launch_info.has_value());
  EXPECT_EQ(launch_info->launcher, "local");
  EXPECT_EQ(launch_info->rank, 1);
  std::string rest(100, '\0');
  const ssize_t count = ::read(pipe.read.number(), rest.data(), rest.size());
  EXPECT_EQ(rest.substr(0, static_cast<std::size_t>(count)), "interrupt\n");
}

TEST(LaunchInfo, WrongOnesAreUserErrors) {
  const auto error = [](const std::string& variable, const std::string& line) {
    return sentence(base::ErrorKind::user, [&] {
      base::Pipe pipe = base::make_pipe();
      write_to(pipe, line);
      pipe.write.close();
      launch_info_in({{"TRIREME_LAUNCH_INFO", variable}}, pipe.read.number());
    });
  };
  EXPECT_TRUE(contains(error("file", ""), "TRIREME_LAUNCH_INFO is 'file'"));
  EXPECT_TRUE(contains(error("stdin", ""), "no launch information came on standard input"));
  EXPECT_TRUE(contains(error("stdin", "{\"rank\":0"), "no launch information came"));
  EXPECT_TRUE(contains(error("stdin", "hello\n"), "the first line on standard input is no launch information"));
  EXPECT_TRUE(contains(error("stdin", std::string(10000, 'x')), "no launch information came"));
  const std::string secret = error("stdin", "{\"token\":\"secret\",\"rank\":\"secret\"}\n");
  EXPECT_TRUE(contains(secret, "is no launch information"));
  EXPECT_FALSE(contains(secret, "secret"));
  EXPECT_TRUE(contains(error("stdin", to_line(launch_info_of(3, 3, "a")) + "\n"), "rank 3 in a job of 3"));
}

TEST(LaunchInfo, OfMpirunHasNoAddress) {
  Variables variables{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  const auto check = [&] {
    const auto launch_info = launch_info_in(variables);
    ASSERT_TRUE(launch_info.has_value());
    EXPECT_EQ(launch_info->launcher, "mpi");
    EXPECT_EQ(launch_info->transport, "mpi");
    EXPECT_EQ(launch_info->rank, 1);
    EXPECT_EQ(launch_info->world, 4);
    EXPECT_EQ(launch_info->rendezvous.port, 0);
    EXPECT_FALSE(launch_info->has_control_pipe);
  };
  check();
  variables.merge(task(0));  // of the daemon, which srun started
  check();
  EXPECT_FALSE(launch_info_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}).has_value());
}

TEST(LaunchInfo, OfSlurmMeetsOnTheFirstNode) {
  const auto zero = launch_info_in(task(0)), two = launch_info_in(task(2));
  ASSERT_TRUE(zero && two);
  EXPECT_EQ(two->rank, 2);
  EXPECT_EQ(two->world, 3);
  EXPECT_EQ(two->launcher, "slurm");
  EXPECT_EQ(two->transport, "");  // as the settings of the process say
  EXPECT_EQ(two->rendezvous.host, "node3");
  EXPECT_EQ(zero->rendezvous.host, "");  // all addresses of its own
  EXPECT_EQ(zero->rendezvous.port, two->rendezvous.port);
  EXPECT_EQ(zero->token, two->token);
  EXPECT_EQ(zero->token.size(), 64U);
  EXPECT_FALSE(zero->has_control_pipe);
}

// Other users cannot reach it there.
TEST(LaunchInfo, OfSlurmOnOneNodeMeetsOnItsLoopback) {
  for (const int rank : {0, 1}) {
    Variables variables = task(rank);
    variables["SLURM_STEP_NODELIST"] = "node3";
    EXPECT_EQ(launch_info_in(variables)->rendezvous.host, "127.0.0.1");
  }
}

TEST(LaunchInfo, OfOtherStepsAndUsersIsAnother) {
  const auto launch_info = launch_info_in(task(1));
  Variables other_step = task(1), other_job = task(1), with_token = task(1);
  other_step["SLURM_STEP_ID"] = "2";
  other_job["SLURM_JOB_ID"] = "4243";
  with_token["TRIREME_TOKEN"] = "a real secret";
  for (const Variables& variables : {other_step, other_job}) {
    EXPECT_NE(launch_info_in(variables)->token, launch_info->token);
    EXPECT_NE(launch_info_in(variables)->rendezvous.port, launch_info->rendezvous.port);
  }
  const test::TemporaryFolder other_home;
  Variables other_user = task(1);
  other_user["HOME"] = other_home.path().string();
  EXPECT_NE(launch_info_in(other_user)->token, launch_info->token);  // though all else of it is known to everybody
  EXPECT_EQ(launch_info_in(with_token)->token, "a real secret");
  for (int job = 0; job < 1000; ++job) {
    other_job["SLURM_JOB_ID"] = std::to_string(job);
    const int port = launch_info_in(other_job)->rendezvous.port;
    EXPECT_GE(port, 20000);
    EXPECT_LE(port, 59999);
  }
}

TEST(LaunchInfo, AScriptOfSlurmHasNone) {
  Variables batch = task(0);
  for (const std::string step : {"", "4294967291", "4294967290", "batch"}) {
    batch["SLURM_STEP_ID"] = step;
    EXPECT_FALSE(launch_info_in(batch).has_value()) << step;
  }
  Variables alone = task(0);
  alone["SLURM_NTASKS"] = "1";
  EXPECT_FALSE(launch_info_in(alone).has_value());
  Variables step_of_one = task(0);
  step_of_one["SLURM_STEP_NUM_TASKS"] = "1";
  EXPECT_FALSE(launch_info_in(step_of_one).has_value());
}

TEST(LaunchInfo, NodeListsAreReadToTheFirstName) {
  const std::map<std::string, std::string> lists{{"a", "a"},
                                                 {"a,b", "a"},
                                                 {"node[3-5,7],b1", "node3"},
                                                 {"node[7,3-5]", "node7"},
                                                 {"n[008-010]", "n008"},
                                                 {"rack[1-2]node[03-04]", "rack1node03"},
                                                 {"n[1-2]-ib,c", "n1-ib"},
                                                 {"b-1.cluster,node[1-2]", "b-1.cluster"}};
  for (const auto& [list, first] : lists) EXPECT_EQ(first_node(list), first) << list;
  for (const std::string list : {"", "a[1-2", ",a", "a]", "a[[1]"})
    EXPECT_TRUE(contains(sentence(base::ErrorKind::user, [&] { first_node(list); }), "cannot be read")) << list;
}

// What a control pipe has called so far, and waiting for it.
class Calls {
 public:
  void add(int& count) {
    const std::lock_guard lock(mutex_);
    ++count;
    changed_.notify_all();
  }
  bool wait_for(const int& count, int wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return count == wanted; });
  }
  int interrupts = 0, hangups = 0, ends = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

TEST(ControlPipe, HearsInterruptsAndTheEnd) {
  base::Pipe pipe = base::make_pipe();
  Calls calls;
  const ControlPipe control_pipe(
      {[&] { calls.add(calls.interrupts); }, [&] { calls.add(calls.hangups); }, [&] { calls.add(calls.ends); }},
      pipe.read.number());
  write_to(pipe, "something else\ninter");
  write_to(pipe, "rupt\ninterrupted\n");
  EXPECT_TRUE(calls.wait_for(calls.interrupts, 1));
  write_to(pipe, "interrupt\n");
  EXPECT_TRUE(calls.wait_for(calls.interrupts, 2));
  write_to(pipe, "hangup\n");
  EXPECT_TRUE(calls.wait_for(calls.hangups, 1));
  pipe.write.close();
  EXPECT_TRUE(calls.wait_for(calls.ends, 1));
}

TEST(ControlPipe, EndsWithItsOwner) {
  const base::Pipe pipe = base::make_pipe();
  int ends = 0;
  {
    const ControlPipe control_pipe({[] {}, [] {}, [&] { ++ends; }}, pipe.read.number());
  }
  EXPECT_EQ(ends, 0);
}

}  // namespace
}  // namespace trireme::cluster
