// The two sides of a comparison: OurSide runs a network in Trireme; PeerSide drives the same network in another system
// through a pipe and files. Both train on the same batches from the same weights.
// One caller at a time per side.
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
// The tensor of that name, or null.
inline const store::NamedTensor* find(const Tensors& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &store::NamedTensor::name);
  return found == all.end() ? nullptr : &*found;
}

// A batch for both sides: input.0 ..., target, and mask.<layer> per dropout (each value is multiplied by its mask; 0
// drops it).
struct Feed {
  Tensors tensors;
  std::vector<base::Range> oars;  // the samples of each oar
};
Feed make_feed(const train::Experiment& experiment, const data::Batch& batch);
// The SHA-256 of all tensors' values, in the order of their names.
std::string sha256_of(const Feed& feed);

// The results of a step: gradient.<parameter> (without the penalty's), slot.<slot>.<parameter> of the optimizer,
// weight.<parameter> (including running statistics); from a peer also output (of the batch, in evaluation mode).
struct Found {
  double loss = 0;  // mean over the samples, without the penalty
  double penalty = 0;
  Tensors tensors;
};

class OurSide {
 public:
  // Starts from fresh weights, drawn with the experiment's seed and init `style`.
  OurSide(const train::Experiment& experiment, const std::string& optimizer, const std::string& style, int threads);

  Tensors weights() const;
  // The optimizer's slots: slot.<slot>.<parameter>.
  Tensors slots();
  // Replaces the state by weight.<parameter> and slot.<slot>.<parameter> of all parameters.
  void take(const Tensors& state);
  Found step(const data::Batch& batch, double lr);
  // Runs only the update with these gradients (gradient.<parameter>), clipped to the norm max_norm (0: not clipped).
  // Returns slots and weights.
  Found update(const Tensors& gradients, double lr, double max_norm);
  // The network's output in evaluation mode.
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

// A peer system, a Python interpreter that has it, and the script to run.
struct PeerInstallation {
  peer::System system;
  std::string python, script;
};

class PeerSide {
 public:
  // Starts the process. Exchanges files in the caller's `folder`, under names that begin with `mark`. `seed` only
  // affects perturbations in a correct peer.
  PeerSide(const PeerInstallation& place, const base::fs::path& folder, const std::string& mark, int seed = 1);

  // Builds the network with these weights. prepared() returns the weights it has loaded and its optimizer's slots.
  void prepare(const train::Experiment& experiment, const Tensors& weights, const std::string& optimizer);
  Tensors prepared() const;
  // The rate of each dropout, by layer, as prepare() found it; no value if the peer only takes masks.
  using Rates = std::map<std::string, double>;
  const std::optional<Rates>& dropouts() const { return dropouts_; }

  // Runs a step, after `perturbed` runs of the same step with perturbed roundings, which leave no trace in the state.
  // The results stay in files until found() and perturbed() fetch them, once each, so that the results of several peers
  // need not be in memory together.
  void step(const Feed& feed, double lr, int perturbed);
  Found found();
  Found perturbed(int number);
  // A digest of each tensor's bits after the last step.
  const std::map<std::string, std::uint32_t>& digests() const { return digests_; }
  // Runs a step without returning results.
  void train(const Feed& feed, double lr);
  // See OurSide::update().
  Found update(const Tensors& gradients, double lr, double max_norm);

  // The learning rate of each step by the peer's own schedule (syntax: optim/learning_rate_schedule.h). No value if the
  // peer has no schedules.
  std::optional<std::vector<double>> learning_rates(const std::string& schedule, double lr, std::int64_t steps,
                                                    std::int64_t steps_per_epoch);
  // (input.i - mean.i) / divisor.i, with one mean and divisor per channel.
  Tensors normalize(const Tensors& given);
  // The SHA-256 of the feed as the peer received it.
  std::string sha256_of(const Feed& feed);
  // Inputs, outputs and gradients of every layer with parameters on the first oar, and that oar's loss summed over its
  // samples; see peers/README.md.
  struct Layers {
    store::SafetensorsFile tensors;
    double loss = 0;
  };
  Layers layers(const Feed& feed);
  // Runs some layers in training mode: <layer>.input -> <layer>.output.
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
