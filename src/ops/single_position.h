// A convolution whose output is one position: each tap that does not fall on padding is a dense layer over the channels
// at its own input position, and the output is their sum. The other taps' gradient is zero. (The last stage of the
// ImageNet ResNets on 32 x 32 images: a 3 x 3 on a 1 x 1 map is its centre tap.)
#pragma once

#include "ops/conv.h"

namespace trireme::ops {

// Whether that is what the convolution comes to. `options` are complete (a stride and padding for each kernel size).
bool is_single_position(const ConvOptions& options, const Shape& src, const Shape& out);

// REQUIRES: is_single_position(). The weights lie tap by tap, each as plain rows of inputs; null when the request fixes
// them otherwise.
std::unique_ptr<Kernel> make_single_position(const KernelRequest& request, const ConvOptions& options,
                                             const Shape& out);

}  // namespace trireme::ops
