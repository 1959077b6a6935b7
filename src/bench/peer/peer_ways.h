// The ways in which PyTorch can run a training step, and the search for the fastest one of each type of numbers. Ways
// are tried in turns with the fastest so far, so that background load meets both.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text/options.h"
#include "peer/allocator.h"
#include "tensor/shape.h"

namespace trireme::bench {

// A step longer than this is steady after one, and is not tried out more often than needed.
inline constexpr double kSlowSeconds = 1;

struct PeerWay {
  std::string layout = "nchw";    // or channels_last
  std::string dtype = "float32";  // or bf16-autocast, bf16 (weights and all)
  bool in_place = false;          // activations
  bool compiled = false;          // torch.compile
  bool pinned = false;
  peer::Allocator allocator{};

  bool is_float32() const { return dtype == "float32"; }
  // For people, e.g. "channels_last, in-place activations, jemalloc".
  std::string text() const;
};

// A way that was started: one process or several that sleep until they are asked.
class PeerRunner {
 public:
  virtual ~PeerRunner() = default;
  // Of the step in the middle.
  virtual double seconds_of_step(int steps) = 0;

  PeerWay way{};
  std::string version{}, blas{}, optimizer{};  // optimizer: PyTorch's implementation of SGD
  double memory_bytes = 0;                     // 0: not measured
  double seconds = 0;                          // of a step, when it was tried
  // The way with all that the process said, e.g. "nchw, foreach SGD, BLAS mkl, torch.compile".
  std::string text() const;
};

// What this PyTorch or this machine does not have; the reason is a sentence.
struct NotAvailable {
  std::string reason;
};

struct TriedWay {
  std::string text, dtype;
  double seconds = 0;
  std::string not_available{};  // why; empty: it ran
};

// Which ways there are to be tried: the kinds named by --peer-ways, and what the network and the machine allow.
struct WaysToTry {
  bool layouts = true, in_place = true, compile = true, bf16 = true, pin = false;
  std::vector<peer::Allocator> allocators{};
};
// --peer-ways: all, plain, or some of layout, in-place, allocator, pin, compile, bf16. `inputs`: of the network;
// `may_pin`: threads are pinned on our side.
WaysToTry ways_to_try(const base::Settings& settings, const std::string& python,
                      const std::vector<tensor::Shape>& inputs, bool may_pin);
// The kinds that --peer-ways names; a wrong one is a user error.
std::vector<std::string> kinds_of_ways(const base::Settings& settings);

struct FastestWays {
  std::unique_ptr<PeerRunner> float32, bf16;  // bf16: none where it cannot be had or was not asked for
  double memory_bytes = 0;                    // of the float32 way that needs least
  std::vector<TriedWay> tried;

  // Its matrix products run on the plain loops of the reference BLAS, which nobody who wants speed uses: why there is
  // no ratio then, and what to do; else empty.
  std::string why_no_ratio() const;
};

// `start` makes a runner of a way or throws NotAvailable. An error of the first, plain way is the caller's; of any
// other it means that this way is not available.
FastestWays find_fastest_ways(const WaysToTry& ways,
                              const std::function<std::unique_ptr<PeerRunner>(const PeerWay&)>& start);

// Two ways of a peer, some steps of each in turns: the medians of what their rounds took for a step. A way is told how
// many steps to make, and says what the one in the middle took; `step_seconds`: about how long that is.
std::pair<double, double> try_in_turns(const std::function<double(int steps)>& one,
                                       const std::function<double(int steps)>& other, double step_seconds);

}  // namespace trireme::bench
