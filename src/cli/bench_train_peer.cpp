#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "base/log.h"
#include "cli/bench_peer.h"
#include "cli/bench_train.h"
#include "models/zoo.h"

namespace trireme::cli {

using Json = nlohmann::json;

namespace {

constexpr double kDeadlineSeconds = 600;

}  // namespace

// One process each, which must be asked the same at once.
struct PytorchTraining::Ranks {
  Ranks(const TrainCase& bench, const Peer& peer) {
    for (int rank = 0; rank < bench.world; ++rank)
      processes.push_back(std::make_unique<peer::Script>(peer::pytorch().title, peer.python, peer.script,
                                                         std::vector{std::to_string(bench.threads)}, bench.cpus));
  }

  std::vector<Json> ask_each(const std::vector<Json>& requests) {
    std::vector<std::future<std::string>> running;
    for (std::size_t r = 0; r < processes.size(); ++r)
      running.push_back(std::async(std::launch::async, [&, r] {
        return processes[r]->ask(requests[requests.size() == 1 ? 0 : r].dump(), kDeadlineSeconds);
      }));
    for (auto& one : running) one.wait();
    std::vector<Json> answers;
    for (auto& one : running) answers.push_back(Json::parse(one.get()));
    return answers;
  }
  Json ask(const Json& request) { return ask_each({request})[0]; }

  Json join(const TrainCase& bench, const base::fs::path& meeting, bool pinned) {
    std::vector<Json> requests;
    for (int rank = 0; rank < bench.world; ++rank) {
      requests.push_back({{"do", "join"}, {"file", meeting.string()}, {"rank", rank}, {"world", bench.world}});
      const auto first = bench.cpus.begin() + static_cast<std::ptrdiff_t>(rank) * bench.threads;
      if (pinned) requests.back()["cpus"] = std::vector<int>(first, first + bench.threads);
    }
    return ask_each(requests)[0];
  }

  // Of the slowest; they wait for each other, so its time is the others' as well.
  TrainSeconds run(const Repetition& repetition) {
    TrainSeconds slowest;
    for (const Json& one :
         ask_each({Json{{"do", "run"}, {"warm_up", repetition.warm_up}, {"steps", repetition.steps}}})) {
      const Json& phases = one.at("phases");
      if (one.at("median").get<double>() > slowest.total)
        slowest = {one["median"],         phases.at("load"),    phases.at("forward"),
                   phases.at("backward"), phases.at("network"), phases.at("update")};
    }
    return slowest;
  }

  std::vector<std::unique_ptr<peer::Script>> processes;
};

PytorchTraining::PytorchTraining(const TrainCase& bench, const Peer& peer, const base::fs::path& folder,
                                 std::int64_t samples) {
  const bool has_images = std::ranges::any_of(models::find_model(bench.model).inputs,
                                              [](const tensor::Shape& shape) { return shape.rank() == 3; });
  int number = 0;
  for (const std::string layout : {"nchw", "channels_last"}) {
    if (layout == "channels_last" && !has_images) continue;
    for (const bool pinned : {false, true}) {
      auto ranks = std::make_unique<Ranks>(bench, peer);
      const Json joined =
          ranks->join(bench, folder / fmt::format("meeting-{}-{}-{}", bench.model, bench.world, number++), pinned);
      ranks->ask({{"do", "prepare"},
                  {"model", bench.model},
                  {"batch", bench.share},
                  {"layout", layout},
                  {"samples", samples}});
      const std::string optimizer = ranks->ask({{"do", "tune"}}).at("optimizer");
      double seconds = ranks->run({1, 3}).total;
      if (ranks_) {
        const auto run = [](Ranks& way) { return [&way](int steps) { return way.run({1, steps}).total; }; };
        std::tie(trial_seconds_, seconds) = try_in_turns(run(*ranks_), run(*ranks), seconds);
        if (seconds >= trial_seconds_) continue;
      }
      trial_seconds_ = seconds;
      version_ = joined.at("torch");
      const std::string blas = joined.at("blas");
      way_ = layout + ", " + optimizer + " SGD, BLAS " + blas + (pinned ? ", pinned" : "");
      if (blas == "reference" && number == 1)
        base::log_warn("PyTorch runs on the reference BLAS, many times slower in dense layers; install libopenblas0");
      ranks_ = std::move(ranks);
    }
  }
}

PytorchTraining::~PytorchTraining() = default;

TrainSeconds PytorchTraining::run(const Repetition& repetition) { return ranks_->run(repetition); }

}  // namespace trireme::cli
