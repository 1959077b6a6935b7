// is_not_now: whether a system call on a non-blocking socket failed only because it would have had to wait.
// Thread-safe.
#pragma once

#include <cerrno>

namespace trireme::comm {

inline bool is_not_now(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace trireme::comm
