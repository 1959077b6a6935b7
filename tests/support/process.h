// Running a program in a test: arguments, extra environment, a deadline, and what it printed.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"

namespace trireme::test {

namespace fs = std::filesystem;

inline std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Finished {
  int exit_code = -1;  // 128 + signal when a signal ended it
  bool timed_out = false;
  std::string out, err;
  // The last non-empty line of standard output.
  std::string last_line() const {
    std::istringstream lines(out);
    std::string last;
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) last = line;
    return last;
  }
};

// A started process; wait() or kill() ends it.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
    const std::string out = (files_ / "out").string(), err = (files_ / "err").string();
    child_ = ::fork();
    if (child_ != 0) return;
    const auto send = [](const std::string& path, int descriptor) {
      ::dup2(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
    };
    send(out, STDOUT_FILENO);
    send(err, STDERR_FILENO);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    for (const std::string& variable : environment) {
      const std::size_t equals = variable.find('=');
      ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ~Process() {
    if (child_ > 0) kill(SIGKILL);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Waits until it ends; after the deadline it is killed and counts as timed out.
  Finished wait(double deadline_seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(deadline_seconds);
    int status = 0;
    Finished finished;
    while (::waitpid(child_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) {
        finished.timed_out = true;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    child_ = -1;
    finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    finished.out = text_of(files_ / "out");
    finished.err = text_of(files_ / "err");
    return finished;
  }

  void kill(int signal) { ::kill(child_, signal); }
  pid_t number() const { return child_; }
  // What it has printed on standard error so far.
  std::string errors_so_far() const { return text_of(files_ / "err"); }

 private:
  TemporaryFolder files_;
  pid_t child_ = -1;
};

inline Finished run_process(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                            double deadline_seconds = 600) {
  return Process(arguments, environment).wait(deadline_seconds);
}

// The program under test, or empty.
inline std::string trireme_binary() {
  const char* path = std::getenv("TRIREME_BINARY");
  return path ? path : "";
}

}  // namespace trireme::test
