#include "compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/temporary_folder.h"
#include "compare/cause.h"
#include "compare/op_equal.h"
#include "optim/schedule.h"

namespace trireme::compare {
namespace {

constexpr int kNulls = 3;
constexpr std::array kThreads = {2, 3};  // beside one

data::LoaderOptions loader_options(const train::Experiment& e) {
  data::LoaderOptions options;
  options.batch = e.batch;
  options.seed = e.seed;
  options.drop_last = e.drop_last;
  options.distribution = e.distribution;
  return options;
}

Tensors with_losses(Found found) {
  found.tensors.push_back({"loss", tensor::Shape({1}), {static_cast<float>(found.loss)}});
  found.tensors.push_back({"loss.penalty", tensor::Shape({1}), {static_cast<float>(found.penalty)}});
  return std::move(found.tensors);
}

// The same network here and there, and there again with other orders of sums.
class Sides {
 public:
  Sides(const train::Experiment& experiment, const Options& options)
      : ours_(experiment, options.optimizer, options.init, 1) {
    for (const int threads : kThreads)
      others_.push_back(std::make_unique<OurSide>(experiment, options.optimizer, options.init, threads));
    for (int i = 0; i <= kNulls; ++i)
      peers_.push_back(std::make_unique<PeerSide>(options.python, options.script, folder_.path().string(), 1));
  }

  Level start(const train::Experiment& experiment) {
    const Tensors start = ours_.weights();
    Tensors theirs;
    for (const auto& peer : peers_) theirs = peer->prepare(experiment, start, ours_.optimizer_text());
    return start_equal(start, theirs);
  }

  struct Judged {
    std::vector<Difference> all;
    std::string cause;  // of the first that left its band, if it is known by sight
  };
  Judged step(const data::Batch& batch, const Feed& feed, double lr) {
    Tensors before = ours_.weights();
    for (store::NamedTensor& one : before) one.name = "weight." + one.name;
    Found found = ours_.step(batch, lr);
    found.tensors.push_back(ours_.evaluate(batch));
    for (const auto& other : others_) other->step(batch, lr);
    std::vector<Tensors> theirs;
    for (const auto& peer : peers_) {
      Found one = peer->step(feed, lr, !theirs.empty());
      one.tensors.push_back(peer->evaluate(feed));
      theirs.push_back(with_losses(std::move(one)));
    }
    for (std::size_t i = 1; i < theirs.size(); ++i) bands_.learn(theirs[0], theirs[i]);
    const Tensors ours = with_losses(std::move(found));
    Judged judged{bands_.judge(ours, theirs[0]), ""};
    if (const Difference* first = first_of(judged.all)) judged.cause = likely_cause(*first, ours, theirs[0], before);
    return judged;
  }

  // Of the weights that both start from.
  Level layers(const train::Experiment& experiment, const Feed& feed) {
    return op_equal(experiment.network, ours_.weights(), feed, peers_[0]->layers(feed));
  }

  Level same_bits() const {
    Level level{.name = "same-bits", .summary = fmt::format("1, {} threads", fmt::join(kThreads, " and "))};
    for (std::size_t i = 0; i < others_.size(); ++i)
      if (others_[i]->weights_sha256() != ours_.weights_sha256()) {
        level.passed = false;
        level.summary = fmt::format("{} threads give other weights than one", kThreads[i]);
      }
    return level;
  }

  double lr() const { return ours_.lr(); }
  const std::string& peer_version() const { return peers_[0]->version(); }

 private:
  base::TemporaryFolder folder_{"compare"};
  OurSide ours_;
  std::vector<std::unique_ptr<OurSide>> others_;
  std::vector<std::unique_ptr<PeerSide>> peers_;  // the reference first
  Bands bands_;
};

Level step_equal(Sides& sides, const train::Experiment& e, const Options& options,
                 const std::function<void(std::int64_t)>& told) {
  Level level{.name = "step-equal"};
  const auto schedule = optim::make_schedule(options.schedule);
  data::Loader loader(e.train, loader_options(e));
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const data::Batch* batch = loader.next();
    const Feed feed = make_feed(e, *batch);
    const double lr = schedule->lr(sides.lr(), step, e.steps_per_epoch, options.steps);
    const Sides::Judged judged = sides.step(*batch, feed, lr);
    level.worst.push_back(worst_of(judged.all));
    if (const Difference* first = first_of(judged.all); first != nullptr && level.passed) {
      level.passed = false;
      level.summary = fmt::format("{} leaves the band at step {}: {:.2g}, where rounding makes at most {:.2g}",
                                  first->name, step + 1, first->error, first->limit);
      if (!judged.cause.empty()) level.summary += "; " + judged.cause;
    }
    told(step + 1);
  }
  if (level.passed)
    level.summary =
        fmt::format("loss, gradients, weights, statistics and outputs of {} steps; closest to its limit: {}",
                    options.steps, worst_of(level.worst).name);
  return level;
}

}  // namespace

bool Outcome::passed() const { return std::ranges::all_of(levels, &Level::passed); }

Outcome compare(const train::Experiment& experiment, const Options& options,
                const std::function<void(std::int64_t)>& told) {
  Sides sides(experiment, options);
  Outcome outcome;
  outcome.levels.push_back(sides.start(experiment));
  outcome.peer_version = sides.peer_version();
  {
    data::Loader loader(experiment.train, loader_options(experiment));
    outcome.levels.push_back(sides.layers(experiment, make_feed(experiment, *loader.next())));
  }
  outcome.levels.push_back(step_equal(sides, experiment, options, told));
  outcome.levels.push_back(sides.same_bits());
  return outcome;
}

}  // namespace trireme::compare
