// Opens datasets by name, and the user's own files and folders by path. A new dataset needs its own file and one line
// in builtin_readers(). Thread-safe.
#pragma once

#include <functional>
#include <optional>
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
  // Samples without targets, to predict: the pair's sets are both all of them, with request.wanted_target 0. No value
  // where the files have targets. Optional.
  std::function<std::optional<DataPair>(const DataRequest& request)> open_unlabelled{};
  bool is_table = false;  // reads the columns that request.table and request.schema speak of
};
struct Readers {
  base::RegistryOf<DatasetRow> datasets;
  base::RegistryOf<FormatRow> formats;  // the first that fits is used
  CodecRegistry codecs;                 // the first that fits is used
};
Readers builtin_readers();

// An unknown name, missing files and damaged files are user errors.
DataPair open_dataset(const Readers& readers, DataRequest request);
// Files without targets, by path (FormatRow::open_unlabelled); no value if they have some, or if no reader knows.
std::optional<DataPair> open_unlabelled(const Readers& readers, DataRequest request);
// open_dataset() with builtin_readers().
DataPair open_dataset(const DataRequest& request);

}  // namespace trireme::data
