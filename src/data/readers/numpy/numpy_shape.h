// How an array of samples becomes an input or a target of a network.
#pragma once

#include <string>
#include <vector>

#include "data/readers/data_request.h"
#include "data/readers/numpy/npy.h"

namespace trireme::data {

// Gives the array (N x ...) the shape the network takes: a channel for plain images, channels in front, what `wanted`
// says where the values fit it (null: nothing is known). Says in `notes` what was moved. Values that are not
// finite are user errors.
void shape_input(NumpyArray& array, const tensor::Shape* wanted, std::vector<std::string>& notes);

// Makes the array N x 1 (classes) or N x K.
void shape_target(NumpyArray& array, TargetKind kind);

}  // namespace trireme::data
