// The initial weights of a run: fresh, or from another run or a file (--init-from).
// One caller at a time per crew or array of weights.
#pragma once

#include <string>

#include "base/system/files.h"
#include "crew/crew.h"

namespace trireme::train {

// Initialises all weights in a style of --init.
void fill_fresh_weights(crew::Crew& crew, const std::string& style, std::uint64_t seed);
void fill_fresh_weights(const graph::Network& network, const tensor::ParameterSpace& space, std::span<float> weights,
                        const std::string& style, std::uint64_t seed);
// Copies the parameters that match by name and shape from a run's best (else last) checkpoint or a .safetensors file.
// Returns a sentence that says what was copied and what stays fresh, and the names of these. No match at all is a user
// error.
std::string take_weights_from(const tensor::ParameterSpace& space, std::span<float> weights,
                              const std::string& run_or_file, std::vector<std::string>* fresh_names = nullptr);

// A checkpoint of a run. `which` is auto (the best, or the last of a run that chose none), best or last; one that does
// not exist is a user error.
struct ChosenCheckpoint {
  base::fs::path folder;
  bool is_best = false;
};
ChosenCheckpoint chosen_checkpoint(const std::string& run, const std::string& which);
// Loads a checkpoint's weights for evaluation. All parameters must match.
void load_run_weights(crew::Crew& crew, const base::fs::path& checkpoint);

}  // namespace trireme::train
