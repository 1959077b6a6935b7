// DataRequest: which data a run wants; the argument of every reader.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/codecs/codec.h"
#include "data/dataset/dataset.h"
#include "data/dataset/image_options.h"

namespace trireme::data {

// How missing values are read: refused, or filled with the column's mean or with 0.
enum class MissingValues { refuse, mean, zero };

struct TableOptions {
  // Columns by their names in the header, or by number from 1.
  std::vector<std::string> targets{}, ignored{}, categories{};
  MissingValues missing = MissingValues::refuse;

  bool is_default() const {
    return targets.empty() && ignored.empty() && categories.empty() && missing == MissingValues::refuse;
  }
};

struct DataRequest {
  std::string name{};      // a dataset of the list; a path if it has a slash or such a file exists
  std::string data_dir{};  // where to look first; empty: TRIREME_DATA, then where packages install data
  std::uint64_t seed = 0;
  // For "synthetic": the number of samples (0: 10000 and 2000), and the model's inputs and target.
  std::int64_t train_samples = 0, test_samples = 0;
  std::vector<tensor::Shape> wanted_inputs{};
  std::int64_t wanted_classes = 0;
  TargetKind wanted_target = TargetKind::classes;
  // To evaluate or predict, not to train: data without a test set of its own is not divided, all of it is both sets.
  bool whole = false;
  ImageOptions images{};  // how files of images are read
  bool skip_bad = false;  // leave out images that cannot be decoded (a note counts them) instead of failing
  TableOptions table{};   // what the user says about the columns of a table
  std::shared_ptr<const TableSchema> schema{};  // of a run, whose columns a table must have; null: they are found
  CodecRegistry codecs = builtin_codecs();      // how files may be packed; open_dataset() sets the Readers' codecs
};

}  // namespace trireme::data
