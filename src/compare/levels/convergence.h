// convergence-equal: trains several times on each side with different seeds, and judges final accuracies and speeds of
// learning by a statistical test of equivalence.
#pragma once

#include <cstdint>
#include <functional>

#include "compare/levels/verdict.h"
#include "compare/sides/our_runs.h"

namespace trireme::compare {

struct ConvergenceOptions {
  int runs = 0;  // per side; 0: none
  std::uint64_t first_seed = 1;
  std::int64_t epochs = 1;
  double margin = 0.01;        // tolerated difference of accuracies, 0 ... 1
  double target_accuracy = 0;  // 0: 98 % of the peer's mean accuracy
  std::string optimizer{}, schedule{}, init{};
  TrainOptions ours{};  // strategy, workers, servers
};

// One run of either side.
struct LearntRun {
  std::uint64_t seed = 0;
  std::vector<double> accuracies;  // after each epoch
};
// Epochs until the accuracy was reached, interpolated linearly between the ends of epochs; if never reached, the number
// of epochs plus one.
double epochs_to(double accuracy, const LearntRun& run);

Level judge_convergence(const std::vector<LearntRun>& ours, const std::vector<LearntRun>& theirs,
                        const ConvergenceOptions& options);

// `make`: returns the experiment with these options on top. `told`: receives progress messages.
Level convergence_equal(const std::function<train::Experiment(const TrainOptions& on_top)>& make, const OurRuns& runs,
                        PeerSide& peer, const ConvergenceOptions& options,
                        const std::function<void(const std::string& text)>& told);

}  // namespace trireme::compare
