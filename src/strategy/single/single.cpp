#include "strategy/single/single.h"

#include "base/system/clock.h"

namespace trireme::strategy {
namespace {

class Single : public Strategy {
 public:
  Single(crew::Replica& replica, Updater& updater) : replica_(replica), updater_(updater) { updater_.ensure_state(); }

  StepReport step(const Work& work) override {
    optim::StepScalars scalars = updater_.scalars(work.step, work.lr);
    const auto update = [&](const crew::Chunk& chunk, const float* gradient) {
      updater_.update(chunk, gradient, scalars);
    };
    const crew::ComputeReport computed = updater_.clips() ? replica_.compute(work.batch, work.random)
                                                          : replica_.compute(work.batch, work.random, update);
    const std::int64_t computed_at = base::now_ns();
    if (updater_.clips()) {
      updater_.clip(replica_.gradient(), scalars);
      replica_.for_each_chunk(update);
    }
    replica_.finish_step();
    StepReport report;
    report.loss = computed.loss;
    report.correct = computed.correct;
    report.samples = work.batch.samples;
    report.penalty = updater_.penalty();
    report.seconds = seconds_of(work, computed);
    report.seconds.update += base::seconds_since(computed_at);
    report.notes = {{report.seconds, computed_at, work.wants_stop}};
    report.must_stop = work.wants_stop;
    return report;
  }

 private:
  crew::Replica& replica_;
  Updater& updater_;
};

class SingleConfig : public StrategyConfig {
 public:
  SingleConfig() : StrategyConfig({.is_for_one_worker = true}) {}
  std::unique_ptr<Strategy> make_worker_side(const WorkerContext& worker) const override {
    return make_single(worker.replica, worker.updater);
  }
};

}  // namespace

StrategyRow single_row() {
  return {"single", "one worker", {}, [](base::Spec&, const WorkerSet&) { return std::make_shared<SingleConfig>(); }};
}

std::unique_ptr<Strategy> make_single(crew::Replica& replica, Updater& updater) {
  return std::make_unique<Single>(replica, updater);
}

}  // namespace trireme::strategy
