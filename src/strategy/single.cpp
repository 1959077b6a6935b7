// single: one worker has all oars and updates its weights layer by layer, as soon as a gradient is there.
#include "base/clock.h"
#include "strategy/strategy.h"

namespace trireme::strategy {
namespace {

class Single : public Strategy {
 public:
  Single(crew::Crew& crew, Updater& updater) : crew_(crew), updater_(updater) { updater_.state(); }

  StepReport step(const Work& work) override {
    optim::StepScalars scalars = updater_.scalars(work.step, work.lr);
    const auto update = [&](const crew::Chunk& chunk, const float* gradient) {
      updater_.update(chunk, gradient, scalars);
    };
    const crew::RowReport row =
        updater_.clips() ? crew_.row(work.batch, work.draw) : crew_.row(work.batch, work.draw, update);
    const std::int64_t rowed = base::now_ns();
    if (updater_.clips()) {
      updater_.clip(crew_.gradient(), scalars);
      crew_.for_each_chunk(update);
    }
    crew_.finish_step();
    StepReport report;
    report.loss = row.loss;
    report.correct = row.correct;
    report.samples = work.batch.samples;
    report.penalty = updater_.penalty();
    report.seconds = {.load = work.load_seconds,
                      .forward = row.forward_seconds,
                      .backward = row.backward_seconds + work.slept_seconds,
                      .update = row.update_seconds + base::seconds_since(rowed)};
    report.notes = {{report.seconds, rowed, work.wants_stop}};
    report.must_stop = work.wants_stop;
    return report;
  }

 private:
  crew::Crew& crew_;
  Updater& updater_;
};

}  // namespace

std::unique_ptr<Strategy> make_single(crew::Crew& crew, Updater& updater) {
  return std::make_unique<Single>(crew, updater);
}

}  // namespace trireme::strategy
