#include "train/helm/coordinator.h"

#include <algorithm>

#include "base/index.h"

namespace trireme::train {
namespace {
using base::at;
}  // namespace

Coordinator::Coordinator(int workers, int oars, std::int64_t from, std::int64_t to, strategy::StalenessBound bound)
    : cut_(workers),
      oars_(oars),
      bound_(bound),
      from_(from),
      to_(to),
      with_(at(workers)),
      is_finished_(at(workers)),
      clocks_(workers, bound),
      pulled_at_(at(workers)) {}

Coordinator::Share Coordinator::hand_out(int worker) {
  std::int64_t share = 0;
  if (!again_.empty()) {
    share = again_.back();
    again_.pop_back();
  } else if (handed_ < shares()) {
    share = handed_++;
  } else {
    return {};
  }
  with_[at(worker)].push_back(share);
  return this->share(share);
}

Coordinator::Share Coordinator::share(std::int64_t number) const {
  return {from_ + number / cut_, base::oars_of_worker(static_cast<int>(number % cut_), cut_, oars_)};
}

Coordinator::Share Coordinator::in_hand(int worker) const {
  const auto& with = with_[at(worker)];
  return with.empty() ? Share{} : share(with.front());
}

void Coordinator::leave(int worker) {
  is_finished_[at(worker)] = true;
  if (with_[at(worker)].empty()) clocks_.leave(worker);
}

void Coordinator::begin_again(int workers) {
  for (const auto& with : with_) again_.insert(again_.end(), with.begin(), with.end());
  with_.assign(at(workers), {});
  is_finished_.assign(at(workers), false);
  pulled_at_.assign(at(workers), pushes_);
  clocks_ = strategy::WorkerClocks(workers, bound_);
}

std::vector<Coordinator::Step> Coordinator::done(const PushMessage& push, std::int64_t now_ns) {
  clocks_.done(push.pusher, now_ns);
  auto& with = with_[at(push.pusher)];
  if (!with.empty()) with.erase(with.begin());
  if (with.empty() && is_finished_[at(push.pusher)]) clocks_.leave(push.pusher);
  ++staleness_[pushes_ - pulled_at_[at(push.pusher)]];
  pulled_at_[at(push.pusher)] = ++pushes_;
  Partial& partial = steps_[push.step];
  ++partial.shares;
  Step& sum = partial.sum;
  sum.step = push.step;
  sum.sums.loss += push.sums.loss;
  sum.sums.correct += push.sums.correct;
  sum.sums.samples += push.sums.samples;
  sum.sums.penalty += push.sums.penalty / cut_;
  sum.sums.lr = push.sums.lr;
  const double part = 1.0 / (static_cast<double>(push.notes.size()) * cut_);
  for (const strategy::WorkerStepReport& note : push.notes) sum.seconds += note.seconds * part;
  std::vector<Step> complete;
  while (!steps_.empty() && steps_.begin()->second.shares == cut_ && steps_.begin()->first == from_ + steps_done_ + 1) {
    complete.push_back(steps_.begin()->second.sum);
    steps_.erase(steps_.begin());
    ++steps_done_;
  }
  return complete;
}

}  // namespace trireme::train
