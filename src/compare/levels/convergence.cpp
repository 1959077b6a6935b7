#include "compare/levels/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "compare/levels/equivalence.h"
#include "optim/learning_rate_schedule.h"

namespace trireme::compare {
namespace {

constexpr double kMarginOfEpochs = 1;
constexpr double kNearlyAsGood = 0.98;
constexpr std::int64_t kEvaluationBatch = 256;

using base::at;

// These samples of a test set, as a feed.
Feed feed_of(const graph::Network& network, const data::Dataset& set, base::Range samples) {
  const data::DataSpec& spec = set.spec();
  Feed feed;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const tensor::Shape shape = network.nodes()[at(network.inputs()[i])].shape.with_batch(samples.size());
    feed.tensors.push_back({"input." + std::to_string(i), shape, std::vector<float>(at(shape.count()))});
  }
  feed.tensors.push_back({"target", tensor::Shape({samples.size(), data::target_floats(spec)}), {}});
  feed.tensors.back().values.resize(at(feed.tensors.back().shape.count()));
  for (std::int64_t s = 0; s < samples.size(); ++s) {
    std::vector<float*> places;
    for (store::NamedTensor& one : feed.tensors) places.push_back(one.values.data() + s * one.shape.count_from(1));
    set.fetch(samples.begin + s, {}, std::span(places).first(places.size() - 1), places.back());
  }
  return feed;
}

double accuracy_of(PeerSide& peer, const train::Experiment& e) {
  std::int64_t right = 0;
  for (std::int64_t first = 0; first < e.test->size(); first += kEvaluationBatch) {
    const Feed feed = feed_of(e.network, *e.test, {first, std::min(first + kEvaluationBatch, e.test->size())});
    const store::NamedTensor output = peer.evaluate(feed);
    const std::int64_t classes = output.shape[1];
    for (std::int64_t s = 0; s < output.shape[0]; ++s) {
      const auto row = output.values.begin() + s * classes;
      if (std::max_element(row, row + classes) - row == static_cast<std::int64_t>(feed.tensors.back().values[at(s)]))
        ++right;
    }
  }
  return static_cast<double>(right) / static_cast<double>(e.test->size());
}

LearntRun peer_run(PeerSide& peer, const train::Experiment& e, const ConvergenceOptions& options) {
  LearntRun run{e.seed, {}};
  OurSide start(e, options.optimizer, options.init, 1);
  peer.prepare(e, start.weights(), start.optimizer_text());
  const auto schedule = optim::make_schedule(options.schedule);
  data::Loader loader(e.train, train::loader_options(e));
  for (std::int64_t step = 0; step < e.total_steps; ++step) {
    peer.train(make_feed(e, *loader.next()), schedule->lr(start.lr(), step, e.steps_per_epoch, e.total_steps));
    if ((step + 1) % e.steps_per_epoch == 0) run.accuracies.push_back(accuracy_of(peer, e));
  }
  return run;
}

std::vector<double> last_of(const std::vector<LearntRun>& runs) {
  std::vector<double> all;
  for (const LearntRun& run : runs) all.push_back(run.accuracies.back());
  return all;
}

std::string interval(const Equivalence& of, double scale, const char* unit) {
  return fmt::format("{:+.2f} ... {:+.2f}{}", scale * of.low, scale * of.high, unit);
}

}  // namespace

double epochs_to(double accuracy, const LearntRun& run) {
  double before = 0;
  for (std::size_t epoch = 0; epoch < run.accuracies.size(); ++epoch) {
    const double after = run.accuracies[epoch];
    if (after >= accuracy) return static_cast<double>(epoch) + (accuracy - before) / (after - before);
    before = after;
  }
  return static_cast<double>(run.accuracies.size() + 1);
}

Level judge_convergence(const std::vector<LearntRun>& ours, const std::vector<LearntRun>& theirs,
                        const ConvergenceOptions& options) {
  constexpr double kPoints = 100;
  const Equivalence accuracy = equivalence(last_of(ours), last_of(theirs), options.margin);
  const double target = options.target_accuracy > 0 ? options.target_accuracy : kNearlyAsGood * accuracy.mean_b;
  const auto epochs_of = [&](const std::vector<LearntRun>& runs) {
    std::vector<double> all;
    for (const LearntRun& run : runs) all.push_back(epochs_to(target, run));
    return all;
  };
  const Equivalence epochs = equivalence(epochs_of(ours), epochs_of(theirs), kMarginOfEpochs);
  Level level{.name = "convergence-equal", .passed = accuracy.holds && epochs.holds};
  level.rows = {{"accuracy", std::max(std::abs(accuracy.low), std::abs(accuracy.high)), options.margin},
                {"epochs", std::max(std::abs(epochs.low), std::abs(epochs.high)), kMarginOfEpochs}};
  level.summary = fmt::format(
      "{} runs each: {:.2f} % here and {:.2f} % there, apart by {} (margin {:g}); epochs to {:.2f} %: {:.1f} and "
      "{:.1f}, apart by {} (margin {:g})",
      ours.size(), kPoints * accuracy.mean_a, kPoints * accuracy.mean_b, interval(accuracy, kPoints, " points"),
      kPoints * options.margin, kPoints * target, epochs.mean_a, epochs.mean_b, interval(epochs, 1, ""),
      kMarginOfEpochs);
  return level;
}

Level convergence_equal(const std::function<train::Experiment(const TrainOptions& on_top)>& make, const OurRuns& runs,
                        PeerSide& peer, const ConvergenceOptions& options,
                        const std::function<void(const std::string& text)>& told) {
  std::vector<LearntRun> ours, theirs;
  for (int run = 0; run < options.runs; ++run) {
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(run);
    const train::Experiment experiment =
        make({{"seed", std::to_string(seed)}, {"steps", "0"}, {"epochs", std::to_string(options.epochs)}});
    TrainOptions more = options.ours;
    more["seed"] = std::to_string(seed);
    more["steps"] = std::to_string(experiment.total_steps);
    told(fmt::format("run {} of {} here", run + 1, options.runs));
    ours.push_back({seed, runs.train(more).accuracies});
    told(fmt::format("run {} of {} there", run + 1, options.runs));
    theirs.push_back(peer_run(peer, experiment, options));
  }
  return judge_convergence(ours, theirs, options);
}

}  // namespace trireme::compare
