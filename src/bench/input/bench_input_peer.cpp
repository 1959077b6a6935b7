#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/input/bench_input.h"
#include "bench/peer/peer_report.h"
#include "data/open_data.h"
#include "data/readers/packed.h"
#include "data/stages/augment.h"
#include "data/stages/normalize.h"
#include "peer/script.h"

namespace trireme::bench {
namespace {

using Json = nlohmann::json;

constexpr double kPeerDeadlineSeconds = 600;
constexpr int kWorkers[] = {0, 1, 2};
constexpr double kFarBehind = 1.5;  // ways slower than the best by this factor are not measured again

Json ask(peer::Script& process, const std::string& request) {
  return Json::parse(process.ask(request, kPeerDeadlineSeconds));
}

double rate_of(peer::Script& process) {
  return ask(process, Json{{"do", "run"}, {"seconds", kInputRoundSeconds}}.dump()).at("samples_per_second");
}

}  // namespace

std::string PytorchInput::Way::text() const {
  return fmt::format("{}{}, {} worker{}, {}{}", pipeline, compiled ? ", torch.compile" : "", workers,
                     workers == 1 ? "" : "s", mapped ? "mapped" : "in memory",
                     allocator.name.empty() ? "" : ", " + allocator.name);
}

PytorchInput::PytorchInput(const InputCase& bench, const Peer& peer, const base::Settings& settings,
                           const base::CorePlan& cores)
    : peer_(peer), cpus_(cores.cpus) {
  const data::DataPair pair = data::open_packed(bench.file);
  const data::Augmentation augmentation = data::parse_augmentation(bench.augment);
  data::Augmentation crop_and_flip;
  crop_and_flip.pad = augmentation.pad;
  crop_and_flip.flip = augmentation.flip;
  if (augmentation != crop_and_flip)
    base::user_error("bench input --peer pytorch compares crop and flip alone, not '{}'", bench.augment);
  const data::Normalization normal = data::compute_normalization(pair.train, bench.normalize);
  if (pair.train->spec().inputs.size() != 1 || pair.train->spec().inputs[0].rank() != 3 || normal.inputs.empty() ||
      normal.inputs[0].mean.size() != static_cast<std::size_t>(pair.train->spec().inputs[0][0]))
    base::user_error("bench input --peer pytorch needs one input of images, normalised per channel");
  request_ = Json{{"do", "open"},
                  {"file", bench.file},
                  {"batch", bench.batch},
                  {"pad", augmentation.pad},
                  {"flip", augmentation.flip},
                  {"mean", normal.inputs[0].mean},
                  {"divisor", normal.inputs[0].divisor}}
                 .dump();
  const WaysToTry ways = ways_to_try(settings, peer.python, pair.train->spec().inputs, false);
  for (const int workers : kWorkers) {
    for (const char* pipeline : {"samples", "batches"})
      for (const bool mapped : {false, true}) try_way({pipeline, workers, mapped});
    try_way({"copies", workers, false});  // copies are always in memory
  }
  if (ways.compile) {
    Way way = fastest_;
    way.compiled = true;
    if (way.pipeline == "samples") way.pipeline = "batches";
    try_way(way);
  }
  for (const peer::Allocator& allocator : ways.allocators) {
    Way way = fastest_;
    way.allocator = allocator;
    try_way(way);
  }
}

std::unique_ptr<peer::Script> PytorchInput::start(const Way& way) const {
  return std::make_unique<peer::Script>(peer::pytorch().title, peer_.python, peer_.script, std::vector<std::string>{},
                                        cpus_, way.allocator.environment());
}

std::string PytorchInput::request(const Way& way) const {
  Json request = Json::parse(request_);
  request["workers"] = way.workers;
  request["mapped"] = way.mapped;
  request["pipeline"] = way.pipeline;
  request["compiled"] = way.compiled;
  return request.dump();
}

bool PytorchInput::try_way(const Way& way) {
  const bool is_first = tried_.empty();
  tried_.push_back({way.text(), "float32"});
  TriedWay& entry = tried_.back();
  try {
    auto process = start(way);
    const Json opened = ask(*process, request(way));
    expect_available(opened.dump(), way.allocator);
    double rate = rate_of(*process);
    const double memory = ask(*process, R"({"do": "memory"})").at("bytes"), first = opened.at("first_batch");
    if (process_ && kFarBehind * rate > best_.samples_per_second) {
      const auto run = [](peer::Script& one) { return [&one](int) { return 1 / rate_of(one); }; };
      const auto [of_best, of_this] = try_in_turns(run(*process_), run(*process), kInputRoundSeconds);
      best_.samples_per_second = 1 / of_best;
      rate = 1 / of_this;
    }
    entry.seconds = 1 / rate;
    if (is_first || first < best_.first_batch) {
      best_.first_batch = first;
      soonest_ = way;
    }
    best_.memory_bytes = is_first ? memory : std::min(best_.memory_bytes, memory);
    if (!is_first && rate <= best_.samples_per_second) return true;
    best_.samples_per_second = rate;
    best_.version = opened.at("torch");
    best_.way = way.text();
    fastest_ = way;
    process_ = std::move(process);
  } catch (const NotAvailable& cause) {
    entry.not_available = cause.reason;
  } catch (const base::Error& error) {
    if (is_first || error.kind() != base::ErrorKind::run) throw;
    entry.not_available = error.what();
  }
  return entry.not_available.empty();
}

double PytorchInput::run() { return rate_of(*process_); }

double PytorchInput::first_batch_seconds() const { return ask(*start(soonest_), request(soonest_)).at("first_batch"); }

std::string PytorchInput::ways_json() const {
  auto all = nlohmann::ordered_json::array();
  for (const TriedWay& one : tried_) {
    all.push_back({{"way", one.text}});
    if (one.not_available.empty())
      all.back()["samples_per_second"] = 1 / one.seconds;
    else
      all.back()["not_available"] = one.not_available;
  }
  return all.dump();
}

}  // namespace trireme::bench
