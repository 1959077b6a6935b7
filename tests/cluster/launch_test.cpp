// Jobs of real processes: shell scripts that read their launch info, here and through a program that stands for ssh.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/system/beside_program.h"
#include "base/system/clock.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "support/core_errors.h"
#include "support/process.h"

namespace trireme::cluster {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using support::contains;
using test::Finished;
using test::text_of;

constexpr double kDeadlineSeconds = 60;
constexpr const char* kHint = "; unless somebody did that, the kernel's OOM killer did: see 'Out of memory' in dmesg";

// How messages of this program begin.
const std::string kProgram = base::program_name() + ": ";

template <class... Values>
std::string says(fmt::format_string<Values...> form, Values&&... values) {
  return kProgram + fmt::format(form, std::forward<Values>(values)...);
}

// What every script begins with: its launch info, rank and token.
constexpr const char* kTakeLaunchInfo = R"sh(
read -r launch_info
field() { value=${launch_info#*\"$1\":}; value=${value%%[,\}]*}; value=${value#\"}; echo "${value%\"}"; }
rank=$(field rank)
echo $$ > "$FOLDER/pid$rank"
there() { while ! [ -e "$1" ]; do sleep 0.01; done; }
gone() { while kill -0 $(cat "$1") 2>/dev/null; do sleep 0.01; done; }
)sh";

// Drops options, knows one host not, and gives the command to a shell as sshd does.
constexpr const char* kFakeSsh = R"sh(#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    -i) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
host=$1
shift
if [ "$host" = nowhere ]; then
  echo "ssh: Could not resolve hostname nowhere: Name or service not known" >&2
  exit 255
fi
cd / && exec sh -c "$*"
)sh";

bool wait_until(const std::function<bool()>& holds) {
  const std::int64_t deadline = base::in_seconds(kDeadlineSeconds);
  while (!holds() && base::now_ns() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return holds();
}

std::string self() { return fs::read_symlink("/proc/self/exe").string(); }

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    base::write_text_atomically(folder_ / "ssh", kFakeSsh);
    fs::permissions(folder_ / "ssh", fs::perms::owner_all);
  }

  // A job of so many workers that run a script.
  Json scripts(int world, const std::string& script) const {
    const std::string whole = fmt::format("FOLDER={}\nNAME={}\n{}\n{}", folder_.path().string(), base::program_name(),
                                          kTakeLaunchInfo, script);
    return job(world, {"/bin/sh", "-c", whole});
  }
  Json job(int world, const std::vector<std::string>& command) const {
    Json job{{"world", world},
             {"command", command},
             {"names", Json::array()},
             {"ssh", (folder_ / "ssh").string() + " -i  key"}};
    for (int rank = 0; rank < world; ++rank) job["names"].push_back(fmt::format("worker {}", rank));
    return job;
  }
  static std::vector<std::string> launcher(const Json& job) { return {self(), "launch", job.dump()}; }
  static Finished run(const Json& job) {
    Finished finished = test::run_process(launcher(job), {}, kDeadlineSeconds);
    EXPECT_FALSE(finished.timed_out);
    return finished;
  }
  pid_t process(int rank) const {
    const std::string text = text_of(folder_ / ("pid" + std::to_string(rank)));
    return text.empty() ? 0 : std::stoi(text);
  }
  bool has(const std::string& file) const { return fs::exists(folder_ / file); }
  // Ended, whether somebody has looked at it or not.
  static bool is_gone(pid_t process) {
    const std::string status = text_of(fmt::format("/proc/{}/stat", process));
    return status.empty() || contains(status, ") Z ");
  }
  bool are_gone(int world) const {
    for (int rank = 0; rank < world; ++rank)
      if (!is_gone(process(rank))) return false;
    return true;
  }

  test::TemporaryFolder folder_;
};

// Ranks on other hosts may have no run folder that would tell them.
TEST_F(Launch, EveryRankIsToldHowToJoin) {
  Json job = scripts(2, "echo \"$(field transport) $(field tls)\" > $FOLDER/how$rank");
  job["transport"] = "tcp";
  job["tls"] = true;
  EXPECT_EQ(run(job).exit_code, 0);
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(text_of(folder_ / fmt::format("how{}", rank)), "tcp true\n");
}

TEST_F(Launch, EveryRankGetsItsLaunchInfo) {
  const Finished finished = run(scripts(4, R"sh(
    echo "$(field world) $(field meeting) $(field token) $(field launcher)" > $FOLDER/info$rank
    echo "out of $rank"; echo "error of $rank" >&2)sh"));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "out of 0\n");
  const std::string launch_info = text_of(folder_ / "info0");
  const std::vector<std::string> fields = base::split(launch_info.substr(0, launch_info.find('\n')), ' ');
  ASSERT_EQ(fields.size(), 4U) << launch_info;
  EXPECT_EQ(fields[0], "4");
  EXPECT_TRUE(fields[1].starts_with("127.0.0.1:"));
  EXPECT_EQ(fields[2].size(), 64U);
  EXPECT_EQ(fields[3], "local");
  EXPECT_TRUE(contains(finished.err, "error of 0\n"));
  for (int rank = 1; rank < 4; ++rank) {
    EXPECT_EQ(text_of(folder_ / fmt::format("info{}", rank)), launch_info);
    EXPECT_TRUE(contains(finished.err, fmt::format("[worker {0}] out of {0}\n", rank))) << finished.err;
    EXPECT_TRUE(contains(finished.err, fmt::format("[worker {0}] error of {0}\n", rank))) << finished.err;
  }
}

TEST_F(Launch, LinesOfManyStayWhole) {
  const Finished finished = run(scripts(4, R"sh(
    i=0; while [ $i -lt 500 ]; do printf "a $rank "; printf "line $i\n"; echo "b $rank line $i" >&2; i=$((i+1)); done
    printf "no end of line")sh"));
  EXPECT_EQ(finished.exit_code, 0);
  std::map<std::string, int> counts;
  for (const std::string& line : base::split(finished.err, '\n')) ++counts[line];
  for (int rank = 1; rank < 4; ++rank) {
    for (int i = 0; i < 500; ++i)
      for (const char* stream : {"a", "b"})
        EXPECT_EQ(counts[fmt::format("[worker {}] {} {} line {}", rank, stream, rank, i)], 1);
    EXPECT_EQ(counts[fmt::format("[worker {}] no end of line", rank)], 1);
  }
}

TEST_F(Launch, TheExitCodeIsRankZeros) {
  EXPECT_EQ(run(scripts(3, "[ $rank = 0 ] && exit 7; exit 0")).exit_code, 7);
  EXPECT_EQ(run(scripts(1, "exit 1")).exit_code, 1);
  const Finished killed = run(scripts(2, "[ $rank = 0 ] && kill -9 $$; exit 0"));
  EXPECT_EQ(killed.exit_code, 1);
  EXPECT_EQ(killed.err, says("worker 0 (process {}) was killed by signal 9 (SIGKILL){}\n", process(0), kHint));
}

// Survivors say something because of it, and end; the cause is what is told.
TEST_F(Launch, AKilledProcessIsNamed) {
  const Finished finished = run(scripts(3, R"sh(
    [ $rank = 2 ] && kill -9 $$
    there $FOLDER/pid2; gone $FOLDER/pid2
    echo "rank 2 is gone" >&2; exit 1)sh"));
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.err, fmt::format("rank 2 is gone\n"
                                      "{}worker 2 (process {}) was killed by signal 9 (SIGKILL){}\n",
                                      kProgram, process(2), kHint));
}

// One that crashes because of it is not hidden behind it.
TEST_F(Launch, ACrashOfASurvivorIsNamedToo) {
  const Finished finished = run(scripts(3, R"sh(
    [ $rank = 2 ] && kill -9 $$
    there $FOLDER/pid2; gone $FOLDER/pid2
    [ $rank = 1 ] && kill -ABRT $$
    there $FOLDER/pid1; gone $FOLDER/pid1; exit 1)sh"));
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.err, says("worker 2 (process {}) was killed by signal 9 (SIGKILL){}\n"
                               "warning: worker 1 (process {}) was killed by signal 6 (SIGABRT)\n",
                               process(2), kHint, process(1)));
}

// It ends a moment after those who saw it leave.
TEST_F(Launch, TheOneThatFailedIsNamedNotThoseThatSawIt) {
  const Finished finished = run(scripts(3, R"sh(
    if [ $rank = 2 ]; then echo "$NAME: my own fault" >&2; touch $FOLDER/left; there $FOLDER/pid1; gone $FOLDER/pid1; exit 1; fi
    there $FOLDER/left; echo "$NAME: rank $rank, barrier 3: rank 2 has left the group" >&2; exit 1)sh"));
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(
      contains(finished.err, fmt::format("worker 2 (process {}) ended with exit code 1: my own fault\n", process(2))))
      << finished.err;
}

TEST_F(Launch, AJobMaySucceedWithoutAProcess) {
  const Finished finished = run(scripts(3, R"sh(
    if [ $rank = 1 ]; then echo "some trouble" >&2; echo "$NAME: my own fault" >&2; exit 1; fi
    there $FOLDER/pid1; gone $FOLDER/pid1; exit 0)sh"));
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, fmt::format("[worker 1] some trouble\n"
                                      "warning: worker 1 (process {}) ended with exit code 1: my own fault\n",
                                      process(1)));
}

// While it goes on, or at its end: told once. One that fails later names the cause at its end, too.
TEST_F(Launch, AJobThatGoesOnTellsWhomItLost) {
  for (const int code : {0, 3}) {
    const Finished finished = run(scripts(2, fmt::format("[ $rank = 1 ] && kill -9 $$; sleep 2.6; exit {}", code)));
    EXPECT_EQ(finished.exit_code, code);
    const std::string loss =
        fmt::format("worker 1 (process {}) was killed by signal 9 (SIGKILL){}\n", process(1), kHint);
    if (code == 0)
      EXPECT_EQ(finished.err, "warning: " + loss);
    else
      EXPECT_TRUE(finished.err.ends_with(kProgram + loss)) << finished.err;
  }
}

TEST_F(Launch, OneThatIsStartedWronglyEndsTheJob) {
  const Finished finished = run(scripts(3, R"sh(
    if [ $rank = 2 ]; then echo "$NAME: there is no option --ors" >&2; exit 2; fi
    exec sleep 1000)sh"));
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err, says("worker 2 (process {}) ended with exit code 2: there is no option --ors\n", process(2)));
  EXPECT_TRUE(are_gone(3));
}

TEST_F(Launch, AMistakeOfAllIsToldOnce) {
  const Finished finished = run(job(3, {"/no/such/program"}));
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(contains(finished.err, kProgram + "cannot start '/no/such/program': No such file or directory\n"));
  EXPECT_FALSE(contains(finished.err, kProgram + "worker")) << finished.err;
}

TEST_F(Launch, AnUnknownHostIsNamed) {
  Json job = scripts(3, "exec sleep 1000");
  job["hosts"] = {"localhost", "somewhere", "nowhere"};
  const Finished finished = run(job);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(
      finished.err,
      kProgram + "worker 2 on host nowhere: ssh: Could not resolve hostname nowhere: Name or service not known\n");
  job["hosts"] = {"nowhere", "", ""};
  const Finished first = run(job);
  EXPECT_EQ(first.exit_code, 2);
  EXPECT_TRUE(contains(first.err, "worker 0 on host nowhere could not be started")) << first.err;
}

TEST_F(Launch, AMissingProgramOrFolderThereIsNamed) {
  for (const bool misses_folder : {false, true}) {
    Json job = scripts(2, "exec sleep 1000");
    job["hosts"] = {"", "somewhere"};
    job["directory"] = misses_folder ? "/no/such/folder" : "/";
    if (!misses_folder) {
      job["command"] = {"/bin/sh", "-c",
                        "read info; case $info in *'\"rank\":0'*) exec sleep 1000;; esac; exec /no/such"};
    }
    const Finished finished = run(job);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_TRUE(contains(finished.err, kProgram + "worker 1 on host somewhere: ")) << finished.err;
    EXPECT_TRUE(contains(finished.err, misses_folder ? "/no/such/folder" : "/no/such: not found")) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

// On another host too: a shell there saw it.
TEST_F(Launch, AProcessThatIsKilledElsewhereIsNamed) {
  Json job = scripts(2, R"sh(
    [ $rank = 1 ] && kill -9 $$
    there $FOLDER/pid1; gone $FOLDER/pid1; echo "rank 1 is gone" >&2; exit 1)sh");
  job["hosts"] = {"", "somewhere"};
  const Finished finished = run(job);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(
      contains(finished.err, says("worker 1 on host somewhere was killed by signal 9 (SIGKILL){} there\n", kHint)))
      << finished.err;
}

TEST_F(Launch, WordsReachOtherHostsUnchanged) {
  const std::vector<std::string> words{
      "plain",       "",  "two words", "it's", "$HOME `id` $(id)", "a\"b", "back\\slash", "*", "line\nend", "!x", "~",
      "a;b&c|d<e>f", "#", "'",         "''"};
  Json job =
      scripts(2, R"sh(for word in "$@"; do printf '%s|' "$word"; done > $FOLDER/words$rank; pwd > $FOLDER/at$rank)sh");
  job["command"].push_back("sh");
  for (const std::string& word : words) job["command"].push_back(word);
  job["hosts"] = {"", "somewhere"};
  fs::create_directory(folder_ / "a folder's");
  job["directory"] = (folder_ / "a folder's").string();
  const Finished finished = run(job);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(text_of(folder_ / "words1"), base::join(words, "|") + "|");
  EXPECT_EQ(text_of(folder_ / "words0"), text_of(folder_ / "words1"));
  EXPECT_EQ(text_of(folder_ / "at1"), (folder_ / "a folder's").string() + "\n");
}

TEST_F(Launch, ASignalReachesRankZeroAlone) {
  for (const auto& [signal, word] : {std::pair{SIGINT, "interrupt"}, {SIGTERM, "interrupt"}, {SIGHUP, "hangup"}}) {
    test::Process job(launcher(scripts(3, R"sh(
      if [ $rank = 0 ]; then
        echo > $FOLDER/ready; read -r word; echo "heard $word"; echo > $FOLDER/done; exit 5
      fi
      there $FOLDER/done)sh")));
    EXPECT_TRUE(wait_until([&] { return has("ready"); }));
    job.kill(signal);
    const Finished finished = job.wait(kDeadlineSeconds);
    EXPECT_EQ(finished.exit_code, 5) << finished.err;
    EXPECT_EQ(finished.out, fmt::format("heard {}\n", word));
    EXPECT_EQ(finished.err, "");
    for (const char* file : {"ready", "done"}) fs::remove(folder_ / file);
  }
}

TEST_F(Launch, ASecondSignalKillsAll) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Json description = scripts(3, R"sh(
      trap '' TERM INT HUP
      if [ $rank = 0 ]; then echo > $FOLDER/ready; read -r word; echo > $FOLDER/heard; fi
      exec sleep 1000)sh");
    test::Process job(launcher(description));
    EXPECT_TRUE(wait_until([&] { return has("ready") && process(1) != 0 && process(2) != 0; }));
    job.kill(SIGTERM);
    EXPECT_TRUE(wait_until([&] { return has("heard"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // two in a burst are one
    job.kill(signal);
    EXPECT_EQ(job.wait(kDeadlineSeconds).exit_code, 128 + signal);
    EXPECT_TRUE(are_gone(3));
    for (const char* file : {"ready", "heard", "pid0", "pid1", "pid2"}) fs::remove(folder_ / file);
  }
}

TEST_F(Launch, NoneOutlivesItsLauncher) {
  Json description = scripts(3, "[ $rank = 2 ] && exec cat; exec sleep 1000");
  description["hosts"] = {"", "", "somewhere"};  // that one sees its standard input end
  test::Process job(launcher(description));
  EXPECT_TRUE(wait_until([&] { return process(0) != 0 && process(1) != 0 && process(2) != 0; }));
  job.kill(SIGKILL);
  EXPECT_EQ(job.wait(kDeadlineSeconds).exit_code, 128 + SIGKILL);
  EXPECT_TRUE(wait_until([&] { return are_gone(3); }));
}

TEST_F(Launch, StragglersAreEnded) {
  Json job = scripts(3, R"sh(
    [ $rank = 0 ] && there $FOLDER/pid1 && there $FOLDER/pid2 && exit 0
    [ $rank = 1 ] && trap '' TERM
    while :; do sleep 0.01; done)sh");
  job["ending_seconds"] = 0.2;
  const Finished finished = run(job);
  EXPECT_EQ(finished.exit_code, 0);
  for (int rank = 1; rank < 3; ++rank)
    EXPECT_TRUE(contains(
        finished.err, fmt::format("warning: worker {} did not end within 0.2 s after worker 0 and was ended\n", rank)))
        << finished.err;
  EXPECT_TRUE(are_gone(3));
}

// Nobody can go on without rank 0, and some may not even have found it yet.
TEST_F(Launch, NobodyStaysLongWhenRankZeroFails) {
  for (const char* failure : {"kill -9 $$", "exit 1"}) {
    const std::int64_t start = base::now_ns();
    const Finished finished =
        run(scripts(3, fmt::format("[ $rank = 0 ] && there $FOLDER/pid1 && there $FOLDER/pid2 && {}\n"
                                   "while :; do sleep 0.01; done",
                                   failure)));
    EXPECT_LT(base::seconds_since(start), 8);
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_FALSE(contains(finished.err, "did not end")) << finished.err;
    EXPECT_TRUE(are_gone(3));
    for (const char* file : {"pid0", "pid1", "pid2"}) fs::remove(folder_ / file);
  }
}

// A stopped process does not react to SIGTERM.
TEST_F(Launch, AStoppedStragglerIsEnded) {
  Json job = scripts(2, R"sh(
    [ $rank = 1 ] && kill -STOP $$
    there $FOLDER/pid1; until grep -q ') T ' /proc/$(cat $FOLDER/pid1)/stat; do sleep 0.01; done; exit 0)sh");
  const std::int64_t start = base::now_ns();
  EXPECT_EQ(run(job).exit_code, 0);
  EXPECT_LT(base::seconds_since(start), 8);
  EXPECT_TRUE(are_gone(2));
}

TEST_F(Launch, TheTokenIsInNoCommandLine) {
  Json description =
      scripts(2, R"sh(field token > $FOLDER/token$rank; echo > $FOLDER/ready$rank; read -r word; exit 0)sh");
  description["hosts"] = {"", "somewhere"};
  test::Process job(launcher(description));
  EXPECT_TRUE(wait_until([&] { return has("ready0") && has("ready1"); }));
  const std::string line = text_of(folder_ / "token1"), token = line.substr(0, line.find('\n'));
  EXPECT_EQ(token.size(), 64U);
  int processes = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string command = text_of(entry.path() / "cmdline"), variables = text_of(entry.path() / "environ");
    processes += contains(command, folder_.path().string()) ? 1 : 0;
    EXPECT_FALSE(contains(command, token)) << entry.path();
    EXPECT_FALSE(contains(variables, token)) << entry.path();
  }
  EXPECT_GE(processes, 3);  // the launcher and its two at least
  job.kill(SIGTERM);
  job.kill(SIGKILL);
}

// Groups of our own.
class LaunchedGroup : public Launch, public testing::WithParamInterface<bool> {
 protected:
  Json ranks(int world, const std::string& part) const {
    Json made = job(world, {self(), "rank", part});
    if (GetParam()) made["command"].push_back("tls");
    made["tls"] = GetParam();
    return made;
  }
};

TEST_P(LaunchedGroup, Meets) {
  Json here = ranks(3, "sum"), elsewhere = ranks(3, "sum"), first_elsewhere = ranks(2, "sum");
  elsewhere["hosts"] = {"", "127.0.0.1", "localhost"};
  first_elsewhere["hosts"] = {"127.0.0.1", ""};
  const Finished finished = run(here);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "3 ranks met by local\n");
  EXPECT_EQ(run(elsewhere).out, "3 ranks met by ssh\n");
  EXPECT_EQ(run(first_elsewhere).out, "2 ranks met by ssh\n");
}

// The group waits for the launcher's word.
TEST_P(LaunchedGroup, HearsHowAProcessEnded) {
  const Finished finished = run(ranks(3, "die"));
  EXPECT_EQ(finished.exit_code, 1);
  const std::vector<std::string> lines = base::split(finished.err, '\n');
  ASSERT_GE(lines.size(), 2U) << finished.err;
  EXPECT_TRUE(contains(lines[0], "rank 2 (process ")) << finished.err;
  EXPECT_TRUE(contains(lines[0], ") was killed by signal 9 (SIGKILL)")) << finished.err;
  EXPECT_TRUE(lines[1].starts_with(kProgram + "worker 2 (process ")) << finished.err;
}

// The others notice it and end; the launcher ends the one that cannot react, and blames it alone.
TEST_P(LaunchedGroup, EndsWhenRankZeroIsStopped) {
  const Finished finished = run(ranks(3, "freeze"));
  EXPECT_EQ(finished.exit_code, 1);
  const std::vector<std::string> lines = base::split(finished.err, '\n');
  ASSERT_EQ(lines.size(), 2U) << finished.err;
  EXPECT_TRUE(lines[0].starts_with(kProgram + "worker 0 (process ")) << finished.err;
  EXPECT_TRUE(contains(lines[0], "it was stopped")) << finished.err;
}

TEST_P(LaunchedGroup, EndsInGoodOrder) {
  test::Process job(launcher(ranks(3, "wait")));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  job.kill(SIGINT);
  const Finished finished = job.wait(kDeadlineSeconds);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
}

INSTANTIATE_TEST_SUITE_P(Over, LaunchedGroup, testing::Bool(),
                         [](const auto& one) { return one.param ? "tls" : "plain"; });

}  // namespace
}  // namespace trireme::cluster
