// AnsweringProcess: another program that answers lines on its standard output to lines on its standard input. Every
// wait has a deadline; one that dies or does not answer is a run error with the end of its standard error. One thread
// at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/process/child_process.h"

namespace trireme::peer {

class AnsweringProcess {
 public:
  // `title` names it in errors ("PyTorch"); arguments[0] is looked up in PATH. `cpus`: where it may run, whatever the
  // calling thread is pinned to; none: as that thread.
  AnsweringProcess(std::string title, std::vector<std::string> arguments, std::vector<int> cpus = {});

  // One line there, one line back, without their line ends. A failure kills it.
  std::string ask(std::string_view line, double deadline_seconds);

  // Closes its standard input and waits for its end: the exit code, 128 + signal when a signal ended it, -1 when it was
  // killed at the deadline. What it printed since the last ask() is in output().
  int finish(double deadline_seconds);
  const std::string& output() const { return process_.output(); }
  // The last lines of its standard error, joined by " / "; empty when it was silent.
  std::string last_words() const;
  // All that are not blank.
  std::vector<std::string> error_lines() const;

 private:
  [[noreturn]] void fail(const std::string& how);

  std::string title_;
  base::ChildProcess process_;
};

}  // namespace trireme::peer
