// Synthetic data: samples generated on the fly by a rule that can be learned; nothing is stored. A sample is a pure
// function of (seed, train or test, index). Immutable; thread-safe.
//   classes       each class has a smooth random pattern per input; a sample is the pattern of its class at a
//                 random strength, plus noise. All inputs of a sample show the same class. Class = index modulo
//                 classes.
//   spectra       (classes, one input of channels x length, length >= 64): absorption lines on a slope; the class is
//                 the shift of the whole line pattern, like a redshift bin on a logarithmic wavelength scale.
//   labels        a hidden number per label scales the label's pattern; the label is the number's sign.
//   values        a few hidden numbers scale patterns; the targets are fixed linear functions of these numbers.
#pragma once

#include <cstdint>

#include "data/dataset/dataset.h"

namespace trireme::data {

// The spec gives the input shapes and the kind and length of the target. Bad sizes are user errors.
DatasetPtr make_synthetic(const DataSpec& spec, std::int64_t samples, std::uint64_t seed, bool test);

}  // namespace trireme::data
