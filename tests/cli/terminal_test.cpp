// A run outlives its terminal and whoever reads its output; other verbs end with a sentence or quietly.
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class Terminal : public Program {
 protected:
  // A shell command; TRIREME stands for the program in folder().
  Outcome shell(std::string line, const Words& arguments) const {
    std::string words;
    for (const std::string& word : command(arguments)) words += "'" + word + "' ";
    const std::string mark = "TRIREME";
    line.replace(line.find(mark), mark.size(), words);
    const test::Finished finished = test::run_process({"sh", "-c", line}, {}, 600);
    EXPECT_FALSE(finished.timed_out) << line;
    return {finished.exit_code, finished.out, finished.err};
  }
  std::vector<std::string> causes_of_detachment(const std::string& run) const {
    std::vector<std::string> causes;
    for (const std::string& line : lines_of(read(folder() / run / "metrics.jsonl"))) {
      const Json json = Json::parse(line, nullptr, false);
      EXPECT_TRUE(json.is_object()) << "a line that is no record: " << line;
      if (json.is_object() && json["type"] == "detached") causes.push_back(json["cause"]);
    }
    return causes;
  }
  void expect_finished(const std::string& run) const {
    const Json summary = Json::parse(read(folder() / run / "summary.json"), nullptr, false);
    ASSERT_TRUE(summary.is_object()) << "the run " << run << " did not finish";
    EXPECT_EQ(summary["steps"], 8);
    EXPECT_TRUE(Json::parse(read(folder() / run / "run.json"), nullptr, false).is_object());
  }
  Words run_of(const std::string& run, const Words& more) const {
    return Words{"train"} + kSmall + Words{"--epochs", "2", "--oars", "3", "--threads", "1", "--run", run} + more;
  }
};

TEST_F(Terminal, ARunDoesNotNeedItsOutput) {
  int number = 0;
  for (const Words& workers : {Words{}, Words{"--workers", "3"}})
    for (const char* line : {"{ sleep 0.2; TRIREME; echo $? > code; } | true", "{ TRIREME; echo $? > code; } | head -1",
                             "TRIREME >&-; echo $? > code", "TRIREME 2>&-; echo $? > code",
                             "TRIREME <&- >&- 2>&-; echo $? > code", "TRIREME > /dev/full; echo $? > code"}) {
      SCOPED_TRACE(line);
      const std::string run = "r" + std::to_string(++number);
      shell("cd '" + folder().string() + "' && " + line, run_of(run, workers));
      EXPECT_EQ(read(folder() / "code"), "0\n");
      expect_finished(run);
      const bool is_lost = std::string(line).find("| true") != std::string::npos ||
                           std::string(line).find(" >&-") != std::string::npos ||
                           std::string(line).find("full") != std::string::npos;
      const std::vector<std::string> causes = causes_of_detachment(run);
      if (is_lost) {
        ASSERT_EQ(causes.size(), 1u);
        EXPECT_NE(causes[0].find("standard output"), std::string::npos) << causes[0];
      }
    }
}

TEST_F(Terminal, ASummaryThatNobodyReceivesIsAFailureOfAFinishedRun) {
  const Outcome outcome = shell("TRIREME >&-", run_of("r", {"--json", "--quiet"}));
  expect_sentence(outcome, 1, {"standard output", "r/summary.json"});
  expect_finished("r");
}

TEST_F(Terminal, AClosedTerminalDoesNotEndARun) {
  const Words options{"--train-samples", "640", "--epochs", "20", "--oars", "3", "--threads", "1"};
  const Json whole = trained(kSmall + options + Words{"--run", "whole"});
  for (const Words& workers : {Words{}, Words{"--workers", "3"}}) {
    const std::string run = workers.empty() ? "alone" : "several";
    const Words words = command(Words{"train"} + kSmall + options + workers + Words{"--run", run});
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::vector<char*> argv;
      for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    ::fcntl(terminal, F_SETFL, O_NONBLOCK);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    std::array<char, 4096> shown;
    while (read(folder() / run / "metrics.jsonl").empty() && std::chrono::steady_clock::now() < deadline) {
      while (::read(terminal, shown.data(), shown.size()) > 0) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ::close(terminal);  // the kernel sends SIGHUP; writing to the terminal fails from now on
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << run << ": status " << status;
    const Json summary = Json::parse(read(folder() / run / "summary.json"), nullptr, false);
    ASSERT_TRUE(summary.is_object()) << run << " did not finish";
    EXPECT_EQ(summary["weights_sha256"], whole["weights_sha256"]);
    const std::vector<std::string> causes = causes_of_detachment(run);
    ASSERT_EQ(causes.size(), 1u);
    EXPECT_TRUE(causes[0] == "SIGHUP" || causes[0].find("standard output") != std::string::npos) << causes[0];
  }
}

TEST_F(Terminal, ASecondHangupChangesNothing) {
  test::Process process(command(run_of("r", {"--train-samples", "6400", "--epochs", "2"})));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (read(folder() / "r/metrics.jsonl").empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 2; ++i) {
    process.kill(SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(process.wait(300).exit_code, 0);
  EXPECT_EQ(causes_of_detachment("r"), Words{"SIGHUP"});
}

TEST_F(Terminal, OtherVerbsSayThatTheirOutputIsLost) {
  for (const Words& verb : {Words{"--help"}, Words{"--version"}, Words{}, Words{"train", "--help"},
                            Words{"list", "models"}, Words{"model", "show", "lenet5"}})
    for (const char* line : {"TRIREME > /dev/full", "TRIREME >&-"})
      expect_sentence(shell(line, verb), 1, {"cannot write standard output"});
  for (const char* line : {"{ sleep 0.2; TRIREME; } | true", "TRIREME | head -1"})
    EXPECT_EQ(shell(line, {"list", "models"}).err, "") << line;
  EXPECT_EQ(shell("TRIREME 2>&-", {"train", "--no-such-option"}).code, 2) << "a mistake that nobody can be told";
  EXPECT_EQ(shell("TRIREME 2> /dev/full", {"train", "--no-such-option"}).code, 2);
}

}  // namespace
}  // namespace trireme::cli_test
