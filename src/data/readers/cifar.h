// CIFAR-10 and CIFAR-100, binary version: records of label bytes (CIFAR-10: the class; CIFAR-100: coarse class, fine
// class) and 3072 pixel bytes (red, green, blue; each 32 rows of 32). CIFAR-100 uses the fine class. Thread-safe.
#pragma once

#include "data/readers/data_request.h"

namespace trireme::data {

// In the folder that request.data_dir leads to.
DataPair open_cifar10(const DataRequest& request);
DataPair open_cifar100(const DataRequest& request);

}  // namespace trireme::data
