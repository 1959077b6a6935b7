#include "train/helm/epoch_ledger.h"

#include <algorithm>

#include "base/index.h"
#include "data/sampling/distribution.h"

namespace trireme::train {
namespace {
using base::at;
}  // namespace

EpochLedger::EpochLedger(const Experiment& experiment) : experiment_(experiment), before_(experiment.train->size()) {}

data::Ledger EpochLedger::total() const {
  data::Ledger all = before_;
  for (const auto& worker : workers_)
    if (worker) all.add(*worker);
  return all;
}

bool EpochLedger::begin_interval(int workers) {
  if (is_new_) {
    workers_.clear();
    pushed_.clear();
  }
  workers_.resize(at(workers));
  pushed_.resize(at(workers));
  return is_new_;
}

void EpochLedger::set_worker(int worker, const std::string& text) {
  workers_[at(worker)].emplace(experiment_.train->size()).restore(text);
}

void EpochLedger::add_push(int worker, const Coordinator::Share& share) { pushed_[at(worker)].push_back(share); }

void EpochLedger::lose(int worker) {
  const Experiment& e = experiment_;
  const data::Distribution distribution(*e.train, e.distribution, e.batch, e.seed, true);
  if (at(worker) < pushed_.size()) {
    for (const Coordinator::Share& share : pushed_[at(worker)]) {
      const std::int64_t position = share.step % e.steps_per_epoch * e.batch;
      const std::int64_t samples = std::min(e.batch, e.train->size() - position);
      const std::int64_t first = share.oars.begin * samples / e.oars, end = share.oars.end * samples / e.oars;
      std::vector<std::int64_t> indices(at(end - first));
      distribution.order(static_cast<std::uint64_t>(share.step / e.steps_per_epoch)).fill(position + first, indices);
      before_.use(position + first, indices);
    }
    pushed_.erase(pushed_.begin() + worker);
  }
  if (at(worker) < workers_.size()) workers_.erase(workers_.begin() + worker);
}

void EpochLedger::end_epoch() {
  before_.clear();
  workers_.clear();
  pushed_.clear();
  is_new_ = true;
}

}  // namespace trireme::train
