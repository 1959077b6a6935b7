#include "cluster/launcher/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace trireme::cluster {
namespace {

comm::Socket above_standard(int descriptor) {
  const comm::Socket low(descriptor);
  comm::Socket high(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!high.is_open()) base::run_error("cannot make a pipe: {}", std::strerror(errno));
  return high;
}

}  // namespace

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) base::run_error("cannot make a pipe: {}", std::strerror(errno));
  comm::Socket read = above_standard(ends[0]);
  return {std::move(read), above_standard(ends[1])};
}

void set_non_blocking(const comm::Socket& end) {
  ::fcntl(end.descriptor(), F_SETFL, ::fcntl(end.descriptor(), F_GETFL) | O_NONBLOCK);
}

}  // namespace trireme::cluster
