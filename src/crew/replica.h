// Replica: a copy of a network that computes gradients, as strategies see it.
// One caller at a time unless a method says otherwise.
//
// It says where the parameters lie, hands out the gradient of some oars of a batch chunk by chunk as it completes, and
// asks for weights before it first reads them. Crew (threads of one process) implements it; tests use a replica whose
// gradients have a closed form.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/oar_tree.h"
#include "tensor/parameter_space.h"

namespace trireme::crew {

// A piece of one trained parameter, sized to stay in cache. The list depends on the network and its kernels' layouts
// alone, never on threads.
struct Chunk {
  int index = 0;
  int parameter = 0;
  std::int64_t offset = 0;  // floats in the space
  std::int64_t count = 0;
};

// The order in which backward completes the gradients of the chunks.
struct GradientOrder {
  std::vector<int> turn;      // per chunk; chunks with equal numbers complete together
  int prompt_turns = 0;       // turns from this one on are late gradients, computed after all others
  std::vector<int> unread{};  // chunks of parameters that no gradient reaches
};

// The oars of a batch that one replica computes.
struct Share {
  base::Range oars;
  // true: the gradient is the mean over these oars, summed along a tree of their own. false: it is their part of the
  // mean over `mean_over`, as the partials of that range's tree (base::oar_partials).
  bool alone = false;
  base::Range mean_over{};  // oars; empty: all oars of the batch

  // The oars that the mean is over.
  base::Range whole(int oars_of_batch) const {
    if (alone) return oars;
    return mean_over.empty() ? base::Range{0, oars_of_batch} : mean_over;
  }

  friend bool operator==(const Share&, const Share&) = default;
};

// A batch as the loader delivers it: plain row-major, inputs in the network's order.
struct BatchView {
  std::int64_t samples = 0;  // of the whole batch
  std::vector<const float*> inputs{};
  const float* target = nullptr;
  std::span<const std::int64_t> indices{};  // global sample indices
  std::int64_t first = 0;                   // the sample of the batch at which inputs, target and indices begin
};

// The seed of all random numbers of a step.
struct RandomSeed {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

struct ComputeReport {
  double loss = 0;     // sum over the samples computed here
  double correct = 0;  // likewise
  // The wall time, split in proportion to the threads' times. Sums across members and the taker's work count as update,
  // late gradients as backward.
  double forward_seconds = 0, backward_seconds = 0, update_seconds = 0;
  double waited_seconds = 0;   // waiting for weights
  std::int64_t exchanges = 0;  // members exchanged between slow and fast threads
};

// A running statistic that every step moves.
struct MovingStatistic {
  std::int64_t offset = 0, count = 0;  // floats
  double momentum = 0;                 // how far one step moves it, from 0 to 1
};

class Replica {
 public:
  virtual ~Replica() = default;

  // These are the same for all replicas of a run.
  virtual int oars() const = 0;  // of a batch
  virtual const tensor::ParameterSpace& space() const = 0;
  virtual const std::vector<Chunk>& chunks() const = 0;
  virtual const std::vector<MovingStatistic>& moving_statistics() const = 0;
  virtual GradientOrder gradient_order() const = 0;
  // The coefficient of the parameter's squared weights in the loss; 0: no penalty.
  virtual double l2_penalty(int parameter) const = 0;
  // Whether the parameter must keep its values. Its gradient is given as zeros, so that norms do not count it; whoever
  // updates weights leaves it out.
  virtual bool is_frozen(int) const { return false; }

  virtual float* weights() = 0;
  // Copies the weights to `memory` and uses them there from now on. `memory`: space().floats() floats, 64-byte aligned;
  // the caller keeps it alive.
  virtual void move_weights(float* memory) = 0;
  // The same without the copy: the weights lie in `memory` already, and other replicas may use them too.
  virtual void share_weights(float* memory) = 0;
  // From now on the gradient of trained parameters is written to `memory` where that is possible, as the first of the
  // sums, so that a taker that wants it there need not copy it. `memory`: space().trained_floats() floats, 64-byte
  // aligned. Null: ends this.
  virtual void place_gradient(float* memory) = 0;
  // Call after the weights were changed from outside; the second, for one parameter, may be called by any thread.
  virtual void refresh_weight_forms() = 0;
  virtual void refresh_weight_forms(int parameter) = 0;

  // Gets a chunk's summed gradient (chunk.count floats), valid during the call; called on any thread.
  using TakeGradient = base::FunctionRef<void(const Chunk&, const float* gradient)>;
  // Runs forward and backward of all oars. Calls `take` once per chunk, when the chunk's weights are not read any more
  // in this step, so `take` may update them.
  virtual ComputeReport compute(const BatchView& batch, const RandomSeed& random, TakeGradient take) = 0;
  // The same, but keeps the whole gradient: see gradient() and for_each_chunk().
  virtual ComputeReport compute(const BatchView& batch, const RandomSeed& random) = 0;
  virtual const float* gradient() const = 0;
  // Computes some oars of a batch. `take` gets a chunk's sum of each partial, in the order of partials(); none when no
  // oar of the share has samples. `need` returns when the weights of the given parameters have arrived. Every thread
  // calls it before it reads weights, so it is called more than once for the same parameters.
  using TakePartials = base::FunctionRef<void(const Chunk&, std::span<const float* const> partials)>;
  using NeedWeights = base::FunctionRef<void(std::span<const int> parameters)>;
  virtual ComputeReport compute(const BatchView& batch, const RandomSeed& random, const Share& share, TakePartials take,
                                NeedWeights need) = 0;
  // The same when all weights have arrived.
  ComputeReport compute(const BatchView& batch, const RandomSeed& random, const Share& share, TakePartials take) {
    return compute(batch, random, share, take, [](std::span<const int>) {});
  }
  // The range of oars of each partial.
  virtual const std::vector<base::Range>& partials(std::int64_t samples, const Share& share) = 0;
  // Per oar of the batch; valid for the oars that this replica computed in the last step.
  virtual std::span<const double> oar_losses() const = 0;
  virtual std::span<const double> oar_corrects() const = 0;

  // Calls f for every chunk of the kept gradient, or for some chunks of another gradient, on all threads.
  virtual void for_each_chunk(TakeGradient f) = 0;
  virtual void for_each_chunk(const float* gradient, base::Range chunks, TakeGradient f) = 0;

  // Ends a step of all oars: moves the running statistics and refreshes the weight forms.
  virtual void finish_step() = 0;
  // The same in parts, for a step whose other oars were computed elsewhere. statistics_sums(): the sums of the
  // statistics per partial, in the order of partials(); callable once after compute(). The caller adds them up over all
  // oars of the batch. move_statistics(): moves the running statistics with the result, by `momentum` times one step's
  // momentum. A caller that does not want the statistics to move calls neither.
  virtual std::span<const float* const> statistics_sums() = 0;
  virtual void move_statistics(const float* sums, std::int64_t samples, double momentum = 1) = 0;
};

}  // namespace trireme::crew
