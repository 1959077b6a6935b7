// ControlPipe: watches the standard input of a launched process for commands from its launcher.
// Runs a thread of its own and calls the callbacks there: interrupt() for each line "interrupt", hang_up() for each
// line "hangup" (the launcher's terminal is closed), gone() once at the end of input, when the launcher has exited. The
// thread sleeps otherwise.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/process/pipe.h"

namespace trireme::cluster {

class ControlPipe {
 public:
  struct Callbacks {
    std::function<void()> interrupt, hang_up, gone;
  };
  explicit ControlPipe(Callbacks callbacks, int input = 0);
  ~ControlPipe();
  ControlPipe(const ControlPipe&) = delete;
  ControlPipe& operator=(const ControlPipe&) = delete;

 private:
  void watch();
  // Handles the complete lines that have arrived. False at the end of input.
  bool read_some();

  Callbacks callbacks_;
  int input_;
  base::Descriptor stop_event_;
  std::string incomplete_line_;
  std::thread thread_;
};

}  // namespace trireme::cluster
