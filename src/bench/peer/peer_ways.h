// The ways in which PyTorch can run a training step, and the search for the fastest one per data type. Each way
// alternates with the fastest so far, so background load hits both. One caller at a time.
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

// Steps longer than this are stable after one run, and are not measured more often than needed.
inline constexpr double kSlowSeconds = 1;

struct PeerWay {
  std::string layout = "nchw";    // or channels_last
  std::string dtype = "float32";  // or bf16-autocast, bf16 (weights too)
  bool in_place = false;          // activations
  bool compiled = false;          // torch.compile
  bool pinned = false;
  peer::Allocator allocator{};

  bool is_float32() const { return dtype == "float32"; }
  // For people, e.g. "channels_last, in-place activations, jemalloc".
  std::string text() const;
};

// A way that was started: one or several processes that sleep until they get a request.
class PeerRunner {
 public:
  virtual ~PeerRunner() = default;
  // Runs the steps and returns the seconds of the median one.
  virtual double seconds_of_step(int steps) = 0;

  PeerWay way{};
  std::string version{}, blas{}, optimizer{};  // optimizer: PyTorch's implementation of SGD
  double memory_bytes = 0;                     // 0: not measured
  double seconds = 0;                          // of a step, measured when the way was tried
  // The way with the details that the process reported, e.g. "nchw, foreach SGD, BLAS mkl, torch.compile".
  std::string text() const;
};

// Thrown for features that this PyTorch or this machine does not have; the reason is a sentence.
struct NotAvailable {
  std::string reason;
};

struct TriedWay {
  std::string text, dtype;
  double seconds = 0;
  std::string not_available{};  // the reason; empty: it ran
};

// The kinds of ways to try: those that --peer-ways names and that the network and the machine allow.
struct WaysToTry {
  bool layouts = true, in_place = true, compile = true, bf16 = true, pin = false;
  std::vector<peer::Allocator> allocators{};
};
// Parses --peer-ways: all, plain, or some of layout, in-place, allocator, pin, compile, bf16. `inputs`: shapes of the
// network's inputs. `may_pin`: our side pins its threads.
WaysToTry ways_to_try(const base::Settings& settings, const std::string& python,
                      const std::vector<tensor::Shape>& inputs, bool may_pin);
// The kinds in --peer-ways; an unknown one is a user error.
std::vector<std::string> kinds_of_ways(const base::Settings& settings);

struct FastestWays {
  std::unique_ptr<PeerRunner> float32, bf16;  // bf16: null if not available or not requested
  double memory_bytes = 0;                    // of the float32 way that needs the least
  std::vector<TriedWay> tried;

  // Why there is no ratio, and what to do; else empty. There is none if PyTorch's matrix products run on the reference
  // BLAS (plain loops), which nobody who wants speed uses.
  std::string why_no_ratio() const;
};

// `start` starts a runner of a way or throws NotAvailable. An error of the first, plain way is passed on; any other way
// that fails counts as not available.
FastestWays find_fastest_ways(const WaysToTry& ways,
                              const std::function<std::unique_ptr<PeerRunner>(const PeerWay&)>& start);

// Alternates two ways, some steps each; returns the median step time of each over the rounds. A way runs the given
// number of steps and returns the median step's seconds. `step_seconds`: approximate length of a step.
std::pair<double, double> try_in_turns(const std::function<double(int steps)>& one,
                                       const std::function<double(int steps)>& other, double step_seconds);

}  // namespace trireme::bench
