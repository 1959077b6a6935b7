#include "train/worker/step_spans.h"

namespace trireme::train {
namespace {

constexpr int kStepLane = 0, kPhaseLane = 1, kLoaderLane = 3;  // of the trace

}  // namespace

StepSpans::StepSpans(observe::SpanRecorder& recorder)
    : steps_(recorder.lane(kStepLane, "steps")),
      phases_(recorder.lane(kPhaseLane, "phases")),
      loader_(recorder.lane(kLoaderLane, "loader")) {}

void StepSpans::add(std::int64_t step, std::int64_t start_ns, const strategy::StepReport& report) {
  const auto samples = static_cast<double>(report.samples);
  steps_.add({.start_ns = start_ns,
              .end_ns = base::now_ns(),
              .step = step,
              .arguments = {samples > 0 ? report.loss / samples : report.loss, samples}});
  for (std::size_t i = 0; i < observe::kStepPhases.size(); ++i) {
    const double seconds = report.seconds.*observe::kStepPhases[i].seconds;
    const std::int64_t end_ns = start_ns + static_cast<std::int64_t>(seconds * 1e9);
    const auto kind = static_cast<observe::SpanKind>(static_cast<std::size_t>(observe::SpanKind::load) + i);
    if (seconds > 0) phases_.add({.start_ns = start_ns, .end_ns = end_ns, .step = step, .kind = kind});
    start_ns = end_ns;
  }
}

void StepSpans::add_batch(std::int64_t step, std::int64_t samples, std::int64_t start_ns) const {
  loader_.add({.start_ns = start_ns,
               .end_ns = base::now_ns(),
               .step = step,
               .arguments = {static_cast<double>(samples)},
               .kind = observe::SpanKind::read_batch});
}

}  // namespace trireme::train
