// convergence-equal: several runs of each side, from other seeds, whose accuracies and speeds of learning are judged by
// a test of equivalence.
#pragma once

#include <cstdint>
#include <functional>

#include "compare/levels/verdict.h"
#include "compare/sides/our_runs.h"

namespace trireme::compare {

struct ConvergenceOptions {
  int runs = 0;  // of each side; 0: none
  std::uint64_t first_seed = 1;
  std::int64_t epochs = 1;
  double margin = 0.01;        // of accuracies, 0 ... 1
  double target_accuracy = 0;  // 0: 98 % of what the peer reaches on average
  std::string optimizer{}, schedule{}, init{};
  TrainOptions ours{};  // strategy, workers, servers
};

// A run of either side.
struct LearntRun {
  std::uint64_t seed = 0;
  std::vector<double> accuracies;  // after each epoch
};
// How many epochs it took to be as good, on the straight lines between the ends of epochs; one more than it has, where
// it never was.
double epochs_to(double accuracy, const LearntRun& run);

Level judge_convergence(const std::vector<LearntRun>& ours, const std::vector<LearntRun>& theirs,
                        const ConvergenceOptions& options);

// `make` makes the experiment with these options on top; told(text) what is going on.
Level convergence_equal(const std::function<train::Experiment(const TrainOptions& on_top)>& make, const OurRuns& runs,
                        PeerSide& peer, const ConvergenceOptions& options,
                        const std::function<void(const std::string& text)>& told);

}  // namespace trireme::compare
