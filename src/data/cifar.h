// CIFAR-10 and CIFAR-100, binary version: records of label bytes (CIFAR-10: the class; CIFAR-100: coarse class, fine
// class) and 3072 pixel bytes (red, green, blue; each 32 rows of 32). CIFAR-100 uses the fine class.
#pragma once

#include <string>

#include "data/dataset.h"

namespace trireme::data {

DataPair open_cifar10(const std::string& data_dir);
DataPair open_cifar100(const std::string& data_dir);

}  // namespace trireme::data
