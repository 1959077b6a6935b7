// EarlyStopping: ends a run if a metric has not improved for `patience` observations (epochs) in a row.
// One thread at a time. Checkpoints contain its state, so that a resumed run stops at the same epoch.
#pragma once

#include <cstdint>
#include <optional>

namespace trireme::optim {

enum class Better { higher, lower };

class EarlyStopping {
 public:
  struct State {
    std::optional<double> best;   // empty before the first observation that is a number
    std::int64_t bad_epochs = 0;  // observations since the best
    friend bool operator==(const State&, const State&) = default;
  };

  // An observation improves if it is better than the best by more than min_delta.
  EarlyStopping(std::int64_t patience, double min_delta, Better better);
  // Takes the next value; true if the run should stop. NaN never improves.
  [[nodiscard]] bool observe(double value);
  // True if the last observation was the best so far.
  bool improved() const { return state_.best.has_value() && state_.bad_epochs == 0; }

  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  std::int64_t patience_;
  double min_delta_;
  Better better_;
  State state_;
};

}  // namespace trireme::optim
