// Synthetic data: samples made on the fly from random numbers, nothing stored, with a rule that can be learned. A
// sample is a pure function of (seed, train or test, index).
//   classes       every class has a smooth random pattern per input; a sample is its class's pattern, more or less
//                 strong, plus noise. All inputs of a sample carry the class. Classes take turns: index modulo classes.
//   spectra       (classes, one input of channels x length, length >= 64): absorption lines on a slope; the
//                 class is how far the whole line pattern is shifted, as a redshift bin is on a logarithmic wavelength
//                 scale.
//   labels        a hidden number per label scales that label's pattern; the label is the number's sign.
//   values        a few hidden numbers scale patterns; the targets are fixed linear functions of them.
#pragma once

#include <cstdint>

#include "data/dataset/dataset.h"

namespace trireme::data {

// The spec gives shapes, kind and length of the target. Bad sizes are user errors.
DatasetPtr make_synthetic(const DataSpec& spec, std::int64_t samples, std::uint64_t seed, bool test);

}  // namespace trireme::data
