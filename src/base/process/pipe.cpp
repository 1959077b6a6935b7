#include "base/process/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace trireme::base {

Descriptor::~Descriptor() {
  if (is_open()) ::close(number_);
}

Descriptor above_standard(Descriptor low) {
  Descriptor high(::fcntl(low.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!high.is_open()) run_error("cannot make a pipe: {}", std::strerror(errno));
  return high;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) run_error("cannot make a pipe: {}", std::strerror(errno));
  Descriptor read(ends[0]), write(ends[1]);
  read = above_standard(std::move(read));
  return {std::move(read), above_standard(std::move(write))};
}

void set_non_blocking(const Descriptor& end) {
  ::fcntl(end.number(), F_SETFL, ::fcntl(end.number(), F_GETFL) | O_NONBLOCK);
}

}  // namespace trireme::base
