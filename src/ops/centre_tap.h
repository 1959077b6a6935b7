// A convolution on maps of one position with "same" padding: all taps but the middle one only ever see padding, so it
// is a 1 x 1 convolution with the middle tap, and the gradient of the others is zero.
#pragma once

#include "ops/conv.h"

namespace trireme::ops {

// True when that is what the convolution comes to. `options` are complete (a stride and padding for each kernel size).
bool is_centre_tap(const ConvOptions& options, const Shape& src);

// REQUIRES: is_centre_tap(). The weights lie tap by tap, each as the 1 x 1 kernel wants it.
std::unique_ptr<Kernel> make_centre_tap(const KernelRequest& request, const ConvOptions& options);

}  // namespace trireme::ops
