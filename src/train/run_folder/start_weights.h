// Where a run's weights come from: fresh, another run or file (--init-from).
#pragma once

#include <string>

#include "crew/crew.h"

namespace trireme::train {

void fill_fresh_weights(crew::Crew& crew, const std::string& style, std::uint64_t seed);
void fill_fresh_weights(const graph::Network& network, const tensor::ParameterSpace& space, std::span<float> weights,
                        const std::string& style, std::uint64_t seed);
// Copies what fits by name and shape from a run's best (else last) checkpoint or a .safetensors file; returns a
// sentence that says what was taken and what stayed fresh. Nothing fitting is a user error.
std::string take_weights_from(const tensor::ParameterSpace& space, std::span<float> weights,
                              const std::string& run_or_file);
// The weights of a run for evaluation: the best checkpoint, else the last. Must fit entirely. Returns the checkpoint's
// folder.
std::string load_run_weights(crew::Crew& crew, const std::string& run, bool last);

}  // namespace trireme::train
