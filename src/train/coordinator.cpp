#include "train/coordinator.h"

#include <algorithm>

namespace trireme::train {
namespace {
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

Coordinator::Coordinator(int workers, int oars, std::int64_t from, std::int64_t to, strategy::Bound bound)
    : workers_(workers),
      oars_(oars),
      from_(from),
      to_(to),
      with_(at(workers)),
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
  return {from_ + share / workers_, base::oars_of_worker(static_cast<int>(share % workers_), workers_, oars_)};
}

void Coordinator::lose(int worker) {
  again_.insert(again_.end(), with_[at(worker)].begin(), with_[at(worker)].end());
  with_[at(worker)].clear();
  clocks_.leave(worker);
}

std::vector<Coordinator::Step> Coordinator::done(const StepNews& push, std::int64_t now_ns) {
  clocks_.done(push.worker, now_ns);
  auto& with = with_[at(push.worker)];
  if (!with.empty()) with.erase(with.begin());
  ++staleness_[pushes_ - pulled_at_[at(push.worker)]];
  pulled_at_[at(push.worker)] = ++pushes_;
  Partial& partial = steps_[push.step];
  ++partial.shares;
  Step& sum = partial.sum;
  sum.step = push.step;
  sum.loss += push.loss;
  sum.correct += push.correct;
  sum.samples += push.samples;
  sum.penalty += push.penalty / workers_;
  sum.lr = push.lr;
  const strategy::StepSeconds& s = push.notes.at(0).seconds;
  sum.seconds.load += s.load / workers_;
  sum.seconds.forward += s.forward / workers_;
  sum.seconds.backward += s.backward / workers_;
  sum.seconds.update += s.update / workers_;
  sum.seconds.network += s.network / workers_;
  sum.seconds.hidden += s.hidden / workers_;
  std::vector<Step> complete;
  while (!steps_.empty() && steps_.begin()->second.shares == workers_ &&
         steps_.begin()->first == from_ + steps_done_ + 1) {
    complete.push_back(steps_.begin()->second.sum);
    steps_.erase(steps_.begin());
    ++steps_done_;
  }
  return complete;
}

}  // namespace trireme::train
