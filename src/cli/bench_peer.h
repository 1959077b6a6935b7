// PyTorch's side of a training step, in a process of its own, in the way in which it is
// fastest: layout of images, implementation of SGD, threads pinned or not (where ours are).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench.h"
#include "cli/find_peer.h"
#include "peer/script.h"

namespace trireme::cli {

// A step longer than this is steady after one, and is not tried out more often than needed.
inline constexpr double kSlowSeconds = 1;

// Two ways of a peer, some steps of each in turns: the medians of what their rounds took for a step. A way is told how
// many steps to make, and says what the one in the middle took; `step_seconds`: about how long that is.
std::pair<double, double> try_in_turns(const std::function<double(int steps)>& one,
                                       const std::function<double(int steps)>& other, double step_seconds);

class PytorchStep {
 public:
  PytorchStep(const BenchCase& bench, const std::string& python, const std::string& script,
              const base::CorePlan& cores);

  train::StepSeconds run(int steps);
  double memory_bytes() const { return memory_bytes_; }  // of the layout that needs less
  const std::string& version() const { return version_; }
  // The way that was fastest, e.g. "nchw, foreach SGD, BLAS openblas, pinned".
  const std::string& way() const { return way_; }
  // Its matrix products run on the plain loops of the reference BLAS, which nobody who wants speed uses.
  bool is_handicapped() const { return blas_ == "reference"; }

 private:
  // Starts a process for this way, measures its memory, and keeps it when it is the fastest so far.
  void try_way(const BenchCase& bench, const std::string& layout, bool pin);

  std::string python_, script_;
  std::vector<int> cpus_;
  std::unique_ptr<peer::Script> process_;
  double seconds_ = 0, memory_bytes_ = 0;
  std::string version_, layout_, way_, blas_;
};

}  // namespace trireme::cli
