// The initial weights of a run: fresh, or from another run or a file (--init-from).
// One caller at a time per crew or array of weights.
#pragma once

#include <string>

#include "crew/crew.h"

namespace trireme::train {

// Initialises all weights in a style of --init.
void fill_fresh_weights(crew::Crew& crew, const std::string& style, std::uint64_t seed);
void fill_fresh_weights(const graph::Network& network, const tensor::ParameterSpace& space, std::span<float> weights,
                        const std::string& style, std::uint64_t seed);
// Copies the parameters that match by name and shape from a run's best (else last) checkpoint or a .safetensors file.
// Returns a sentence that says what was copied and what stays fresh. No match at all is a user error.
std::string take_weights_from(const tensor::ParameterSpace& space, std::span<float> weights,
                              const std::string& run_or_file);
// Loads the weights of a run for evaluation: of the best checkpoint, else the last; with `last` always the last. All
// parameters must match. Returns the checkpoint's folder.
std::string load_run_weights(crew::Crew& crew, const std::string& run, bool last);

}  // namespace trireme::train
