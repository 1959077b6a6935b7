// Replica: a copy of a network that computes gradients, as strategies see it: where its parameters lie, the gradient of
// some oars of a batch, told chunk by chunk as it gets ready, and when weights must have arrived. A Crew, threads of
// one process, is one; tests use one whose gradients have a closed form. One caller at a time, where nothing else is
// said.
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

// When backward completes the gradient of each chunk, as far as that is known beforehand.
struct GradientOrder {
  std::vector<int> turn;      // per chunk; equal numbers are completed together
  int prompt_turns = 0;       // from this turn on gradients are made last, since nobody waits for them
  std::vector<int> unread{};  // chunks of parameters that no gradient reaches and no layer reads
};

// Which oars of a batch are computed here.
struct Share {
  base::Range oars;
  // Their mean, in one sum along a tree of their own; otherwise their part of the mean over more oars, in the partials
  // that the tree of those wants (base::oar_partials).
  bool alone = false;
  base::Range mean_over{};  // oars; none: all of the batch

  // The oars whose mean it is, of so many in the batch.
  base::Range whole(int oars_of_batch) const {
    if (alone) return oars;
    return mean_over.empty() ? base::Range{0, oars_of_batch} : mean_over;
  }

  friend bool operator==(const Share&, const Share&) = default;
};

// A batch as the loader makes it: plain row-major, inputs in the network's order.
struct BatchView {
  std::int64_t samples = 0;  // of the whole batch
  std::vector<const float*> inputs{};
  const float* target = nullptr;
  std::span<const std::int64_t> indices{};  // global sample indices
  std::int64_t first = 0;                   // sample of the batch that inputs, target and indices begin with
};

// What everything random in a step is drawn from.
struct RandomSeed {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

struct ComputeReport {
  double loss = 0;     // sum over the samples computed here
  double correct = 0;  // the same
  // Of the wall time, shared out by what the threads did; sums across members and the taker's work are `update`.
  double forward_seconds = 0, backward_seconds = 0, update_seconds = 0;
  double waited_seconds = 0;   // for weights
  std::int64_t exchanges = 0;  // of members, between slow and fast threads
};

// A running statistic of the space that steps move.
struct MovingStatistic {
  std::int64_t offset = 0, count = 0;  // floats
  double momentum = 0;                 // that one step moves it by
};

class Replica {
 public:
  virtual ~Replica() = default;

  // What is the same for all replicas of a run.
  virtual int oars() const = 0;  // of a batch
  virtual const tensor::ParameterSpace& space() const = 0;
  virtual const std::vector<Chunk>& chunks() const = 0;
  virtual const std::vector<MovingStatistic>& moving_statistics() const = 0;
  virtual GradientOrder gradient_order() const = 0;
  // The factor of the squared weights of a parameter in the loss; 0: none.
  virtual double l2_penalty(int parameter) const = 0;

  virtual float* weights() = 0;
  // From now on the weights lie in this memory of space().floats() floats on a 64-byte border, which the caller keeps;
  // they are copied there.
  virtual void move_weights(float* memory) = 0;
  // The same where they lie there already, for other replicas as well.
  virtual void share_weights(float* memory) = 0;
  // From now on the gradient of trained parameters is made in this memory of space().trained_floats() floats on a
  // 64-byte border, where that is possible, so that a taker who wants it there finds it there: as the first of the
  // sums. Null: no longer.
  virtual void place_gradient(float* memory) = 0;
  // After the weights were changed from outside; those of one parameter, by any thread.
  virtual void refresh_weight_forms() = 0;
  virtual void refresh_weight_forms(int parameter) = 0;

  // Gets a chunk's summed gradient (floats from the chunk's offset on), valid during the call; on any thread.
  using TakeGradient = base::FunctionRef<void(const Chunk&, const float* gradient)>;
  // Forward and backward of all oars. Every chunk is taken once, when nobody reads its weights any more in this step.
  virtual ComputeReport compute(const BatchView& batch, const RandomSeed& random, TakeGradient take) = 0;
  // The same, keeping the whole gradient.
  virtual ComputeReport compute(const BatchView& batch, const RandomSeed& random) = 0;
  virtual const float* gradient() const = 0;
  // Of some oars of a batch. A chunk comes with its sum of each partial that is made here, in the order of partials();
  // with none where no oar of the share has samples. `need` returns when the weights of some parameters have arrived;
  // it is called before they are first read, and again, by any thread.
  using TakePartials = base::FunctionRef<void(const Chunk&, std::span<const float* const> partials)>;
  using NeedWeights = base::FunctionRef<void(std::span<const int> parameters)>;
  virtual ComputeReport compute(const BatchView& batch, const RandomSeed& random, const Share& share, TakePartials take,
                                NeedWeights need) = 0;
  // The same where all weights are there.
  ComputeReport compute(const BatchView& batch, const RandomSeed& random, const Share& share, TakePartials take) {
    return compute(batch, random, share, take, [](std::span<const int>) {});
  }
  // The oars of each partial.
  virtual const std::vector<base::Range>& partials(std::int64_t samples, const Share& share) = 0;
  // Per oar of the batch; those computed here in the last step.
  virtual std::span<const double> oar_losses() const = 0;
  virtual std::span<const double> oar_corrects() const = 0;

  // Calls f for every chunk of the kept gradient, or of another one, on all threads.
  virtual void for_each_chunk(TakeGradient f) = 0;
  virtual void for_each_chunk(const float* gradient, base::Range chunks, TakeGradient f) = 0;

  // Moves the running statistics one step and brings derived weights up to date; of a step of all oars.
  virtual void finish_step() = 0;
  // The same in pieces, where others computed the rest: the statistics' sums of each partial, in the order of
  // partials(), once after compute(); those of all oars of the batch, added, move the running ones by `momentum` times
  // what one step moves them. Whoever does not want them to move leaves both out.
  virtual std::span<const float* const> statistics_sums() = 0;
  virtual void move_statistics(const float* sums, std::int64_t samples, double momentum = 1) = 0;
};

}  // namespace trireme::crew
