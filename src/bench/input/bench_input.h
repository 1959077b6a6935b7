// PyTorch's side of `bench input`: makes batches of the same packed file. One caller at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/cpu/cores.h"
#include "base/text/options.h"
#include "bench/peer/find_peer.h"
#include "bench/peer/peer_ways.h"

namespace trireme::bench {

struct InputCase {
  std::string file;  // packed
  std::string augment, normalize;
  std::int64_t batch = 128;
};

inline constexpr double kInputRoundSeconds = 0.5;

class PytorchInput {
 public:
  // Tries all ways: single samples, whole batches at once, or batches from padded and mirrored copies made once, also
  // compiled; 0, 1 and 2 workers; data in memory or mapped; allocators. Keeps the best way for each figure separately.
  PytorchInput(const InputCase& bench, const Peer& peer, const base::Settings& settings, const base::CorePlan& cores);

  // Runs one round; returns samples per second.
  double run();
  // Seconds, in a process of its own like ours.
  double first_batch_seconds() const;

  struct Best {
    double samples_per_second = 0, first_batch = 0, memory_bytes = 0;
    std::string version, way;
  };
  const Best& best() const { return best_; }
  const std::vector<TriedWay>& tried() const { return tried_; }  // their `seconds` are per sample
  // The list "peer_ways" of --json, as text: every way with its samples per second, or why it is not available.
  std::string ways_json() const;

 private:
  struct Way {
    std::string pipeline = "samples";  // or batches, copies
    int workers = 0;
    bool mapped = false, compiled = false;
    peer::Allocator allocator{};
    std::string text() const;
  };
  std::unique_ptr<peer::Script> start(const Way& way) const;
  std::string request(const Way& way) const;  // JSON
  // False if the way is not available.
  bool try_way(const Way& way);

  Peer peer_;
  std::vector<int> cpus_;
  std::string request_;                    // the fields common to all ways
  std::unique_ptr<peer::Script> process_;  // of the fastest way
  Way fastest_{}, soonest_{};
  Best best_;
  std::vector<TriedWay> tried_;
};

}  // namespace trireme::bench
