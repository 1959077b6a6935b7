// Weights in files of any origin, tensor by tensor.
#pragma once

#include <string>

#include "compare/levels/verdict.h"

namespace trireme::compare {

// .safetensors or .npz; anything else, or a damaged file, is a user error.
Tensors read_weights(const std::string& path);

// Tensors of the same name, or, where no name is in both, of the same place. A row for each, with a limit of zero:
// passes when all bits are equal.
Level compare_weights(const Tensors& a, const Tensors& b);

}  // namespace trireme::compare
