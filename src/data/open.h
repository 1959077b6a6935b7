// The datasets by name, and files and folders of the user's own by path. A new one costs its own file and one line
// in builtin_readers().
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/text/registry.h"
#include "data/codecs/codec.h"
#include "data/dataset.h"

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

using OpenData = std::function<DataPair(const DataRequest& request)>;
struct DatasetRow {
  std::string name, description;
  OpenData open;
};
// A format of files and folders.
struct FormatRow {
  std::string name, description;
  std::function<bool(const DataRequest& request)> fits;
  OpenData open;
};
struct Readers {
  base::RegistryOf<DatasetRow> datasets;
  base::RegistryOf<FormatRow> formats;  // the first that fits is taken
  CodecRegistry codecs;                 // likewise
};
Readers builtin_readers();

// An unknown name, missing files and damaged files are user errors.
DataPair open_dataset(const Readers& readers, DataRequest request);
// With what the program comes with.
DataPair open_dataset(const DataRequest& request);

// Part of the samples as the test set, chosen by the seed, where files have none of their own; with a note that says
// so.
DataPair with_test_share(const DatasetPtr& all, std::uint64_t seed);

}  // namespace trireme::data
