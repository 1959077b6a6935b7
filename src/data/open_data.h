// The datasets by name, and files and folders of the user's own by path. A new one costs its own file and one line
// in builtin_readers().
#pragma once

#include <functional>
#include <string>

#include "base/text/registry.h"
#include "data/codecs/codec.h"
#include "data/dataset/dataset.h"
#include "data/readers/data_request.h"

namespace trireme::data {

using OpenData = std::function<DataPair(const DataRequest& request)>;
struct DatasetRow {
  std::string name, summary;
  OpenData open;
};
// A format of files and folders.
struct FormatRow {
  std::string name, summary;
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

}  // namespace trireme::data
