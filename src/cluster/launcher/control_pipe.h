// ControlPipe: watches the standard input of a launched process, on which its launcher speaks. Calls interrupt() for
// the line "interrupt", gone() once at the end of input, both from a thread of its own, which sleeps otherwise.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/process/pipe.h"

namespace trireme::cluster {

class ControlPipe {
 public:
  ControlPipe(std::function<void()> interrupt, std::function<void()> gone, int input = 0);
  ~ControlPipe();
  ControlPipe(const ControlPipe&) = delete;
  ControlPipe& operator=(const ControlPipe&) = delete;

 private:
  void watch();
  // False at the end of input.
  bool read_some();

  std::function<void()> interrupt_, gone_;
  int input_;
  base::Descriptor stop_event_;
  std::string unread_;  // the beginning of a line
  std::thread thread_;
};

}  // namespace trireme::cluster
