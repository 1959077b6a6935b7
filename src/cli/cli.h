// The program's command line: one file per verb, each with a table of options.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "train/experiment/registry.h"

namespace trireme::cli {

struct Verb {
  const char* name;
  const char* summary;
  const char* examples;  // shown under the options
  std::span<const base::OptionSpec> options;
  const char* argument;  // what a word without dashes is called; empty: none is taken
  // Returns the exit code.
  int (*run)(const train::Registry& registry, const base::Settings& settings, const std::string& argument);
  // What the help of an option ends with, where registries say which values there are.
  std::map<std::string, std::string> values{};
  // The values of `argument`, for completion; words that are for the program itself are left out.
  std::vector<std::string> words{};
};

inline constexpr const char* kSummary =
    "Trireme trains deep neural networks on CPUs, with the same bits on any number of threads.";
inline constexpr const char* kStart = "trireme train --model mnist-cnn --data fashion-mnist --epochs 2";
inline constexpr const char* kHelpOfHelp = "Print this help message and exit";
inline constexpr const char* kHelpOfVersion = "Display program version information and exit";

// What the help of an option says.
std::string help_text(const Verb& verb, const base::OptionSpec& option);

// In the order in which they are listed to people.
std::vector<Verb> verbs(const train::Registry& registry);

Verb train_verb(const train::Registry& registry);
Verb eval_verb();
Verb predict_verb();
Verb data_verb();
Verb compare_verb();
Verb bench_verb(const train::Registry& registry);
Verb list_verb();

// The hidden verb `manual DIR`: writes the man pages and the completions of bash and zsh into DIR, for the
// installation.
void write_manual(const train::Registry& registry, const std::string& folder);

// Parses, runs a verb, prints what went wrong; returns the exit code. A program with things of its own adds them to the
// registry first.
int run(const train::Registry& registry, int argc, char** argv);

}  // namespace trireme::cli
