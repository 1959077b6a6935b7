// ExitStatus: how a process of a job ended, in numbers and in words.
#pragma once

#include <string>

namespace trireme::cluster {

struct ExitStatus {
  int code = 0;    // its exit code, where no signal ended it
  int signal = 0;  // that ended it, or 0

  bool is_failure() const { return code != 0 || signal != 0; }
  // A wrong option, a program that cannot be run or is not there, a host that ssh cannot reach: such a process never
  // joined its group, if this comes early.
  bool is_of_a_start() const { return signal == 0 && (code == 2 || code == 126 || code == 127 || code == 255); }
  // Lower is more likely the cause of failures at about the same time than their consequence: who loses a peer says so
  // and ends with exit code 1.
  int suspicion() const { return signal != 0 ? 0 : is_of_a_start() ? 1 : 2; }
};

// Of waitpid. On another host a shell saw the end, and told it as shells do: 128 + signal.
ExitStatus ending_of(int status, bool is_remote);

// "was killed by signal 9 (SIGKILL)", "ended with exit code 2".
std::string to_text(const ExitStatus& ending);

}  // namespace trireme::cluster
