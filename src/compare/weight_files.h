// Compares weight files of any origin, tensor by tensor. Thread-safe.
#pragma once

#include <string>

#include "compare/levels/verdict.h"

namespace trireme::compare {

// Reads .safetensors or .npz; other or damaged files are user errors.
Tensors read_weights(const std::string& path);

// Pairs tensors by name, or by position if no name is in both. One row each, with a limit of zero: passes if all bits
// are equal.
Level compare_weights(const Tensors& a, const Tensors& b);

}  // namespace trireme::compare
