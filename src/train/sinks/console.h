// Console: shows a run to the user: a progress line, an epoch table and a summary.
// One caller at a time: the thread of its SinkQueue.
//
// On a terminal the progress line is redrawn in place; otherwise it is printed as plain lines. Everything goes to one
// stream (standard error with --json, which reserves standard output).
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "observe/events.h"

namespace trireme::train {

class Console : public observe::EventSink {
 public:
  explicit Console(std::FILE* stream);
  ~Console() override;

  bool wants(const observe::Event& event) const override;
  void on(const observe::Event& event) override;

 private:
  void print(const std::string& text);
  void line(const std::string& text);
  void start(const observe::RunStarted& run);
  // Drawn at most ten times a second on a terminal, every ten seconds elsewhere.
  void step(const observe::StepDone& step);
  void epoch(const observe::EpochDone& epoch);
  void clear();

  std::FILE* stream_;
  bool terminal_;
  bool drawn_ = false;
  bool table_started_ = false;
  std::int64_t last_ns_ = 0;
};

}  // namespace trireme::train
