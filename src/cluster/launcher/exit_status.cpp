#include "cluster/launcher/exit_status.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>

namespace trireme::cluster {
namespace {

constexpr int kShellSignals = 128;

}  // namespace

ExitStatus ending_of(int status, bool is_remote) {
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  const int code = WEXITSTATUS(status);
  if (is_remote && code > kShellSignals && sigabbrev_np(code - kShellSignals) != nullptr)
    return {0, code - kShellSignals};
  return {code, 0};
}

std::string to_text(const ExitStatus& ending) {
  if (ending.signal == 0) return fmt::format("ended with exit code {}", ending.code);
  const char* name = sigabbrev_np(ending.signal);
  return fmt::format("was killed by signal {}{}", ending.signal, name ? fmt::format(" (SIG{})", name) : "");
}

}  // namespace trireme::cluster
