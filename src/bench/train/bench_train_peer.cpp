#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "bench/peer/peer_report.h"
#include "bench/train/bench_train.h"
#include "models/zoo.h"

namespace trireme::bench {

using Json = nlohmann::json;

namespace {

constexpr double kDeadlineSeconds = 600;

// One ddp.py process per rank; all must receive the same requests at the same time.
class TrainRunner : public PeerRunner {
 public:
  TrainRunner(const TrainCase& bench, const PeerWay& chosen, const Peer& peer, const base::fs::path& rendezvous,
              std::int64_t samples) {
    for (int rank = 0; rank < bench.world; ++rank)
      processes_.push_back(std::make_unique<peer::Script>(peer::pytorch().title, peer.python, peer.script,
                                                          std::vector{std::to_string(bench.threads)}, bench.cpus,
                                                          chosen.allocator.environment()));
    const Json joined = join(bench, rendezvous, chosen.pinned);
    expect_available(joined.dump(), chosen.allocator);
    version = joined.at("torch");
    blas = joined.at("blas");
    const Json ready = ask({{"do", "prepare"},
                            {"model", bench.model},
                            {"batch", bench.share},
                            {"layout", chosen.layout},
                            {"samples", samples},
                            {"in_place", chosen.in_place},
                            {"compiled", chosen.compiled},
                            {"dtype", chosen.dtype}});
    expect_available(ready.dump());
    optimizer = ask({{"do", "tune"}}).at("optimizer");
  }

  double seconds_of_step(int steps) override { return run({1, steps}).total; }

  // Returns the slowest rank's time; the ranks wait for each other, so it is the time of all.
  TrainSeconds run(const Repetition& repetition) {
    TrainSeconds slowest;
    for (const Json& one :
         ask_each({Json{{"do", "run"}, {"warm_up", repetition.warm_up}, {"steps", repetition.steps}}})) {
      const Json& phases = one.at("phases");
      if (one.at("median").get<double>() <= slowest.total) continue;
      slowest.total = one["median"];
      for (const observe::StepPhase& phase : observe::kStepPhases)
        slowest.phases.*phase.seconds = phases.at(phase.name);
    }
    return slowest;
  }

 private:
  std::vector<Json> ask_each(const std::vector<Json>& requests) {
    std::vector<std::future<std::string>> running;
    for (std::size_t r = 0; r < processes_.size(); ++r)
      running.push_back(std::async(std::launch::async, [&, r] {
        return processes_[r]->ask(requests[requests.size() == 1 ? 0 : r].dump(), kDeadlineSeconds);
      }));
    for (auto& one : running) one.wait();
    std::vector<Json> answers;
    for (auto& one : running) answers.push_back(Json::parse(one.get()));
    return answers;
  }
  // Returns the first answer, or the answer of a rank that reports a failure.
  Json ask(const Json& request) {
    const std::vector<Json> answers = ask_each({request});
    const auto unable = std::ranges::find_if(answers, [](const Json& one) { return one.contains("not_available"); });
    return unable == answers.end() ? answers[0] : *unable;
  }

  Json join(const TrainCase& bench, const base::fs::path& rendezvous, bool pinned) {
    std::vector<Json> requests;
    for (int rank = 0; rank < bench.world; ++rank) {
      requests.push_back({{"do", "join"}, {"file", rendezvous.string()}, {"rank", rank}, {"world", bench.world}});
      const auto first = bench.cpus.begin() + static_cast<std::ptrdiff_t>(rank) * bench.threads;
      if (pinned) requests.back()["cpus"] = std::vector<int>(first, first + bench.threads);
    }
    return ask_each(requests)[0];
  }

  std::vector<std::unique_ptr<peer::Script>> processes_;
};

TrainSeconds run(PeerRunner& runner, const Repetition& repetition) {
  return dynamic_cast<TrainRunner&>(runner).run(repetition);
}

}  // namespace

PytorchTraining::PytorchTraining(const TrainCase& bench, const Peer& peer, const base::Settings& settings,
                                 const base::fs::path& folder, std::int64_t samples) {
  int number = 0;
  ways_ = find_fastest_ways(ways_to_try(settings, peer.python, bench.info->inputs, true), [&](const PeerWay& way) {
    const auto rendezvous = fmt::format("meeting-{}-{}-{}", bench.model, bench.world, number++);
    return std::make_unique<TrainRunner>(bench, way, peer, folder / rendezvous, samples);
  });
}

TrainSeconds PytorchTraining::run_float32(const Repetition& repetition) { return run(*ways_.float32, repetition); }
TrainSeconds PytorchTraining::run_bf16(const Repetition& repetition) { return run(*ways_.bf16, repetition); }

}  // namespace trireme::bench
