#include <fmt/core.h>

#include <array>
#include <functional>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "comm/builtin_transports.h"

namespace trireme::cli {
namespace {

using Option = base::OptionSpec;

constexpr std::array kBenchOptions{
    Option{"What to measure", "model", "NAMES", "all",
           "networks of the zoo or files (FILE.toml, FILE.json), separated by commas; all: the rows of the studies"},
    Option{"What to measure", "batch", "N", "0",
           "samples of a step, of each process; 0: a worker's batch in the studies"},
    Option{"What to measure", "threads", "LIST", "1", "numbers of threads, separated by commas"},
    Option{"What to measure", "oars", "V", "0",
           "micro-batches of a step; 0: as many as threads (train: of all processes, and as many as train takes by "
           "itself)"},
    Option{"What to measure", "reduce", "exact|fast|both", "exact",
           "how gradients are added; both: in turns, with the cost of exact"},
    Option{"What to measure", "data", "NAME", "cifar10", "dataset, file or folder (input)"},
    Option{"What to measure", "data-dir", "DIR", "", "where the dataset lies; else TRIREME_DATA (input)"},
    Option{"What to measure", "augment", "LIST", "crop,flip", "what happens to each sample (input)"},
    Option{"What to measure", "normalize", "KIND", "standard", "standard, mean, scale or none (input)"},
    Option{"What to measure", "processes", "N", "4", "readers of one host whose memory is looked at (input)"},
    Option{"What to measure", "world", "LIST", "2", "numbers of processes (train, collective)"},
    Option{"What to measure", "bytes", "LIST", "4096,44000000", "bytes of float32 to reduce (collective)"},
    Option{"What to measure", "transport", "LIST", "shm", "what carries messages between processes"},
    Option{"What to measure", "algorithm", "LIST", "auto",
           "auto, direct, whole, ring, halving, tree, hierarchical, or exact: the oar tree's sum (collective)"},
    Option{"What to measure", "partials", "N", "1", "subtrees of a rank at most, for exact (collective)"},
    Option{"What to measure", "idle-seconds", "S", "0",
           "also what a group takes that does nothing for so long (collective)"},
    Option{"What to measure", "kernel-table", "FILE", "", "which algorithm layers get, as written by --tune"},
    Option{"What to measure", "isa", "NAME", "auto", "instruction set: auto, avx512, avx2 or generic"},
    Option{"Against whom", "peer", "NAME", "", "the same in another system: pytorch, for collective gloo or mpi"},
    Option{"Against whom", "python", "PROGRAM", "",
           "interpreter with PyTorch; else TRIREME_PYTHON, else python3 or /usr/bin/python3"},
    Option{"Against whom", "peer-ways", "LIST", "all",
           "ways of PyTorch that are tried: all, plain, or some of layout, in-place, allocator, pin, compile, bf16"},
    Option{"How", "repeats", "N", "7", "rounds; each side runs a few steps in each, medians count"},
    Option{"How", "profile", "", "no", "also the time by kind of op and by layer, against the roofline (step)"},
    Option{"How", "tune", "FILE", "",
           "instead, measure each algorithm of each layer and write the fastest into a new kernel table (step)"},
    Option{"How", "plot", "FILE", "",
           "also draw it, as SVG: the parts of a step (train), bandwidth over bytes (collective)"},
    Option{"How", "json", "", "no", "print the results as one JSON object"},
};

struct BenchCommand {
  const char* name;
  void (*run)(const train::Registry& registry, const base::Settings& settings);
  bool plots = false;   // takes --plot
  bool offered = true;  // false: processes that a bench starts
};

constexpr std::array kBenchCommands{BenchCommand{"step", bench::bench_step},
                                    BenchCommand{"train", bench::bench_train, true},
                                    BenchCommand{"input", bench::bench_input},
                                    BenchCommand{"collective", bench::bench_collective, true},
                                    BenchCommand{"roofline", bench::bench_roofline},
                                    BenchCommand{"memory", bench::bench_memory},
                                    BenchCommand{"reader", bench::bench_reader, false, false},
                                    BenchCommand{"rank", bench::bench_rank, false, false}};

std::vector<std::string> bench_command_names(bool offered_only) {
  std::vector<std::string> names;
  for (const BenchCommand& each : kBenchCommands)
    if (each.offered || !offered_only) names.emplace_back(each.name);
  return names;
}

int run_bench(const train::Registry& registry, const base::Settings& settings, const Arguments& arguments) {
  const std::string word = first_of(arguments);
  for (const BenchCommand& each : kBenchCommands) {
    if (word != each.name) continue;
    if (!each.plots && !settings.text("plot").empty())
      base::user_error("--plot draws what bench train and bench collective measure; bench {} has no picture", word);
    each.run(registry, settings);
    return 0;
  }
  if (word.empty()) base::user_error("say what to measure: {}", base::join_or(bench_command_names(true)));
  base::user_error("{}", base::unknown_name("bench of", word, bench_command_names(false)));
}

// The allowed values of --transport, for the help.
std::string benched_transports(const comm::Transports& transports) {
  return fmt::format("{} (train), {} (collective)",
                     base::join_or(comm::offered_names(transports, &comm::Offers::bench_train)),
                     base::join_or(comm::offered_names(transports, &comm::Offers::bench_collective)));
}

}  // namespace

Verb bench_verb(const train::Registry& registry) {
  return {
      "bench",
      "measure the training step, the input pipeline and collectives, also against PyTorch, and the machine's roofline",
      "Examples:\n"
      "  trireme bench step --model lenet5,resnet18 --peer pytorch\n"
      "  trireme bench step --model resnet50-cifar --threads 1,2,4 --reduce both\n"
      "  trireme bench step --model densenet40-12 --profile\n"
      "  trireme bench step --model resnet18-cifar --tune my.table\n"
      "  trireme bench train --model lenet5,resnet18 --world 1,2 --peer pytorch --plot steps.svg\n"
      "  trireme bench input --data cifar10 --augment crop,flip --peer pytorch\n"
      "  trireme bench collective --world 2,4 --transport shm,tcp --peer gloo\n"
      "  trireme bench roofline --threads 1,2",
      kBenchOptions,
      "what",
      run_bench,
      {{"transport", benched_transports(registry.transports)}},
      bench_command_names(true)};
}

}  // namespace trireme::cli
