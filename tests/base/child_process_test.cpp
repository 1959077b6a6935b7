// Child processes: how they end, what they say, and that none is left.
#include "base/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/cpu/cores.h"
#include "base/system/beside_program.h"
#include "base/system/clock.h"
#include "support/temporary_folder.h"

namespace trireme::base {
namespace {

std::int64_t soon() { return in_seconds(60); }

ChildCommand script(const std::string& text) { return {.arguments = {"sh", "-c", text}}; }

// The exit code of a script, by the words of shells.
int exit_code_of(const std::string& text) {
  ChildProcess child(script(text));
  EXPECT_TRUE(child.wait(soon()));
  return child.exit_code();
}

// Gone, or a zombie that its new parent has not looked at.
bool ends(pid_t process) {
  for (const std::int64_t deadline = soon(); now_ns() < deadline;) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (!std::getline(file, line) || line.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

pid_t id_in(const std::optional<std::string>& line) { return line ? static_cast<pid_t>(std::stol(*line)) : 0; }

std::vector<std::string> last_lines(ChildProcess& child) {
  std::vector<std::string> lines;
  child.read_last_lines([&](std::string line, bool is_error) { lines.push_back((is_error ? "error " : "") + line); });
  return lines;
}

TEST(ChildProcess, GivesExitCodesAndSignals) {
  for (const int code : {0, 1, 7, 255}) EXPECT_EQ(exit_code_of(fmt::format("exit {}", code)), code);
  for (const int signal : {SIGTERM, SIGKILL, SIGSEGV})
    EXPECT_EQ(exit_code_of(fmt::format("kill -{} $$", signal)), 128 + signal);
}

TEST(ChildProcess, GetsSignals) {
  ChildProcess child(script("echo ready; exec sleep 1000"));
  EXPECT_EQ(child.read_line(soon()), "ready");
  EXPECT_FALSE(child.has_ended());
  child.send_signal(SIGTERM);
  EXPECT_TRUE(child.wait(soon()));
  EXPECT_EQ(child.exit_code(), 128 + SIGTERM);
  EXPECT_FALSE(child.is_alive());
  child.send_signal(SIGTERM);  // nobody is there: no stranger gets it
}

TEST(ChildProcess, IsLookedUpInPath) {
  const test::TemporaryFolder folder;
  {
    std::ofstream(folder / "only-here") << "#!/bin/sh\necho found by $1\n";
    std::filesystem::permissions(folder / "only-here", std::filesystem::perms::owner_all);
  }
  ChildProcess outside(ChildCommand{.arguments = {"only-here", "PATH"}});
  EXPECT_TRUE(outside.wait(soon()));
  EXPECT_EQ(outside.exit_code(), ChildProcess::kCannotStart);
  ChildProcess path(ChildCommand{.arguments = {(folder / "only-here").string(), "its path"}});
  EXPECT_EQ(path.read_line(soon()), "found by its path");
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", (folder.path().string() + ":" + before).c_str(), 1);
  ChildProcess inside(ChildCommand{.arguments = {"only-here", "PATH"}});
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(inside.read_line(soon()), "found by PATH");
}

TEST(ChildProcess, ThatIsNoProgramSaysOneSentence) {
  for (const ChildOutput error : {ChildOutput::pipe, ChildOutput::memory}) {
    ChildProcess child(ChildCommand{.arguments = {"/no/such/program", "argument"}, .error = error});
    EXPECT_TRUE(child.wait(soon()));
    EXPECT_EQ(child.exit_code(), ChildProcess::kCannotStart);
    const std::string sentence = program_name() + ": cannot start '/no/such/program': No such file or directory";
    if (error == ChildOutput::memory)
      EXPECT_EQ(child.error_text(), sentence + "\n");
    else
      EXPECT_EQ(last_lines(child), std::vector<std::string>{"error " + sentence});
  }
}

TEST(ChildProcess, GetsItsEnvironment) {
  ChildCommand command = script("echo \"$OURS|$THEIRS\"");
  ::setenv("OURS", "1", 1);
  ChildProcess ours(command);
  command.environment = {"THEIRS=2"};
  ChildProcess own(command);
  ::unsetenv("OURS");
  EXPECT_EQ(ours.read_line(soon()), "1|");
  EXPECT_EQ(own.read_line(soon()), "|2");
}

TEST(ChildProcess, WaitsEndAtTheDeadline) {
  ChildProcess child(script("exec sleep 1000"));
  const std::int64_t start = now_ns();
  EXPECT_EQ(child.read_line(in_seconds(0.1)), std::nullopt);
  EXPECT_FALSE(child.wait(in_seconds(0.1)));
  EXPECT_FALSE(child.write(std::string(1 << 20, 'x'), in_seconds(0.1)));  // nobody reads it
  EXPECT_GE(seconds_since(start), 0.3);
  EXPECT_LT(seconds_since(start), 30);
  EXPECT_TRUE(child.is_alive());
  child.kill();
  EXPECT_EQ(child.exit_code(), 128 + SIGKILL);
}

TEST(ChildProcess, GrandchildThatHoldsThePipeIsNotWaitedFor) {
  ChildProcess child(script("sleep 1000 & echo $!; exit 3"));
  const pid_t grandchild = id_in(child.read_line(soon()));
  EXPECT_EQ(child.read_line(soon()), std::nullopt);  // the child has ended, the pipe has not
  EXPECT_TRUE(child.wait(soon()));
  EXPECT_EQ(child.exit_code(), 3);
  EXPECT_EQ(::kill(grandchild, 0), 0);
  EXPECT_EQ(last_lines(child), std::vector<std::string>{});
  ::kill(grandchild, SIGKILL);
}

TEST(ChildProcess, IsKilledWithItsObjectAndWhatItStarted) {
  pid_t grandchild = 0, process = 0;
  {
    ChildProcess child(script("sleep 1000 & echo $!; wait"));
    grandchild = id_in(child.read_line(soon()));
    process = child.id();
    EXPECT_EQ(::getsid(process), process);
    EXPECT_EQ(::getsid(grandchild), process);
  }
  EXPECT_TRUE(ends(process));
  EXPECT_TRUE(ends(grandchild));
}

TEST(ChildProcess, DoesNotOutliveAKilledParent) {
  const Pipe pipe = make_pipe();
  const pid_t parent = ::fork();
  if (parent == 0) {
    ChildProcess child(script("echo ready; exec sleep 1000"));
    child.read_line(soon());
    const pid_t process = child.id();
    if (::write(pipe.write.number(), &process, sizeof process) != sizeof process) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t process = 0;
  ASSERT_EQ(::read(pipe.read.number(), &process, sizeof process), static_cast<ssize_t>(sizeof process));
  EXPECT_TRUE(ends(process));
  ::waitpid(parent, nullptr, 0);
}

TEST(ChildProcess, MayBeStopped) {
  ChildProcess child(script("echo ready; exec sleep 1000"));
  EXPECT_EQ(child.read_line(soon()), "ready");
  EXPECT_FALSE(child.is_stopped());
  child.send_signal(SIGSTOP);
  for (const std::int64_t deadline = soon(); !child.is_stopped() && now_ns() < deadline;)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(child.is_stopped());
  EXPECT_FALSE(child.has_ended());
  child.kill();
  EXPECT_FALSE(child.is_stopped());
  EXPECT_EQ(child.exit_code(), 128 + SIGKILL);
}

// On both pipes at once, and as much through its input.
TEST(ChildProcess, TenMegabytesGoThroughEveryPipe) {
  constexpr std::size_t kBytes = 10'000'000;
  ChildProcess talks(script("head -c 10000000 /dev/zero & head -c 10000000 /dev/zero >&2; wait"));
  EXPECT_TRUE(talks.wait(soon()));
  EXPECT_EQ(talks.output().size(), kBytes);
  ChildCommand command = script("head -c 10000000 /dev/zero >&2; echo done");
  command.error = ChildOutput::memory;
  ChildProcess complains(command);
  EXPECT_EQ(complains.read_line(soon()), "done");
  EXPECT_EQ(complains.error_text().size(), kBytes);
  ChildProcess echoes(script("exec cat"));
  EXPECT_TRUE(echoes.write(std::string(kBytes, 'x') + "\n", soon()));
  EXPECT_EQ(echoes.read_line(soon()), std::string(kBytes, 'x'));
  echoes.close_input();
  EXPECT_TRUE(echoes.wait(soon()));
  EXPECT_EQ(echoes.exit_code(), 0);
}

TEST(ChildProcess, LinesComeWholeAndLongOnesCut) {
  ChildProcess child(
      script("read -r line; printf 'one\\r\\n\\ntwo'; head -c 70000 /dev/zero | tr '\\0' x; echo; "
             "echo wrong >&2; printf 'no end'"));
  std::vector<std::string> lines;
  child.read_lines([&](std::string line, bool) { lines.push_back(std::move(line)); });
  EXPECT_TRUE(lines.empty());
  EXPECT_TRUE(child.write("go\n"));
  EXPECT_TRUE(child.wait(soon()));
  const std::vector<std::string> expected{
      "one", "", "two" + std::string(65'533, 'x'), std::string(4'467, 'x'), "error wrong", "no end"};
  EXPECT_EQ(last_lines(child), expected);
}

TEST(ChildProcess, WritingToOneThatIsGoneIsNoSignal) {
  ChildProcess child(script("exec <&-; echo closed; read -r line; exec sleep 1000"));
  EXPECT_EQ(child.read_line(soon()), "closed");
  EXPECT_FALSE(child.write("is anybody there?\n", soon()));
  ChildProcess ended(script("exit 0"));
  EXPECT_TRUE(ended.wait(soon()));
  EXPECT_FALSE(ended.write("and there?\n", soon()));
}

TEST(ChildProcess, HasNoDescriptorOfOurs) {
  ChildProcess other(script("exec sleep 1000"));
  const test::TemporaryFolder folder;
  std::set<std::string> open{"0", "1", "2"};  // and what this process itself got without close-on-exec
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int flags = ::fcntl(std::stoi(entry.path().filename()), F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) open.insert(entry.path().filename());
  }
  for (const ChildOutput error : {ChildOutput::pipe, ChildOutput::memory}) {
    // The shell opens nothing: it lists by a pattern, and only what is still there.
    ChildCommand command = script("cd /proc/self/fd; for i in *; do [ -e /proc/$$/fd/$i ] && echo $i; done");
    command.error = error;
    ChildProcess child(command);
    while (const auto line = child.read_line(soon())) EXPECT_TRUE(open.contains(*line)) << *line;
  }
}

TEST(ChildProcess, RunsWhereItIsTold) {
  const std::vector<int> cpus = plan_cores().cpus;
  ASSERT_TRUE(pin_this_thread(cpus.front()));
  const auto allowed = [](const std::vector<int>& where) {
    // nproc would count the threads of OpenMP instead, where somebody set them.
    ChildProcess child(ChildCommand{.arguments = {"env", "-u", "OMP_NUM_THREADS", "nproc"}, .cpus = where});
    return child.read_line(soon()).value_or("");
  };
  EXPECT_EQ(allowed({}), "1");
  EXPECT_EQ(allowed(cpus), std::to_string(cpus.size()));
  unpin_this_thread(cpus);
}

}  // namespace
}  // namespace trireme::base
