// Opens datasets by name, and the user's own files and folders by path. A new dataset needs its own file and one line
// in builtin_readers(). Thread-safe.
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
// A format of the user's own files and folders.
struct FormatRow {
  std::string name, summary;
  std::function<bool(const DataRequest& request)> fits;
  OpenData open;
};
struct Readers {
  base::RegistryOf<DatasetRow> datasets;
  base::RegistryOf<FormatRow> formats;  // the first that fits is used
  CodecRegistry codecs;                 // the first that fits is used
};
Readers builtin_readers();

// An unknown name, missing files and damaged files are user errors.
DataPair open_dataset(const Readers& readers, DataRequest request);
// The same with builtin_readers().
DataPair open_dataset(const DataRequest& request);

}  // namespace trireme::data
