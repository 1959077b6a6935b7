// `bench input`: the rate at which one thread makes batches, the time to the first batch, and the memory of several
// processes of a host together; optionally against PyTorch's DataLoader on the same file.
#include <fmt/core.h>
#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/system/beside_program.h"
#include "base/system/clock.h"
#include "base/system/files.h"
#include "base/system/temporary_folder.h"
#include "base/text/text.h"
#include "bench/bench.h"
#include "bench/input/bench_input.h"
#include "bench/peer/peer_report.h"
#include "data/dataset/columns.h"
#include "data/loading/loader.h"
#include "data/open_data.h"
#include "data/readers/packed.h"
#include "data/stages/prepare.h"
#include "peer/answering_process.h"

namespace trireme::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace fs = base::fs;

constexpr double kDeadlineSeconds = 600, kMegabyte = 1e6;
constexpr std::chrono::milliseconds kSettle{20};  // until the other side's threads sleep

// The whole path from opening the file to batches, as train uses it.
class OwnInput {
 public:
  OwnInput(const InputCase& bench, const base::CorePlan& cores) : batch_(bench.batch) {
    const std::int64_t start = base::now_ns();
    const data::DataPair pair = data::open_packed(bench.file);
    data::Normalization normalization = data::compute_normalization(pair.train, bench.normalize);
    size_ = pair.train->size();
    data::LoaderOptions options;
    options.batch = bench.batch;
    options.drop_last = true;
    options.cpus = cores.cpus;
    loader_.emplace(data::prepare(pair.train, data::parse_augmentation(bench.augment), std::move(normalization)),
                    options);
    loader_->next();
    first_batch_ = base::seconds_since(start);
  }

  double first_batch() const { return first_batch_; }
  double samples_per_second(double seconds) {
    for (int k = 0; k < 8; ++k) next();  // skip the batches prepared in the ring
    const std::int64_t start = base::now_ns();
    std::int64_t batches = 0;
    for (; base::seconds_since(start) < seconds; ++batches) next();
    return static_cast<double>(batches * batch_) / base::seconds_since(start);
  }
  // Busy-waits like a computing core: waking a sleeping one would cost the input thread more than handing over a batch.
  void next() {
    while (!loader_->has_next()) _mm_pause();
    loader_->next();
  }
  void read_an_epoch() {
    for (std::int64_t done = 0; done < size_; done += batch_) loader_->next();
  }

 private:
  std::int64_t batch_, size_ = 0;
  std::optional<data::Loader> loader_;
  double first_batch_ = 0;
};

// Proportional set size of a process's mappings of the file: a page shared by n processes counts 1/n.
double mapped_bytes(int process, const std::string& file) {
  std::ifstream maps(fmt::format("/proc/{}/smaps", process));
  double bytes = 0;
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) inside = line.ends_with(file);
    if (inside && line.starts_with("Pss:")) bytes += 1024 * std::stod(line.substr(4));
  }
  return bytes;
}

// Starts `trireme bench reader` on this data.
std::unique_ptr<peer::AnsweringProcess> start_reader(const InputCase& bench, const base::CorePlan& cores) {
  const std::string self = base::this_program();
  return std::make_unique<peer::AnsweringProcess>(
      "trireme bench reader",
      std::vector<std::string>{self, "bench", "reader", "--data", bench.file, "--augment", bench.augment, "--normalize",
                               bench.normalize, "--batch", std::to_string(bench.batch)},
      cores.cpus);
}

// Measured in a fresh process, because a program waits for its first batch once, with nothing warmed up.
double first_batch_seconds(const InputCase& bench, const base::CorePlan& cores) {
  const auto child = start_reader(bench, cores);
  const double seconds = std::stod(child->ask("first", kDeadlineSeconds));
  child->finish(kDeadlineSeconds);
  return seconds;
}

// Runs all processes at once: each reads an epoch, then their memory is measured.
double memory_of_processes(const InputCase& bench, int processes, const base::CorePlan& cores) {
  std::vector<std::unique_ptr<peer::AnsweringProcess>> children;
  for (int i = 0; i < processes; ++i) children.push_back(start_reader(bench, cores));
  for (const auto& child : children) child->ask("read", kDeadlineSeconds);
  double bytes = 0;
  for (const auto& child : children) bytes += std::stod(child->ask("memory", kDeadlineSeconds));
  for (const auto& child : children) child->finish(kDeadlineSeconds);
  return bytes;
}

InputCase input_case(const base::Settings& settings) {
  InputCase bench;
  bench.file = settings.text("data");
  bench.augment = settings.text("augment");
  bench.normalize = settings.text("normalize");
  bench.batch = settings.integer("batch", 0, 1 << 20);
  if (bench.batch == 0) bench.batch = 128;
  data::check_augmentation(bench.augment);
  return bench;
}

void print_side(const char* name, double rate, double first, double memory) {
  fmt::print("{:<8} {:>14.0f} {:>16.2f} {:>12.1f}", name, rate, 1e3 * first, memory / kMegabyte);
}

}  // namespace

void bench_input(const train::Registry& registry, const base::Settings& settings) {
  InputCase bench = input_case(settings);
  const int rounds = static_cast<int>(settings.integer("repeats", 1, 10000));
  const int processes = static_cast<int>(settings.integer("processes", 1, 1024));
  kinds_of_ways(settings);
  const Peer peer = find_peer(settings, "pytorch", "input.py");
  std::optional<base::TemporaryFolder> folder;
  if (!bench.file.ends_with(data::kPackedEnding)) {
    folder.emplace("bench");
    data::DataRequest request;
    request.name = bench.file;
    request.data_dir = settings.text("data-dir");
    bench.file = (folder->path() / (std::string("data") + data::kPackedEnding)).string();
    data::write_packed(bench.file, data::open_dataset(registry.readers, request));
  }
  const base::CorePlan cores = base::plan_cores();
  std::unique_ptr<PytorchInput> pytorch;
  if (!peer.python.empty()) pytorch = std::make_unique<PytorchInput>(bench, peer, settings, cores);
  std::vector<double> rates, firsts, their_rates, their_firsts;
  std::int64_t bytes_per_sample = 0, samples = 0;
  {
    const data::DataPair pair = data::open_packed(bench.file);
    samples = pair.train->size();
    for (const data::Column& input : pair.train->columns()->inputs)
      bytes_per_sample += static_cast<std::int64_t>(input.sample_bytes());
    if (bench.batch > samples)
      base::user_error("a batch of {} from {} samples; use --batch {} or less", bench.batch, samples, samples);
    data::check_augmentation_fits(data::parse_augmentation(bench.augment), pair.train->spec().inputs);
  }
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(kSettle);
    rates.push_back(OwnInput(bench, cores).samples_per_second(kInputRoundSeconds));
    if (pytorch) their_rates.push_back(pytorch->run());
    firsts.push_back(first_batch_seconds(bench, cores));
    if (pytorch) their_firsts.push_back(pytorch->first_batch_seconds());
  }
  const double memory = memory_of_processes(bench, processes, cores);
  const auto file_bytes = static_cast<double>(fs::file_size(bench.file));
  const double rate = median(rates), first = median(firsts);

  OrderedJson json{{"data", settings.text("data")},
                   {"augment", bench.augment},
                   {"normalize", bench.normalize},
                   {"batch", bench.batch},
                   {"samples", samples},
                   {"sample_bytes", bytes_per_sample},
                   {"samples_per_second", rate},
                   {"first_batch_ms", 1e3 * first},
                   {"processes", processes},
                   {"mapping_mb", memory / kMegabyte},
                   {"file_mb", file_bytes / kMegabyte}};
  if (pytorch) {
    const double their_rate = median(their_rates), their_first = median(their_firsts);
    json["peer"] = "pytorch";
    json["peer_version"] = pytorch->best().version;
    json["peer_way"] = pytorch->best().way;
    json["peer_samples_per_second"] = their_rate;
    json["peer_first_batch_ms"] = 1e3 * their_first;
    json["peer_memory_mb"] = pytorch->best().memory_bytes / kMegabyte;
    json["ratio"] = rate / their_rate;
    json["first_batch_ratio"] = their_first / first;
    json["peer_ways"] = OrderedJson::parse(pytorch->ways_json());
  }
  if (settings.flag("json")) return fmt::print("{}\n", OrderedJson{{"results", {json}}}.dump());
  fmt::print("Batches of {} from {} ({} samples), augment {}, normalize {}, one input thread; medians of {} rounds\n",
             bench.batch, settings.text("data"), samples, bench.augment, bench.normalize, rounds);
  fmt::print("{:<8} {:>14} {:>16} {:>12}\n", "", "samples/s", "first batch ms", "memory MB");
  print_side("trireme", rate, first, memory);
  fmt::print("  the file's {:.1f} MB as {} processes hold them together\n", file_bytes / kMegabyte, processes);
  if (!pytorch) return;
  print_side("pytorch", median(their_rates), median(their_firsts), pytorch->best().memory_bytes);
  fmt::print("  one process and its workers ({})\n", pytorch->best().way);
  fmt::print("{:<8} {:>13.1f}x {:>15.1f}x\n", "ratio", json["ratio"].get<double>(),
             json["first_batch_ratio"].get<double>());
  print_unavailable(pytorch->tried(), 8);
}

void bench_reader(const train::Registry&, const base::Settings& settings) {
  const InputCase bench = input_case(settings);
  OwnInput input(bench, base::plan_cores());
  std::string line;
  while (std::getline(std::cin, line)) {
    double answer = 0;
    if (line == "first") answer = input.first_batch();
    if (line == "read") input.read_an_epoch();
    if (line == "memory") answer = mapped_bytes(getpid(), fs::path(bench.file).filename().string());
    fmt::print("{}\n", answer);
    std::fflush(stdout);
  }
}

}  // namespace trireme::bench
