// The command line of the program: one file per verb, each with its table of options. Main thread only.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "train/experiment/registry.h"

namespace trireme::cli {

// The arguments behind a verb that are no options.
using Arguments = std::vector<std::string>;
inline std::string first_of(const Arguments& arguments) { return arguments.empty() ? std::string() : arguments[0]; }

struct Verb {
  const char* name;
  const char* summary;
  const char* examples;  // shown under the options
  std::span<const base::OptionSpec> options;
  // Placeholders of the arguments behind the verb: "what network", or "run..." for any number; empty: none is allowed.
  const char* arguments;
  // Returns the exit code.
  int (*run)(const train::Registry& registry, const base::Settings& settings, const Arguments& arguments);
  // Text appended to an option's help: the values that the registries offer.
  std::map<std::string, std::string> values{};
  // The values of the first argument that completion offers; words for internal use are left out.
  std::vector<std::string> words{};
};

inline constexpr const char* kSummary =
    "Trireme trains deep neural networks on CPUs, with the same bits on any number of threads.";
inline constexpr const char* kStart = "trireme train --model mnist-cnn --data fashion-mnist --epochs 2";
inline constexpr const char* kHelpOfHelp = "Print this help message and exit";
inline constexpr const char* kHelpOfVersion = "Display program version information and exit";

// The names in Verb::arguments, and whether the last may be repeated.
std::vector<std::string> argument_names(const Verb& verb);
bool takes_any_number(const Verb& verb);

// The help text of an option, with the values that the registries offer.
std::string help_text(const Verb& verb, const base::OptionSpec& option);

// In the order in which the help lists them.
std::vector<Verb> verbs(const train::Registry& registry);

Verb train_verb(const train::Registry& registry);
Verb init_verb();
Verb eval_verb();
Verb predict_verb();
Verb data_verb();
Verb model_verb();
Verb compare_verb();
Verb bench_verb(const train::Registry& registry);
Verb list_verb();
Verb runs_verb();
Verb watch_verb();
Verb plot_verb();
Verb report_verb();
Verb diff_verb();
Verb trace_verb();

// The hidden verb `manual DIR`: writes the man pages and the completions of bash and zsh into DIR, for installation.
void write_manual(const train::Registry& registry, const std::string& folder);

// Parses the command line, runs a verb, prints errors; returns the exit code. A user's own program adds its rows to the
// registry before the call.
int run(const train::Registry& registry, int argc, char** argv);

}  // namespace trireme::cli
