// Signals as bytes in a pipe, for a loop that polls.
#pragma once

#include <signal.h>

#include <vector>

#include "base/process/pipe.h"

namespace trireme::cluster {

// While alive, SIGINT, SIGTERM, SIGHUP and SIGCHLD come through the pipe (but SIGHUP stays ignored under nohup), and
// writing to a process that is gone is an error instead of SIGPIPE. One at a time.
class SignalPipe {
 public:
  SignalPipe();
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int descriptor() const { return pipe_.read.number(); }
  // Those that have come; never waits.
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
