// DataRequest: which data a run wants. Every reader opens what a request describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/codecs/codec.h"
#include "data/dataset/dataset.h"

namespace trireme::data {

struct DataRequest {
  std::string name{};      // a dataset of the list; with a slash, or where there is such a file: a path
  std::string data_dir{};  // where to look first; empty: TRIREME_DATA, then where packages install data
  std::uint64_t seed = 0;
  // For "synthetic": how many samples (0: 10000 and 2000), and what the model takes and gives.
  std::int64_t train_samples = 0, test_samples = 0;
  std::vector<tensor::Shape> wanted_inputs{};
  std::int64_t wanted_classes = 0;
  TargetKind wanted_target = TargetKind::classes;
  bool skip_bad = false;  // images that cannot be decoded are left out (and counted in a note) instead of refused
  CodecRegistry codecs = builtin_codecs();  // packings of files; open_dataset() puts the Readers' here
};

}  // namespace trireme::data
