#include "comm/transport/link_set/spin.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>

#include "base/cpu/cores.h"

namespace trireme::comm {

SpinPermit::SpinPermit() : load_(open("/proc/loadavg", O_RDONLY | O_CLOEXEC)) {
  static const int cores = base::plan_cores().usable;  // takes milliseconds
  cores_ = cores;
}

SpinPermit::~SpinPermit() {
  if (load_ >= 0) close(load_);
}

// /proc/loadavg is "0.52 0.41 0.36 2/311 4242"; the number of runnable threads stands before the slash.
bool SpinPermit::may_spin() const {
  std::array<char, 128> text{};
  if (load_ < 0 || pread(load_, text.data(), text.size() - 1, 0) <= 0) return false;
  const char* at = text.data();
  for (int field = 0; field < 3 && at != nullptr; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  int runnable = 0;
  if (at == nullptr || std::from_chars(at, text.data() + text.size(), runnable).ec != std::errc{}) return false;
  return runnable <= cores_;
}

}  // namespace trireme::comm
