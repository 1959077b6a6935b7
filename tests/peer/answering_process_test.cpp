// A child that answers, dies, hangs, or never was.
#include "peer/answering_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/error.h"
#include "support/core_errors.h"

namespace trireme::peer {
namespace {

using support::contains;

constexpr double kLong = 60;

AnsweringProcess shell(const std::string& script) { return AnsweringProcess("the peer", {"sh", "-c", script}); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::run);
    return error.what();
  }
  return "";
}

// Gone, or about to be: a killed process may take a moment.
bool ends(pid_t process) {
  for (int i = 0; i < 5000; ++i) {
    if (::kill(process, 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

TEST(AnsweringProcess, AnswersLineByLine) {
  AnsweringProcess child = shell("while read -r line; do echo \"<$line>\"; done");
  EXPECT_EQ(child.ask("one", kLong), "<one>");
  EXPECT_EQ(child.ask("", kLong), "<>");
  EXPECT_EQ(child.ask("two words", kLong), "<two words>");
  EXPECT_EQ(child.finish(kLong), 0);
}

TEST(AnsweringProcess, MayAnswerMoreThanAPipeHolds) {
  AnsweringProcess child = shell("read line; head -c 1000000 /dev/zero | tr '\\0' x; echo");
  EXPECT_EQ(child.ask("go", kLong), std::string(1'000'000, 'x'));
}

TEST(AnsweringProcess, MayComplainMoreThanAPipeHolds) {
  AnsweringProcess child =
      shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the end >&2; read line; echo done");
  EXPECT_EQ(child.ask("go", kLong), "done");
  EXPECT_TRUE(child.last_words().ends_with("the end"));
}

TEST(AnsweringProcess, ThatDiesSaysWhy) {
  AnsweringProcess child = shell("read line; echo a first line >&2; echo no such network >&2; exit 3");
  const std::string error = error_of([&] { child.ask("go", kLong); });
  EXPECT_TRUE(contains(error, "the peer ended before it answered")) << error;
  EXPECT_TRUE(contains(error, "no such network")) << error;
  // Asked again it is still dead.
  EXPECT_TRUE(contains(error_of([&] { child.ask("again", kLong); }), "ended")) << error;
}

TEST(AnsweringProcess, ThatHangsIsKilledAtTheDeadline) {
  AnsweringProcess child = shell("echo $$; read line; read line; echo thinking >&2; sleep 1000");
  const auto process = static_cast<pid_t>(std::stol(child.ask("who", kLong)));
  const std::string error = error_of([&] { child.ask("go", 0.2); });
  EXPECT_TRUE(contains(error, "did not answer within")) << error;
  EXPECT_TRUE(ends(process));
}

TEST(AnsweringProcess, IsKilledWithItsObject) {
  pid_t process = 0;
  {
    AnsweringProcess child = shell("read line; echo $$; sleep 1000");
    process = static_cast<pid_t>(std::stol(child.ask("who", kLong)));
    EXPECT_EQ(::kill(process, 0), 0);
  }
  EXPECT_TRUE(ends(process));
}

TEST(AnsweringProcess, DoesNotOutliveAKilledParent) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    AnsweringProcess child("the peer", {"sh", "-c", "read line; echo $$; exec sleep 1000"});
    const auto process = static_cast<pid_t>(std::stol(child.ask("who", kLong)));
    if (::write(pipe[1], &process, sizeof process) != sizeof process) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t process = 0;
  ASSERT_EQ(::read(pipe[0], &process, sizeof process), static_cast<ssize_t>(sizeof process));
  EXPECT_TRUE(ends(process));
}

TEST(AnsweringProcess, ThatIsNoProgramCannotBeStarted) {
  AnsweringProcess child("the peer", {"/no/such/program"});
  const std::string error = error_of([&] { child.ask("go", kLong); });
  EXPECT_TRUE(contains(error, "the peer could not be started")) << error;
}

TEST(AnsweringProcess, FinishGivesExitCodeAndOutput) {
  AnsweringProcess child = shell("cat; echo bye; exit 5");
  EXPECT_EQ(child.finish(kLong), 5);
  EXPECT_EQ(child.output(), "bye\n");
  EXPECT_EQ(shell("kill -9 $$").finish(kLong), 128 + SIGKILL);
  EXPECT_EQ(shell("sleep 1000").finish(0.1), -1);
}

}  // namespace
}  // namespace trireme::peer
