// InterruptWatch: turns SIGINT and SIGTERM into a flag that the training loop checks between steps.
// One instance at a time in a process; requested() is thread-safe.
#pragma once

namespace trireme::train {

// While it exists, the first SIGINT or SIGTERM sets the flag instead of ending the process. A second one of the same
// signal ends the process at once.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  bool requested() const;
};

// HangupWatch: notes that the terminal was closed (SIGHUP). Training goes on, and its record tells it.
// One instance at a time in a process; has_come() is thread-safe. After it SIGHUP is ignored.
class HangupWatch {
 public:
  HangupWatch();
  ~HangupWatch();
  HangupWatch(const HangupWatch&) = delete;
  HangupWatch& operator=(const HangupWatch&) = delete;
  bool has_come() const;
};

}  // namespace trireme::train
