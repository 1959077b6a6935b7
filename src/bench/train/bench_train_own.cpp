#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "base/error.h"
#include "bench/train/bench_train.h"
#include "models/zoo.h"
#include "peer/own_run.h"

namespace trireme::bench {
namespace {

using Json = nlohmann::json;

constexpr double kMicrosecond = 1e-6;

// `type`: the NumPy type string.
void write_npy(const base::fs::path& path, const char* type, const tensor::Shape& shape,
               const std::vector<char>& bytes) {
  std::string sizes;
  for (const std::int64_t size : shape.sizes()) sizes += std::to_string(size) + ", ";
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, sizes);
  constexpr std::size_t kFront = 10, kBorder = 64;
  header.append(kBorder - (kFront + header.size() + 1) % kBorder, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size() & 255)
      << static_cast<char>(header.size() >> 8) << header;
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out) base::run_error("cannot write {}", path.string());
}

// Start times of the steps of the first worker.
std::vector<double> starts_of_steps(const base::fs::path& trace) {
  std::vector<double> starts;
  int worker = -1;
  const Json events = Json::parse(base::read_text(trace.string())).at("traceEvents");
  for (const Json& event : events)
    if (event.at("name") == "process_name" &&
        event.at("args").at("name").get<std::string>().find("worker 0") != std::string::npos)
      worker = event.at("pid");
  for (const Json& event : events)
    if (event.at("name") == "step" && (worker < 0 || event.at("pid") == worker))
      starts.push_back(kMicrosecond * event.at("ts").get<double>());
  std::ranges::sort(starts);
  return starts;
}

std::vector<TrainSeconds> phases_of_steps(const base::fs::path& metrics) {
  std::vector<TrainSeconds> all;
  std::istringstream lines(base::read_text(metrics.string()));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json.at("type") != "step") continue;
    const Json& seconds = json.at("seconds");
    TrainSeconds& step = all.emplace_back();
    for (const observe::StepPhase& phase : observe::kStepPhases) step.phases.*phase.seconds = seconds.at(phase.name);
  }
  return all;
}

}  // namespace

double TrainSeconds::rest() const { return std::max(0.0, total - phases.total()); }

void write_random_dataset(const base::fs::path& folder, const models::ModelRow& info, std::int64_t samples) {
  base::fs::create_directories(folder);
  std::mt19937 random(1);
  constexpr std::int64_t kTests = 64;
  for (const auto& [part, count] : {std::pair{"train", samples}, {"test", kTests}}) {
    for (std::size_t i = 0; i < info.inputs.size(); ++i) {
      const tensor::Shape shape = info.inputs[i].with_batch(count);
      std::vector<char> values(static_cast<std::size_t>(shape.count()));
      std::ranges::generate(values, [&] { return static_cast<char>(random() & 255); });
      write_npy(folder / fmt::format("x{}_{}.npy", i + 1, part), "|u1", shape, values);
    }
    std::vector<char> labels;  // two bytes each; every class occurs, else the network would have fewer outputs
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t label = s == 0 ? info.classes - 1 : static_cast<std::int64_t>(random()) % info.classes;
      labels.insert(labels.end(), {static_cast<char>(label & 255), static_cast<char>(label >> 8)});
    }
    write_npy(folder / fmt::format("y_{}.npy", part), "<u2", tensor::Shape({count}), labels);
  }
}

TrainSeconds run_own(const TrainCase& bench, int oars, const Repetition& repetition, const base::fs::path& data,
                     const base::fs::path& run) {
  peer::TrainOptions options = bench.more;
  options.merge(peer::TrainOptions{{"model", bench.model},
                                   {"data", data.string()},
                                   {"normalize", "scale"},
                                   {"batch", std::to_string(bench.batch())},
                                   {"steps", std::to_string(repetition.all() + 1)},
                                   {"oars", std::to_string(oars)},
                                   {"workers", std::to_string(bench.world)},
                                   {"threads", std::to_string(bench.threads)},
                                   {"optimizer", "sgd:lr=0.01,momentum=0.9"},
                                   {"schedule", "constant"},
                                   {"trace", "all"},
                                   {"run", run.string()}});
  peer::run_train(options, bench.cpus);
  const std::vector<double> starts = starts_of_steps(run / "trace.json");
  std::vector<TrainSeconds> steps = phases_of_steps(run / "metrics.jsonl");
  base::check(starts.size() == steps.size() && std::ssize(steps) == repetition.all() + 1, "{} steps and {} starts",
              steps.size(), starts.size());
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) steps[i].total = starts[i + 1] - starts[i];
  const auto first = steps.begin() + repetition.warm_up, middle = first + (repetition.steps - 1) / 2;
  std::ranges::nth_element(first, middle, steps.end() - 1, {}, &TrainSeconds::total);
  base::fs::remove_all(run);
  return *middle;
}

}  // namespace trireme::bench
