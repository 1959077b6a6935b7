// PyTorch's side of a training step, in a process of its own, in the layout in which it is fastest.
#pragma once

#include <memory>
#include <string>

#include "cli/bench.h"
#include "peer/pytorch.h"

namespace trireme::cli {

class PytorchStep {
 public:
  PytorchStep(const BenchCase& bench, const std::string& python, const std::string& script,
              const base::CorePlan& cores);

  train::StepSeconds run(int steps);
  double memory_bytes() const { return memory_bytes_; }  // of the layout that needs less
  const std::string& version() const { return version_; }
  const std::string& layout() const { return layout_; }        // in use: nchw or channels_last
  const std::string& optimizer() const { return optimizer_; }  // in use: fused, foreach or plain

 private:
  std::unique_ptr<peer::Pytorch> process_;
  double memory_bytes_ = 0;
  std::string version_, layout_, optimizer_;
};

}  // namespace trireme::cli
