// SpinPermit: decides whether a wait may spin.
// One caller at a time.
// The cores belong to the computation: a wait may spin only while no more threads are runnable than there are cores.
#pragma once

namespace trireme::comm {

class SpinPermit {
 public:
  SpinPermit();
  ~SpinPermit();
  SpinPermit(const SpinPermit&) = delete;
  SpinPermit& operator=(const SpinPermit&) = delete;

  // Reads the number of runnable threads from the system (2 us).
  bool may_spin() const;

 private:
  int load_ = -1;  // descriptor of /proc/loadavg
  int cores_ = 1;
};

}  // namespace trireme::comm
