// LearningRateSchedule: the learning rate of each step. Pure functions in double with + - * / only: the same bits on
// every machine.
// Immutable; thread-safe.
//
//   constant                          the optimizer's rate
//   step:80=0.01,130=0.001            0.01 from epoch 80 on (after 80 whole epochs), 0.001 from epoch 130 on
//   cosine:min=0                      half a cosine wave from the optimizer's rate down to min at the end of the run
//   onecycle:peak=0.1,warm=30%        half a cosine wave from peak/start up to peak in the first 30% of the run,
//                                     then half a cosine wave down to peak/end. Defaults: peak = the optimizer's rate,
//                                     start=25, end=1e4 (PyTorch's OneCycleLR ends at start/1e4: end=2.5e5)
// Every schedule takes warmup=EPOCHS or warmup-steps=STEPS: over the first W steps the rate is also multiplied by
// (step + 1) / W; the cosine then spans the remaining steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::optim {

struct WarmUp {
  double epochs = 0;
  std::int64_t steps = 0;
};

class LearningRateSchedule {
 public:
  LearningRateSchedule(std::string text, const WarmUp& warm_up) : text_(std::move(text)), warm_up_(warm_up) {}
  virtual ~LearningRateSchedule() = default;

  // The rate of a step, counted from 0 over the whole run of total_steps. Steps beyond the last get the last one's
  // rate.
  [[nodiscard]] double lr(double base_lr, std::int64_t step, std::int64_t steps_per_epoch,
                          std::int64_t total_steps) const;
  const std::string& text() const { return text_; }

 protected:
  struct Position {
    std::int64_t step, steps_per_epoch, total_steps, warm_steps;
  };
  virtual double shaped(double base_lr, const Position& at) const = 0;

 private:
  std::string text_;
  WarmUp warm_up_;
};

[[nodiscard]] std::unique_ptr<LearningRateSchedule> make_schedule(std::string_view text);
// One line per schedule, for help and docs.
[[nodiscard]] std::vector<std::string> schedule_forms();

// cos(pi x) for x in [0, 1], within 1e-15.
[[nodiscard]] double cos_pi(double x);

}  // namespace trireme::optim
