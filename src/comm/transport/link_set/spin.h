// SpinPermit: whether a wait may spin. The cores belong to the computation: spinning is for moments when no more
// threads want to run than there are cores.
#pragma once

namespace trireme::comm {

class SpinPermit {
 public:
  SpinPermit();
  ~SpinPermit();
  SpinPermit(const SpinPermit&) = delete;
  SpinPermit& operator=(const SpinPermit&) = delete;

  // Asks the system how many threads are runnable now (2 us).
  bool may_spin() const;

 private:
  int load_ = -1;  // /proc/loadavg
  int cores_ = 1;
};

}  // namespace trireme::comm
