// Copies parameters between a ParameterSpace's buffer in live layout and named tensors in canonical plain form.
// Safe from any thread; one writer per buffer.
// Imports check everything before they change anything. A buffer that holds a slot of optimizer state may end after the
// trained parameters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/safetensors.h"
#include "tensor/parameter_space.h"

namespace trireme::store {

enum class Parameters { all, trained };  // trained leaves the statistics out

// Tensors in order of definition; each is named prefix + parameter name.
[[nodiscard]] std::vector<NamedTensor> export_parameters(const tensor::ParameterSpace& space,
                                                         std::span<const float> buffer, const std::string& prefix = "",
                                                         Parameters which = Parameters::all);

// Fills the buffer from the file's tensors whose names start with the prefix. They must be exactly the space's
// parameters, by name and shape. A missing tensor, another shape or an extra tensor is a user error, which names the
// first difference and the number of all.
void import_parameters(const tensor::ParameterSpace& space, std::span<float> buffer, const SafetensorsFile& file,
                       const std::string& prefix = "", Parameters which = Parameters::all);

// What import_matching() did; names without the prefix.
struct Matching {
  std::vector<std::string> copied;
  std::vector<std::string> skipped;  // parameters of the space that the file lacks or has in another shape
  std::vector<std::string> unused;   // tensors of the file that the space lacks or has in another shape
};

// Copies the tensors that match by name and shape and leaves the rest of the buffer unchanged: for a network whose head
// was replaced.
[[nodiscard]] Matching import_matching(const tensor::ParameterSpace& space, std::span<float> buffer,
                                       const SafetensorsFile& file, const std::string& prefix = "");

}  // namespace trireme::store
