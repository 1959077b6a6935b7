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
};

// In the order in which they are listed to people.
std::vector<Verb> verbs(const train::Registry& registry);

Verb train_verb(const train::Registry& registry);
Verb eval_verb();
Verb predict_verb();
Verb data_verb();
Verb compare_verb();
Verb bench_verb(const train::Registry& registry);
Verb list_verb();

// Parses, runs a verb, prints what went wrong; returns the exit code. A program with things of its own adds them to the
// registry first.
int run(const train::Registry& registry, int argc, char** argv);

}  // namespace trireme::cli
