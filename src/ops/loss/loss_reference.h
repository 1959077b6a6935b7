// Reference implementation of the losses in double. Thread-safe.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

enum class Loss { softmax_cross_entropy, sigmoid_cross_entropy, squared_error };

void loss_reference_forward(Loss loss, Reference& r);
void loss_reference_backward(Loss loss, Reference& r);

}  // namespace trireme::ops
