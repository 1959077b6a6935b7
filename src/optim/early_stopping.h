// EarlyStopping: ends a run when a metric has not improved for `patience` observations (epochs) in a row.
// Not shared between threads. Its state goes into checkpoints, so that a resumed run stops where it would have.
#pragma once

#include <cstdint>
#include <optional>

namespace trireme::optim {

enum class Better { higher, lower };

class EarlyStopping {
 public:
  struct State {
    std::optional<double> best;   // none before the first observation that is a number
    std::int64_t bad_epochs = 0;  // observations since the best
    friend bool operator==(const State&, const State&) = default;
  };

  // An observation improves when it is better than the best by more than min_delta.
  EarlyStopping(std::int64_t patience, double min_delta, Better better);
  // Takes the next value; true when the run should stop. NaN never improves.
  [[nodiscard]] bool observe(double value);
  // Whether the last observation was the best so far.
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
