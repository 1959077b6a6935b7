#include "optim/early_stopping.h"

#include "base/error.h"

namespace trireme::optim {

EarlyStopping::EarlyStopping(std::int64_t patience, double min_delta, Better better)
    : patience_(patience), min_delta_(min_delta), better_(better) {
  if (patience < 1) base::user_error("early stopping's patience is {}, expected 1 epoch or more", patience);
  if (!(min_delta >= 0)) base::user_error("early stopping's smallest improvement is {}, expected 0 or more", min_delta);
}

bool EarlyStopping::observe(double value) {
  const bool number = value == value;
  const bool better = number && (!state_.best || (better_ == Better::higher ? value > *state_.best + min_delta_
                                                                            : value < *state_.best - min_delta_));
  if (better) {
    state_ = {value, 0};
    return false;
  }
  ++state_.bad_epochs;
  return state_.bad_epochs >= patience_;
}

}  // namespace trireme::optim
