// Console: what a person sees of a run. On a terminal a progress line that is drawn over, an epoch table and a summary;
// without a terminal the same as plain lines. Everything goes to one stream (standard error when --json owns output).
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace trireme::train {

struct StepLine {
  std::int64_t step = 0, total_steps = 0, epoch = 0;
  double loss = 0;
  double accuracy = 0;
  double samples_per_second = 0;
  double seconds_left = 0;
};

struct EpochLine {
  std::int64_t epoch = 0;
  double train_loss = 0, train_accuracy = 0;
  double held_out_loss = 0, held_out_accuracy = 0;  // of the validation share, or of the test set where there is none
  bool validation = false;
  double lr = 0, seconds = 0, samples_per_second = 0;
  bool best = false;
};

class Console {
 public:
  Console(std::FILE* stream, bool quiet);
  ~Console();

  void line(const std::string& text);
  // Drawn at most ten times a second on a terminal, every ten seconds elsewhere.
  void step(const StepLine& step);
  void epoch(const EpochLine& epoch);

 private:
  void clear();

  std::FILE* stream_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  bool table_started_ = false;
  std::int64_t last_ns_ = 0;
};

}  // namespace trireme::train
