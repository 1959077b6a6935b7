// The command line of the program: one file per verb, each with its table of options. Main thread only.
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
  const char* argument;  // placeholder for the positional argument; empty: none is allowed
  // Returns the exit code.
  int (*run)(const train::Registry& registry, const base::Settings& settings, const std::string& argument);
  // Text appended to an option's help: the values that the registries offer.
  std::map<std::string, std::string> values{};
};

// In the order in which the help lists them.
std::vector<Verb> verbs(const train::Registry& registry);

Verb train_verb(const train::Registry& registry);
Verb eval_verb();
Verb predict_verb();
Verb data_verb();
Verb compare_verb();
Verb bench_verb(const train::Registry& registry);
Verb list_verb();

// Parses the command line, runs a verb, prints errors; returns the exit code. A user's own program adds its rows to the
// registry before the call.
int run(const train::Registry& registry, int argc, char** argv);

}  // namespace trireme::cli
