#include "cluster/launcher/control_pipe.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace trireme::cluster {

ControlPipe::ControlPipe(Callbacks callbacks, int input)
    : callbacks_(std::move(callbacks)), input_(input), stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stop_event_.is_open()) base::run_error("cannot watch the launcher: {}", std::strerror(errno));
  thread_ = std::thread([this] { watch(); });
}

ControlPipe::~ControlPipe() {
  ::eventfd_write(stop_event_.number(), 1);
  thread_.join();
}

void ControlPipe::watch() {
  for (;;) {
    std::array<pollfd, 2> polls{{{stop_event_.number(), POLLIN, 0}, {input_, POLLIN, 0}}};
    if (::poll(polls.data(), polls.size(), -1) < 0) continue;  // EINTR; stop_event_ ends the loop
    if (polls[0].revents != 0) return;
    if (polls[1].revents != 0 && !read_some()) return callbacks_.gone();
  }
}

bool ControlPipe::read_some() {
  std::array<char, 256> bytes;
  const ssize_t count = ::read(input_, bytes.data(), bytes.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  for (ssize_t i = 0; i < count; ++i) {
    if (bytes[static_cast<std::size_t>(i)] != '\n') {
      incomplete_line_ += bytes[static_cast<std::size_t>(i)];
      continue;
    }
    if (incomplete_line_ == "interrupt") callbacks_.interrupt();
    if (incomplete_line_ == "hangup") callbacks_.hang_up();
    incomplete_line_.clear();
  }
  return count > 0;
}

}  // namespace trireme::cluster
