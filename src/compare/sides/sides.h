// The two sides of a comparison: Trireme's network, and the same network in another system, which is driven through a
// pipe and files. Both train on the same batches from the same weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/loading/loader.h"
#include "peer/script.h"
#include "store/safetensors.h"
#include "strategy/common/updater.h"
#include "train/experiment/experiment.h"

namespace trireme::compare {

using Tensors = std::vector<store::NamedTensor>;
// The one of that name, or null.
inline const store::NamedTensor* find(const Tensors& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &store::NamedTensor::name);
  return found == all.end() ? nullptr : &*found;
}

// A batch as both sides get it: input.0 ..., target, and mask.<layer> of every dropout: 0, or what is multiplied with.
struct Feed {
  Tensors tensors;
  std::vector<base::Range> oars;  // the samples of each
};
Feed make_feed(const train::Experiment& experiment, const data::Batch& batch);
// Of the values of all its tensors, in the order of their names.
std::string sha256_of(const Feed& feed);

// After a step: gradient.<parameter> (without a penalty's), slot.<slot>.<parameter> of the optimizer,
// weight.<parameter> (running statistics too); from a peer also output (of the batch, in evaluation mode).
struct Found {
  double loss = 0;  // mean over the samples, without the penalty
  double penalty = 0;
  Tensors tensors;
};

class OurSide {
 public:
  // Fresh weights, as the experiment's seed and `style` make them.
  OurSide(const train::Experiment& experiment, const std::string& optimizer, const std::string& style, int threads);

  Tensors weights() const;
  // The optimizer's: slot.<slot>.<parameter>.
  Tensors slots();
  // Goes on from these: weight.<parameter> and slot.<slot>.<parameter> of all parameters.
  void take(const Tensors& state);
  Found step(const data::Batch& batch, double lr);
  // Only the update, of given gradients (gradient.<parameter>), whose norm is brought down to max_norm first unless
  // that is 0; found: slots and weights.
  Found update(const Tensors& gradients, double lr, double max_norm);
  // What the network says in evaluation mode: output.
  store::NamedTensor evaluate(const data::Batch& batch);
  std::string weights_sha256() const;
  double lr() const { return optimizer_->lr(); }
  std::string optimizer_text() const { return optimizer_->text(); }

 private:
  void add_state(Tensors& to);

  const train::Experiment& experiment_;
  std::shared_ptr<const optim::Optimizer> optimizer_;
  crew::Crew crew_;
  strategy::Updater updater_;
  std::int64_t steps_ = 0;
};

// A system, the interpreter that has it, and the script.
struct PeerInstallation {
  peer::System system;
  std::string python, script;
};

class PeerSide {
 public:
  // Starts it; files pass through `folder`, which is the caller's, under names that begin with `mark`. What is random
  // there follows from `seed`: perturbations, and nothing else in a correct peer.
  PeerSide(const PeerInstallation& place, const base::fs::path& folder, const std::string& mark, int seed = 1);

  // Builds the network from these weights. prepared(): what it has loaded, and its optimizer's slots.
  void prepare(const train::Experiment& experiment, const Tensors& weights, const std::string& optimizer);
  Tensors prepared() const;
  // The rate of each dropout, by layer, as prepare() found it; none where the peer only takes masks.
  using Rates = std::map<std::string, double>;
  const std::optional<Rates>& dropouts() const { return dropouts_; }

  // A step; before it, the same step so many times with perturbed roundings, of which nothing remains. What came of
  // it waits in files until it is asked for, once: that of several peers need not be in memory at once.
  void step(const Feed& feed, double lr, int perturbed);
  Found found();
  Found perturbed(int number);
  // Of the last step: a digest of each tensor's bits.
  const std::map<std::string, std::uint32_t>& digests() const { return digests_; }
  // A step of which nothing is told.
  void train(const Feed& feed, double lr);
  // See OurSide::update().
  Found update(const Tensors& gradients, double lr, double max_norm);

  // Of each step, by the peer's own schedule; see optim/learning_rate_schedule.h for its text. None where the peer has
  // no schedules.
  std::optional<std::vector<double>> learning_rates(const std::string& schedule, double lr, std::int64_t steps,
                                                    std::int64_t steps_per_epoch);
  // (input.i - mean.i) / divisor.i, numbers of each channel.
  Tensors normalize(const Tensors& given);
  // What it has received.
  std::string sha256_of(const Feed& feed);
  // What goes into and comes out of every layer with parameters when it computes the first oar, and that oar's loss,
  // the sum over its samples; see peers/README.md.
  struct Layers {
    store::SafetensorsFile tensors;
    double loss = 0;
  };
  Layers layers(const Feed& feed);
  // What some layers make of given inputs, in training: <layer>.input there, <layer>.output back.
  Tensors probe(const Tensors& inputs);
  store::NamedTensor evaluate(const Feed& feed);
  const std::string& version() const { return version_; }

 private:
  struct Losses {
    double loss = 0, penalty = 0;
  };
  std::string write(const Tensors& tensors) const;
  std::string perturbed_file(int number) const;

  std::string given_, results_;  // files
  std::string version_;
  std::optional<Rates> dropouts_;
  Losses losses_;
  std::vector<Losses> perturbed_;
  std::map<std::string, std::uint32_t> digests_;
  peer::Script process_;
};

}  // namespace trireme::compare
