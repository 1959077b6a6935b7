// The program's command line: one file per verb, each with a table of options.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/options.h"

namespace trireme::cli {

struct Verb {
  const char* name;
  const char* summary;
  const char* examples;  // shown under the options
  std::span<const base::OptionSpec> options;
  const char* argument;  // what a word without dashes is called; empty: none is taken
  int (*run)(const base::Settings& settings, const std::string& argument);  // returns the exit code
};

// In the order in which they are listed to people.
std::vector<Verb> verbs();

Verb train_verb();
Verb eval_verb();
Verb predict_verb();
Verb data_verb();
Verb compare_verb();
Verb bench_verb();
Verb list_verb();

// Parses, runs a verb, prints what went wrong; returns the exit code.
int run(int argc, char** argv);

}  // namespace trireme::cli
