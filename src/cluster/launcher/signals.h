// SignalPipe: delivers signals as bytes in a pipe, for an event loop that polls.
// One instance at a time in a process; one caller at a time.
#pragma once

#include <signal.h>

#include <vector>

#include "base/process/pipe.h"

namespace trireme::cluster {

// While it exists, SIGINT, SIGTERM, SIGHUP and SIGCHLD arrive through the pipe, and SIGPIPE is ignored: writing to a
// process that has exited returns an error.
class SignalPipe {
 public:
  SignalPipe();
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int descriptor() const { return pipe_.read.number(); }
  // The signals that have arrived; never blocks.
  std::vector<int> take();

 private:
  struct Before {
    int signal;
    struct sigaction action;
  };
  base::Pipe pipe_;
  std::vector<Before> before_;
};

}  // namespace trireme::cluster
