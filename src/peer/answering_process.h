// AnsweringProcess: a program that answers lines on its standard input with lines on its standard output.
// One thread at a time.
// Every wait has a deadline. If the program dies or does not answer, that is a run error with the end of its standard
// error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process/child_process.h"

namespace trireme::peer {

class AnsweringProcess {
 public:
  // `title` names the program in errors ("PyTorch"). arguments[0] is looked up in PATH. `cpus`: its affinity; empty:
  // that of the calling thread.
  AnsweringProcess(std::string title, std::vector<std::string> arguments, std::vector<int> cpus = {});

  // Sends one line and returns the answer, both without line end. On failure kills the process.
  std::string ask(std::string_view line, double deadline_seconds);

  // Closes its standard input and waits for its end. Returns the exit code, 128 + signal if a signal ended it, or -1 if
  // it was killed at the deadline. output() then has its output since the last ask().
  int finish(double deadline_seconds);
  const std::string& output() const { return process_.output(); }
  // The last lines of its standard error, joined by " / "; empty if there are none.
  std::string last_words() const;
  // All non-blank lines of its standard error.
  std::vector<std::string> error_lines() const;

 private:
  [[noreturn]] void fail(const std::string& how);

  std::string title_;
  base::ChildProcess process_;
};

}  // namespace trireme::peer
