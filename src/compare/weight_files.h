// Compares the weights of two files, tensor by tensor. Thread-safe.
#pragma once

#include "compare/levels/verdict.h"

namespace trireme::compare {

// Pairs tensors by name, or by position if no name is in both. One row each, with a limit of zero: passes if all bits
// are equal.
Level compare_weights(const Tensors& a, const Tensors& b);

}  // namespace trireme::compare
