// ExitStatus: how a process of a job ended, as numbers and as text.
// A plain value.
#pragma once

#include <string>

namespace trireme::cluster {

struct ExitStatus {
  int code = 0;    // the exit code, unless a signal killed the process
  int signal = 0;  // the signal that killed it, or 0

  bool is_failure() const { return code != 0 || signal != 0; }
  // The exit codes of a wrong option (2), a program that cannot be executed (126) or found (127), and a host that ssh
  // cannot reach (255). A process that ends like this early on has never joined its group.
  bool is_of_a_start() const { return signal == 0 && (code == 2 || code == 126 || code == 127 || code == 255); }
  // Ranks failures that happened at about the same time: the lowest is the likely cause, the others are consequences. A
  // process that loses a peer reports it and exits with code 1, which ranks highest.
  int suspicion() const { return signal != 0 ? 0 : is_of_a_start() ? 1 : 2; }
};

// `status` is that of waitpid. For a process on another host it is the shell's exit code: 128 + signal when a signal
// killed the program.
ExitStatus ending_of(int status, bool is_remote);

// "was killed by signal 9 (SIGKILL)", "ended with exit code 2".
std::string to_text(const ExitStatus& ending);

}  // namespace trireme::cluster
