// Distribution: maps the positions of an epoch to samples, and shares them out to workers. The sample at a position is
// a pure function of (seed, epoch, position); it does not depend on the rank that asks. Schemes:
//   global           one shuffle of the whole set, the same for any number of workers
//   contiguous       every worker has its own contiguous part of the set and shuffles it
//   by-label         as contiguous, after sorting by label: each worker sees few classes (not i.i.d.)
//   fraction=F       every worker draws its own random fraction F of the set; samples may belong to several
//                    workers or to none
// All but the last use every sample once per epoch.
// Immutable after construction; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/oar_tree.h"
#include "data/dataset/dataset.h"
#include "data/sampling/sampler.h"

namespace trireme::data {

enum class Scheme { global, contiguous, by_label, fraction };

struct DistributionOptions {
  Scheme scheme = Scheme::global;
  int workers = 1;
  double fraction = 1;
};

// "global", "contiguous:workers=5", "by-label:workers=5", "fraction=0.3:workers=5". Mistakes are user errors.
DistributionOptions parse_distribution(std::string_view text);

struct DistributionInfo {
  std::string name, description;
};
std::vector<DistributionInfo> distribution_list();

// The positions of `worker` in a batch of `samples`: the even contiguous assignment.
inline base::Range share_of_worker(int worker, int workers, std::int64_t samples) {
  return base::oar_samples(worker, workers, samples);
}

class Distribution;

// The order of one epoch. Refers to its Distribution, which must outlive it.
class EpochOrder {
 public:
  std::int64_t operator()(std::int64_t position) const;
  // The samples at positions first, first + 1, ...
  void fill(std::int64_t first, std::span<std::int64_t> samples) const;

 private:
  friend class Distribution;
  EpochOrder(const Distribution& distribution, std::uint64_t epoch);
  std::int64_t of_worker(int worker, std::int64_t position) const;

  const Distribution* distribution_;
  std::uint64_t epoch_;
  std::vector<Permutation> orders_;  // one, or one per worker
};

class Distribution {
 public:
  // `batch`: the size of the global batch that the workers share. by-label reads every label once.
  Distribution(const Dataset& dataset, const DistributionOptions& options, std::int64_t batch, std::uint64_t seed,
               bool shuffle);

  EpochOrder order(std::uint64_t epoch) const { return EpochOrder(*this, epoch); }
  std::int64_t size() const { return size_; }

 private:
  friend class EpochOrder;

  DistributionOptions options_;
  std::int64_t size_, batch_;
  std::uint64_t seed_;
  bool shuffle_;
  std::vector<base::Range> parts_;    // per worker: its places in sorted_, or in the set itself
  std::vector<std::int64_t> sorted_;  // samples by label; empty: the set's own order
};

}  // namespace trireme::data
