#include "cluster/launcher/signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

namespace trireme::cluster {
namespace {

// A signal handler can reach only static objects, hence this one global.
std::atomic<int> signal_descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void pass_on(int signal) {
  const int error = errno;
  const char byte = static_cast<char>(signal);
  [[maybe_unused]] const ssize_t written =
      ::write(signal_descriptor, &byte, 1);  // a full pipe wakes the reader as well, so a failed write is fine
  errno = error;
}

}  // namespace

SignalPipe::SignalPipe() : pipe_(base::make_pipe()) {
  set_non_blocking(pipe_.read);
  set_non_blocking(pipe_.write);
  signal_descriptor = pipe_.write.number();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}) {
    Before before{signal, {}};
    ::sigaction(signal, nullptr, &before.action);
    struct sigaction action {};
    action.sa_handler = signal == SIGPIPE ? SIG_IGN : pass_on;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
    before_.push_back(before);
  }
}

SignalPipe::~SignalPipe() {
  for (const Before& before : before_) ::sigaction(before.signal, &before.action, nullptr);
  signal_descriptor = -1;
}

std::vector<int> SignalPipe::take() {
  std::array<char, 256> bytes;
  const ssize_t count = ::read(pipe_.read.number(), bytes.data(), bytes.size());
  std::vector<int> signals;
  for (ssize_t i = 0; i < count; ++i) signals.push_back(bytes[static_cast<std::size_t>(i)]);
  return signals;
}

}  // namespace trireme::cluster
