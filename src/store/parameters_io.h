// Between a ParameterSpace's buffer in its live layout and named tensors in canonical plain form. Imports check
// everything before they change anything. Buffers of a slot of optimizer state may end with the trained parameters.
// Safe from any thread, one writer per buffer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/safetensors.h"
#include "tensor/parameter_space.h"

namespace trireme::store {

enum class Parameters { all, trained };  // trained leaves the statistics out

// In order of definition, each called prefix + its name.
[[nodiscard]] std::vector<NamedTensor> export_parameters(const tensor::ParameterSpace& space,
                                                         std::span<const float> buffer, const std::string& prefix = "",
                                                         Parameters which = Parameters::all);

// Fills the buffer from the file's tensors that start with the prefix. They must be exactly the space's parameters, by
// name and shape; anything missing, of another shape, or left over is a user error that names the first and counts all.
void import_parameters(const tensor::ParameterSpace& space, std::span<float> buffer, const SafetensorsFile& file,
                       const std::string& prefix = "", Parameters which = Parameters::all);

// Names without the prefix.
struct Matching {
  std::vector<std::string> copied;
  std::vector<std::string> skipped;  // parameters of the space that the file lacks or has in another shape
  std::vector<std::string> unused;   // tensors of the file that the space lacks or has in another shape
};

// Copies what matches by name and shape and leaves the rest of the buffer as it is: for a network whose head was
// exchanged.
[[nodiscard]] Matching import_matching(const tensor::ParameterSpace& space, std::span<float> buffer,
                                       const SafetensorsFile& file, const std::string& prefix = "");

}  // namespace trireme::store
