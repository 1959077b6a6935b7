// Reference implementation of the activations in double. Thread-safe.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

enum class Activation { relu, tanh, sigmoid };

void activation_reference_forward(Activation activation, Reference& r);
void activation_reference_backward(Activation activation, Reference& r);  // from r.dst

}  // namespace trireme::ops
