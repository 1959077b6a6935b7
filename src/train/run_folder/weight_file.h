// Reads weights from files of any origin: .safetensors, and .npz as numpy.savez writes it. Thread-safe.
#pragma once

#include "base/system/files.h"
#include "store/safetensors.h"

namespace trireme::train {

// Other or damaged files are user errors; for the formats of PyTorch, Keras and ONNX they say how to convert them.
store::SafetensorsFile read_weight_file(const base::fs::path& path);

}  // namespace trireme::train
