// Reshapes an array of samples into a network's input or target. Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "data/readers/data_request.h"
#include "data/readers/numpy/npy.h"

namespace trireme::data {

// Gives the array (N x ...) the network's shape: adds a channel to plain images, moves channels to the front, reshapes
// to `wanted` where the values fit it (null: unknown). Describes moved dimensions in `notes`. Values that are not
// finite are user errors.
void shape_input(NumpyArray& array, const tensor::Shape* wanted, std::vector<std::string>& notes);

// Makes the array N x 1 (classes) or N x K.
void shape_target(NumpyArray& array, TargetKind kind);

}  // namespace trireme::data
