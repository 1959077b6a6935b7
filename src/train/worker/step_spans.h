// StepSpans: a worker's steps and their phases in the trace.
// add() belongs to the worker's thread, add_batch() to its loader.
#pragma once

#include <cstdint>

#include "observe/trace/span_recorder.h"
#include "strategy/common/strategy.h"

namespace trireme::train {

class StepSpans {
 public:
  explicit StepSpans(observe::SpanRecorder& recorder);

  observe::SpanLane& steps() { return steps_; }
  // A step that ends now. The phases overlap; the trace shows them one after the other, each with its share of the
  // time.
  void add(std::int64_t step, std::int64_t start_ns, const strategy::StepReport& report);

  // The loader has made a batch.
  void add_batch(std::int64_t step, std::int64_t samples, std::int64_t start_ns) const;

 private:
  observe::SpanLane &steps_, &phases_, &loader_;
};

}  // namespace trireme::train
