// The worked example of CONTRIBUTING.md for a strategy: every worker computes its oars, all add up along the oar tree
// after backward, and each updates its own weights. The same bits as single.
#pragma once

#include "strategy/common/sync_step.h"
#include "strategy/registry/config.h"
#include "strategy/single/single.h"

namespace trireme::own_parts {

class Plain : public strategy::Strategy {
 public:
  explicit Plain(const strategy::WorkerContext& worker)
      : worker_(worker),
        step_(worker, strategy::buckets_of(worker, 0), worker.gradients),
        notes_(step_.note_size() * static_cast<std::size_t>(worker.roles.workers)) {
    worker_.updater.ensure_state();
  }

  strategy::StepReport step(const strategy::Work& work) override {
    crew::Replica& replica = worker_.replica;
    // Forward and backward of this worker's oars.
    const crew::ComputeReport computed = step_.compute(work, {work.oars}, [](std::size_t) {});
    // The sums of all workers, bucket by bucket, along the oar tree; they end up in the first partial.
    const comm::ExactPlan& plan = step_.plan(work.step, work.batch.samples);
    for (std::size_t bucket = 0; bucket < step_.buckets().size(); ++bucket) step_.add_up(worker_.group, bucket, plan);
    // Every worker makes the same update.
    const float* gradient = step_.partial(0).data();
    optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
    if (worker_.updater.clips()) worker_.updater.clip(gradient, scalars);
    const base::Range all{0, static_cast<std::int64_t>(replica.chunks().size())};
    replica.for_each_chunk(gradient, all, [&](const crew::Chunk& chunk, const float* part) {
      worker_.updater.update(chunk, part, scalars);
    });
    replica.move_statistics(gradient + replica.space().trained_floats(), work.batch.samples);
    replica.refresh_weight_forms();
    // Losses, times and the wish to stop of all workers.
    const std::vector<double> note = step_.write_note(work, computed, before_);
    worker_.group.all_gather(std::as_bytes(std::span(note)), std::as_writable_bytes(std::span(notes_)));
    strategy::StepReport report;
    step_.read_notes(notes_, work, report);
    report.penalty = worker_.updater.penalty();
    report.seconds = before_ = strategy::seconds_of(work, computed);
    return report;
  }

 private:
  strategy::WorkerContext worker_;
  strategy::SyncStep step_;
  std::vector<double> notes_;
  strategy::StepSeconds before_;
};

class PlainConfig : public strategy::StrategyConfig {
 public:
  PlainConfig() : StrategyConfig({}) {}  // the default traits: synchronous, exact, workers own the state
  std::unique_ptr<strategy::Strategy> make_worker_side(const strategy::WorkerContext& worker) const override {
    if (worker.roles.workers == 1) return strategy::make_single(worker.replica, worker.updater);
    return std::make_unique<Plain>(worker);
  }
};

inline strategy::StrategyRow plain_row() {
  return {"plain",
          "every worker holds all weights; gradients are added after backward",
          {},
          [](base::Spec&, const strategy::WorkerSet&) { return std::make_shared<PlainConfig>(); }};
}

}  // namespace trireme::own_parts
