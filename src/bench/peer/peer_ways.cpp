#include "bench/peer/peer_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "bench/bench.h"

namespace trireme::bench {
namespace {

constexpr int kTrialSteps = 3;
const std::array<std::string, 6> kKinds{"layout", "in-place", "allocator", "pin", "compile", "bf16"};
constexpr const char* kCompile = "torch.compile";

std::string dtype_text(const std::string& dtype) { return dtype == "bf16-autocast" ? "bf16 autocast" : dtype; }

// The settings other than the layout.
std::vector<std::string> extras(const PeerWay& way) {
  std::vector<std::string> words;
  if (!way.is_float32()) words.push_back(dtype_text(way.dtype));
  if (way.in_place) words.emplace_back("in-place activations");
  if (way.compiled) words.emplace_back(kCompile);
  if (!way.allocator.name.empty()) words.push_back(way.allocator.name);
  if (way.pinned) words.emplace_back("pinned");
  return words;
}

class Search {
 public:
  Search(const WaysToTry& ways, const std::function<std::unique_ptr<PeerRunner>(const PeerWay&)>& start)
      : ways_(ways), start_(start) {}

  // Tries each choice on top of the best choices before it. torch.compile chooses layouts itself, so it is tried with
  // both layouts; the search for bf16 starts from the best float32 way.
  FastestWays run() {
    try_way({});
    if (ways_.layouts) try_changed([](PeerWay& way) { way.layout = "channels_last"; });
    if (ways_.in_place) try_changed([](PeerWay& way) { way.in_place = true; });
    for (const peer::Allocator& allocator : ways_.allocators)
      try_changed([&](PeerWay& way) { way.allocator = allocator; });
    if (ways_.pin) try_changed([](PeerWay& way) { way.pinned = true; });
    PeerWay eager = best_->way;
    if (ways_.compile) try_compiled(eager);
    fastest_.float32 = std::move(best_);
    if (ways_.bf16) {
      for (const char* dtype : {"bf16-autocast", "bf16"}) {
        eager.dtype = dtype;
        try_way(eager);
        if (ways_.layouts) try_way(with_other_layout(eager));
      }
      if (ways_.compile && compiles_ && best_) try_compiled(best_->way);
      fastest_.bf16 = std::move(best_);
    }
    return std::move(fastest_);
  }

 private:
  static PeerWay with_other_layout(PeerWay way) {
    way.layout = way.layout == "nchw" ? "channels_last" : "nchw";
    return way;
  }

  void try_changed(const std::function<void(PeerWay&)>& change) {
    PeerWay way = best_->way;
    change(way);
    try_way(way);
  }

  void try_compiled(PeerWay way) {
    way.compiled = true;
    compiles_ = try_way(way);
    if (compiles_ && ways_.layouts) try_way(with_other_layout(way));
  }

  // False if the way is not available.
  bool try_way(const PeerWay& way) {
    std::unique_ptr<PeerRunner> runner;
    const bool is_first = fastest_.tried.empty();
    fastest_.tried.push_back({way.text(), way.dtype});
    TriedWay& entry = fastest_.tried.back();
    try {
      runner = start_(way);
      runner->seconds = runner->seconds_of_step(1);
      if (runner->seconds <= kSlowSeconds) runner->seconds = runner->seconds_of_step(kTrialSteps);
      if (best_) {
        const auto run = [](PeerRunner& one) { return [&one](int steps) { return one.seconds_of_step(steps); }; };
        std::tie(best_->seconds, runner->seconds) = try_in_turns(run(*best_), run(*runner), runner->seconds);
      }
    } catch (const NotAvailable& cause) {
      if (is_first) base::run_error("PyTorch cannot run this network: {}", cause.reason);
      entry.not_available = cause.reason;
      return false;
    } catch (const base::Error& error) {
      if (is_first || error.kind() != base::ErrorKind::run) throw;
      entry.not_available = error.what();
      return false;
    }
    runner->way = way;
    entry.seconds = runner->seconds;
    entry.text = runner->text();
    if (way.is_float32() && runner->memory_bytes > 0)
      fastest_.memory_bytes = is_first ? runner->memory_bytes : std::min(fastest_.memory_bytes, runner->memory_bytes);
    if (!best_ || runner->seconds < best_->seconds) best_ = std::move(runner);
    return true;
  }

  const WaysToTry& ways_;
  const std::function<std::unique_ptr<PeerRunner>(const PeerWay&)>& start_;
  std::unique_ptr<PeerRunner> best_;  // of the data type that is being searched
  bool compiles_ = false;
  FastestWays fastest_;
};

}  // namespace

std::string PeerWay::text() const {
  std::vector<std::string> words{layout};
  for (const std::string& word : extras(*this)) words.push_back(word);
  return base::join(words, ", ");
}

std::string PeerRunner::text() const {
  std::vector<std::string> words{way.layout, optimizer + " SGD", "BLAS " + blas};
  for (const std::string& word : extras(way)) words.push_back(word);
  return base::join(words, ", ");
}

std::string FastestWays::why_no_ratio() const {
  if (!float32 || float32->blas != "reference") return "";
  return "PyTorch runs on the reference BLAS, whose matrix products are many times slower; no ratio is given. Install "
         "another one (Debian: apt install libopenblas0) and measure again";
}

std::vector<std::string> kinds_of_ways(const base::Settings& settings) {
  const std::string& text = settings.text("peer-ways");
  if (text == "all") return {kKinds.begin(), kKinds.end()};
  if (text == "plain") return {};
  std::vector<std::string> kinds = base::split(text, ',');
  for (const std::string& kind : kinds)
    if (std::ranges::find(kKinds, kind) == kKinds.end()) {
      std::vector<std::string> names{"all", "plain"};
      names.insert(names.end(), kKinds.begin(), kKinds.end());
      base::user_error("{}: {}", settings.label("peer-ways"), base::unknown_name("way", kind, names));
    }
  return kinds;
}

WaysToTry ways_to_try(const base::Settings& settings, const std::string& python,
                      const std::vector<tensor::Shape>& inputs, bool may_pin) {
  const std::vector<std::string> kinds = kinds_of_ways(settings);
  const auto has = [&](const char* kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
  WaysToTry ways;
  // channels_last exists only for images.
  ways.layouts = has("layout") && std::ranges::any_of(inputs, [](const auto& shape) { return shape.rank() == 3; });
  ways.in_place = has("in-place");
  ways.compile = has("compile");
  ways.bf16 = has("bf16");
  ways.pin = has("pin") && may_pin;
  if (has("allocator")) ways.allocators = peer::installed_allocators(python);
  return ways;
}

FastestWays find_fastest_ways(const WaysToTry& ways,
                              const std::function<std::unique_ptr<PeerRunner>(const PeerWay&)>& start) {
  return Search(ways, start).run();
}

std::pair<double, double> try_in_turns(const std::function<double(int steps)>& one,
                                       const std::function<double(int steps)>& other, double step_seconds) {
  constexpr int kRounds = 3;
  const bool is_slow = step_seconds > kSlowSeconds;
  const int rounds = is_slow ? 1 : kRounds;
  const int steps = is_slow ? 1 : std::max(kTrialSteps, steps_of_a_round(step_seconds));
  std::vector<double> of_one, of_other;
  for (int round = 0; round < rounds; ++round) {
    of_one.push_back(one(steps));
    of_other.push_back(other(steps));
  }
  return {median(of_one), median(of_other)};
}

}  // namespace trireme::bench
