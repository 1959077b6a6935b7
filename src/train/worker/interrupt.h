// Ctrl-C and termination, made into a flag that the training loop looks at between steps.
#pragma once

namespace trireme::train {

// While alive, SIGINT and SIGTERM set the flag instead of ending the process; a second one ends it at once.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  bool requested() const;
};

}  // namespace trireme::train
