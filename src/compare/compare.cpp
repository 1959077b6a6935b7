#include "compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "base/temporary_folder.h"
#include "compare/cause.h"
#include "compare/op_equal.h"
#include "compare/same_bits.h"
#include "optim/schedule.h"

namespace trireme::compare {
namespace {

constexpr int kNulls = 3;
constexpr std::size_t kHashedBatches = 3;

Tensors with_losses(Found found) {
  found.tensors.push_back({"loss", tensor::Shape({1}), {static_cast<float>(found.loss)}});
  found.tensors.push_back({"loss.penalty", tensor::Shape({1}), {static_cast<float>(found.penalty)}});
  return std::move(found.tensors);
}

// The batches of a comparison and the learning rates of their steps.
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
  std::unique_ptr<optim::Schedule> schedule_;
  data::Loader loader_;
  std::int64_t step_ = 0;  // counted from 1
};

// The same network here and there, and there again with other orders of sums.
class Sides {
 public:
  Sides(const train::Experiment& experiment, const Options& options, const base::fs::path& folder)
      : experiment_(experiment), ours_(experiment, options.optimizer, options.init, 1) {
    for (int i = 0; i <= kNulls; ++i)
      peers_.push_back(std::make_unique<PeerSide>(options.peer, folder, std::to_string(i)));
  }

  OurSide& ours() { return ours_; }
  PeerSide& peer() { return *peers_[0]; }

  Level start() {
    Tensors all = ours_.weights();
    each_peer([&](PeerSide& peer, bool) { peer.prepare(experiment_, all, ours_.optimizer_text()); });
    for (store::NamedTensor& one : ours_.slots()) all.push_back(std::move(one));
    return start_equal(all, peer().prepared());
  }

  // Of the weights that both start from.
  Level layers(const Feed& feed) {
    return op_equal(experiment_.network, ours_.weights(), feed, peer().layers(feed),
                    experiment_.crew_options.kernel_table.get());
  }

  struct Judged {
    std::vector<Difference> all;
    std::string cause;  // of the first that left its band, if it is known by sight
  };
  Judged step(const data::Batch& batch, double lr) {
    Tensors before = ours_.weights();
    for (store::NamedTensor& one : before) one.name = "weight." + one.name;
    Found found = ours_.step(batch, lr);
    found.tensors.push_back(ours_.evaluate(batch));
    const Tensors ours = with_losses(std::move(found));
    const Feed feed = make_feed(experiment_, batch);
    each_peer([&](PeerSide& peer, bool is_reference) { peer.step(feed, lr, !is_reference); });
    const Tensors reference = with_losses(peer().found());
    for (const auto& peer : peers_)
      if (peer != peers_[0]) bands_.learn(reference, with_losses(peer->found()));
    Judged judged{bands_.judge(ours, reference), ""};
    if (const Difference* first = first_of(judged.all)) judged.cause = likely_cause(*first, ours, reference, before);
    return judged;
  }

 private:
  // f(peer, is_reference) of all of them at once.
  template <class F>
  void each_peer(const F& f) {
    std::vector<std::future<void>> running;
    for (const auto& peer : peers_)
      running.push_back(std::async(std::launch::async, [&] { f(*peer, peer == peers_[0]); }));
    for (auto& one : running) one.wait();
    for (auto& one : running) one.get();
  }

  const train::Experiment& experiment_;
  OurSide ours_;
  std::vector<std::unique_ptr<PeerSide>> peers_;  // the reference first
  Bands bands_;
};

// Whether the peer gets the batches as we have them.
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

Level step_equal(Sides& sides, const train::Experiment& experiment, const Options& options,
                 const std::function<void(const std::string&)>& told) {
  Level level{.name = "step-equal"};
  Course course(experiment, options, sides.ours().lr());
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    told(fmt::format("step {} of {}", step, options.steps));
    const data::Batch& batch = course.next();
    const Sides::Judged judged = sides.step(batch, course.lr());
    level.rows.push_back(worst_of(judged.all));
    if (const Difference* first = first_of(judged.all); first != nullptr && level.passed) {
      level.passed = false;
      level.summary = fmt::format("{} leaves the band at step {}: {:.2g}, where rounding makes at most {:.2g}",
                                  first->name, step, first->error, first->limit);
      if (!judged.cause.empty()) level.summary += "; " + judged.cause;
    }
  }
  if (level.passed)
    level.summary =
        fmt::format("loss, gradients, slots, weights, statistics and outputs of {} steps; closest to its limit: {}",
                    options.steps, worst_of(level.rows).name);
  return level;
}

}  // namespace

bool Outcome::passed() const { return std::ranges::all_of(levels, &Level::passed); }

Outcome compare(const train::Experiment& experiment, const Options& options, const MakeExperiment& with_seed,
                const std::function<void(const std::string& text)>& told) {
  const base::TemporaryFolder folder("compare");
  Sides sides(experiment, options, folder.path());
  TrainOptions of_runs = options.train;
  if (const auto table = experiment.crew_options.kernel_table) {
    of_runs["kernel-table"] = (folder.path() / "kernels").string();
    base::write_text_atomically(of_runs["kernel-table"], table->text());
  }
  const OurRuns runs(of_runs, folder.path());
  Outcome outcome;
  outcome.own.start_sha256 = sides.ours().weights_sha256();
  told("start-equal");
  outcome.levels.push_back(sides.start());
  outcome.peer_version = sides.peer().version();
  compare_batches(sides, experiment, options, outcome.levels.back(), outcome.own);
  told("op-equal");
  Course course(experiment, options, sides.ours().lr());
  outcome.levels.push_back(sides.layers(make_feed(experiment, course.next())));
  outcome.levels.push_back(step_equal(sides, experiment, options, told));
  outcome.own.weights_sha256 = sides.ours().weights_sha256();
  if (options.same_bits) {
    told("same-bits");
    outcome.levels.push_back(same_bits(experiment, runs, outcome.own.weights_sha256));
  }
  if (options.convergence.runs > 0)
    outcome.levels.push_back(convergence_equal(with_seed, runs, sides.peer(), options.convergence, told));
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
