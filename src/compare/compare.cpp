#include "compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "base/system/temporary_folder.h"
#include "compare/cause.h"
#include "compare/levels/op_equal.h"
#include "compare/levels/same_bits.h"
#include "compare/levels/settings_equal.h"
#include "compare/levels/update_equal.h"
#include "optim/learning_rate_schedule.h"

namespace trireme::compare {
namespace {

constexpr int kPeers = 2;      // the reference, and a second one with another seed
constexpr int kPerturbed = 2;  // perturbed steps of each: one opens ReLUs close to zero, one closes them
constexpr std::size_t kHashedBatches = 3;

Tensors with_losses(Found found) {
  found.tensors.push_back({"loss", tensor::Shape({1}), {static_cast<float>(found.loss)}});
  found.tensors.push_back({"loss.penalty", tensor::Shape({1}), {static_cast<float>(found.penalty)}});
  return std::move(found.tensors);
}

// The sequence of batches of a comparison, and the learning rates of their steps.
class Course {
 public:
  Course(const train::Experiment& experiment, const Options& options, double lr)
      : experiment_(experiment),
        options_(options),
        lr_(lr),
        schedule_(optim::make_schedule(options.schedule)),
        loader_(experiment.train, train::loader_options(experiment)) {}

  const data::Batch& next() {
    ++step_;
    return *loader_.next();
  }
  double lr() const { return schedule_->lr(lr_, step_ - 1, experiment_.steps_per_epoch, options_.steps); }

 private:
  const train::Experiment& experiment_;
  const Options& options_;
  double lr_;
  std::unique_ptr<optim::LearningRateSchedule> schedule_;
  data::Loader loader_;
  std::int64_t step_ = 0;  // counted from 1
};

// Our network, and two instances of the peer's. Every step of all of them starts from the reference's state, so that
// differences do not accumulate over the steps. Updates and evaluations are compared on the reference's own gradients
// and weights, where no gradient has jumped. ours_ also trains independently from its own weights.
class Sides {
 public:
  Sides(const train::Experiment& experiment, const Options& options, const base::fs::path& folder)
      : experiment_(experiment),
        ours_(experiment, options.optimizer, options.init, 1),
        follower_(experiment, options.optimizer, options.init, 1),
        updater_(experiment, options.optimizer, options.init, 1) {
    for (int i = 0; i < kPeers; ++i)
      peers_.push_back(std::make_unique<PeerSide>(options.peer, folder, std::to_string(i), i + 1));
  }

  OurSide& ours() { return ours_; }
  PeerSide& peer() { return *peers_[0]; }

  Level start() {
    Tensors all = ours_.weights();
    each_peer([&](PeerSide& peer) { peer.prepare(experiment_, all, ours_.optimizer_text()); });
    for (const store::NamedTensor& one : all) before_.push_back({"weight." + one.name, one.shape, one.values});
    for (store::NamedTensor& one : ours_.slots()) {
      before_.push_back(one);
      all.push_back(std::move(one));
    }
    return start_equal(all, peer().prepared());
  }

  // Compares the layers with the weights that both sides start from.
  Level layers(const Feed& feed) {
    return op_equal(
        experiment_.network, ours_.weights(), feed, peer().layers(feed),
        [&](const Tensors& inputs) { return peer().probe(inputs); }, experiment_.crew_options.kernel_table.get());
  }

  struct Judged {
    std::vector<Difference> all{};
    std::string cause{};       // likely cause of the first tensor beyond its band, if known
    std::string unrepeated{};  // a tensor that differs when the peer repeats the step
    double loss = 0;           // the reference's
  };
  Judged step(const data::Batch& batch, double lr) {
    ours_.step(batch, lr);
    follower_.take(before_);
    Tensors ours = with_losses(follower_.step(batch, lr));
    const Feed feed = make_feed(experiment_, batch);
    each_peer([&](PeerSide& peer) { peer.step(feed, lr, kPerturbed); });
    Found found = peer().found();
    Judged judged{.unrepeated = first_other(peers_[0]->digests(), peers_[1]->digests()), .loss = found.loss};
    const Tensors reference = with_losses(std::move(found));
    for (const auto& peer : peers_)
      for (int i = 0; i < kPerturbed; ++i) bands_.learn(reference, with_losses(peer->perturbed(i)));
    Tensors after = state_of(reference);
    update_and_evaluate(batch, lr, reference, after, ours);
    judged.all = bands_.judge(ours, reference);
    for (const Difference& one : compare_update(ours, reference, before_, 1)) judged.all.push_back(one);
    if (const Difference* first = first_of(judged.all))
      judged.cause = likely_cause(*first, ours, reference, before_, static_cast<double>(batch.samples));
    before_ = std::move(after);
    return judged;
  }

 private:
  static Tensors state_of(const Tensors& found) {
    Tensors state;
    for (const store::NamedTensor& one : found)
      if (one.name.starts_with("weight.") || one.name.starts_with("slot.")) state.push_back(one);
    return state;
  }

  // Replaces the update's results in `ours` by our update of the reference's gradients, and adds our output with the
  // state after the step.
  void update_and_evaluate(const data::Batch& batch, double lr, const Tensors& reference, const Tensors& after,
                           Tensors& ours) {
    Tensors gradients;
    for (const store::NamedTensor& one : reference)
      if (one.name.starts_with("gradient.")) gradients.push_back(one);
    updater_.take(before_);
    const Found updated = updater_.update(gradients, lr, 0);
    for (store::NamedTensor& one : ours)
      if (is_of_update(one.name)) one.values = find(updated.tensors, one.name)->values;
    updater_.take(after);
    ours.push_back(updater_.evaluate(batch));
  }

  using Digests = std::map<std::string, std::uint32_t>;
  // The first different tensor, in the order in which a step computes them.
  static std::string first_other(const Digests& one, const Digests& other) {
    std::vector<Difference> all;
    for (const auto& [name, digest] : one)
      if (const auto found = other.find(name); found == other.end() || found->second != digest)
        all.push_back({name, 1, 0});
    const Difference* first = first_of(all);
    return first == nullptr ? "" : first->name;
  }

  // Calls f(peer) for all peers in parallel.
  template <class F>
  void each_peer(const F& f) {
    std::vector<std::future<void>> running;
    for (const auto& peer : peers_) running.push_back(std::async(std::launch::async, [&] { f(*peer); }));
    for (auto& one : running) one.wait();
    for (auto& one : running) one.get();
  }

  const train::Experiment& experiment_;
  OurSide ours_, follower_, updater_;
  std::vector<std::unique_ptr<PeerSide>> peers_;  // the reference first
  Tensors before_;                                // weights and slots at the start of the next step
  Bands bands_;
};

// Checks that the peer receives our batches unchanged.
void compare_batches(Sides& sides, const train::Experiment& experiment, const Options& options, Level& level,
                     OwnFacts& own) {
  Course course(experiment, options, sides.ours().lr());
  const std::size_t count = std::min(kHashedBatches, static_cast<std::size_t>(options.steps));
  while (own.batches.size() < count) {
    const Feed feed = make_feed(experiment, course.next());
    own.batches.push_back(sha256_of(feed));
    if (level.passed && sides.peer().sha256_of(feed) != own.batches.back()) {
      level.passed = false;
      level.summary = fmt::format("batch {} arrives with other values there", own.batches.size());
    }
  }
  if (level.passed) level.summary += count == 1 ? "; the first batch" : fmt::format("; the first {} batches", count);
}

struct Steps {
  Level level{.name = "step-equal"};
  std::int64_t finite = 0;  // steps before the first with a loss that is not finite
};

Steps step_equal(Sides& sides, const train::Experiment& experiment, const Options& options,
                 const std::function<void(const std::string&)>& told) {
  Steps steps;
  Level& level = steps.level;
  const std::string& peer = options.peer.system.title;
  const auto fail = [&](const std::string& summary) {
    if (level.passed) level.summary = summary;
    level.passed = false;
  };
  Course course(experiment, options, sides.ours().lr());
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    told(fmt::format("step {} of {}", step, options.steps));
    const data::Batch& batch = course.next();
    const Sides::Judged judged = sides.step(batch, course.lr());
    if (!std::isfinite(judged.loss)) break;
    steps.finite = step;
    if (!judged.unrepeated.empty())
      fail(
          fmt::format("{} does not repeat itself: {} of step {} differs when the step is computed again with "
                      "another random seed; something there is random",
                      peer, judged.unrepeated, step));
    level.rows.push_back(worst_of(judged.all));
    if (const Difference* first = first_of(judged.all))
      fail(fmt::format("{} leaves the band at step {}: {:.2g}, where rounding causes at most {:.2g}{}", first->name,
                       step, first->error, first->limit, judged.cause.empty() ? "" : "; " + judged.cause));
  }
  if (level.passed && level.rows.empty()) fail(fmt::format("the loss of {} is not finite at step 1", peer));
  if (level.passed)
    level.summary =
        fmt::format("loss, gradients, slots, weights, statistics and outputs of {} steps; closest to its limit: {}",
                    steps.finite, worst_of(level.rows).name);
  if (steps.finite < options.steps)
    level.summary += fmt::format("; at step {} the loss of {} is not finite: a smaller learning rate would go on",
                                 steps.finite + 1, peer);
  return steps;
}

void add_settings(const SettingsFound& settings, Outcome& outcome) {
  Level& start = outcome.levels.back();
  for (const std::string& one : settings.compared)
    if (start.passed) start.summary += "; " + one;
  if (start.passed && !settings.differs.empty()) {
    start.passed = false;
    start.summary = settings.differs;
  }
  outcome.not_exercised = settings.not_exercised;
}

}  // namespace

std::vector<std::string> level_names() {
  return {"start-equal", "op-equal", "update-equal", "step-equal", "same-bits"};
}

bool Outcome::passed() const { return std::ranges::all_of(levels, &Level::passed); }

Outcome compare(const train::Experiment& experiment, const Options& options, const MakeExperiment& make,
                const std::function<void(const std::string& text)>& told) {
  const base::TemporaryFolder folder("compare");
  Sides sides(experiment, options, folder.path());
  TrainOptions of_runs = options.train;
  if (const auto table = experiment.crew_options.kernel_table) {
    of_runs["kernel-table"] = (folder.path() / "kernels").string();
    base::write_text_atomically(of_runs["kernel-table"], table->text());
  }
  const OurRuns runs(of_runs, folder.path());
  const auto wanted = [&](const char* level) {
    const bool is_wanted = options.levels.empty() || std::ranges::count(options.levels, level) > 0;
    if (is_wanted) told(level);
    return is_wanted;
  };
  Outcome outcome;
  outcome.own.start_sha256 = sides.ours().weights_sha256();
  told("start-equal");
  outcome.levels.push_back(sides.start());
  outcome.peer_version = sides.peer().version();
  compare_batches(sides, experiment, options, outcome.levels.back(), outcome.own);
  Course course(experiment, options, sides.ours().lr());
  const Feed feed = make_feed(experiment, course.next());
  const SettingsFound settings = compare_settings(experiment, options, make, feed, sides.peer(), sides.ours().lr());
  add_settings(settings, outcome);
  if (wanted("op-equal")) outcome.levels.push_back(sides.layers(feed));
  if (wanted("update-equal")) {
    OurSide ours(experiment, options.optimizer, options.init, 1);
    PeerSide peer(options.peer, folder.path(), "update");
    outcome.levels.push_back(update_equal(experiment, ours, peer, ours.lr()));
  }
  bool finite = true;
  if (wanted("step-equal")) {
    const Steps steps = step_equal(sides, experiment, options, told);
    outcome.levels.push_back(steps.level);
    outcome.own.weights_sha256 = sides.ours().weights_sha256();
    finite = steps.finite == options.steps;
  } else {
    outcome.own.weights_sha256 = run_own_side(experiment, options).weights_sha256;
  }
  if (!finite)
    outcome.not_exercised.emplace_back("same-bits (bits mean nothing once the loss is not finite)");
  else if (wanted("same-bits"))
    outcome.levels.push_back(same_bits(experiment, runs, outcome.own.weights_sha256));
  if (options.convergence.runs > 0)
    outcome.levels.push_back(convergence_equal(make, runs, sides.peer(), options.convergence, told));
  return outcome;
}

OwnFacts run_own_side(const train::Experiment& experiment, const Options& options) {
  OurSide ours(experiment, options.optimizer, options.init, 1);
  OwnFacts own{.start_sha256 = ours.weights_sha256()};
  Course course(experiment, options, ours.lr());
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const data::Batch& batch = course.next();
    if (own.batches.size() < kHashedBatches) own.batches.push_back(sha256_of(make_feed(experiment, batch)));
    ours.step(batch, course.lr());
  }
  own.weights_sha256 = ours.weights_sha256();
  return own;
}

}  // namespace trireme::compare
