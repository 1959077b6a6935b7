// Data of your own: a Dataset, the row that gives it a name (--data NAME), and rows for formats of files (--data PATH)
// and packings of files. examples/own_reader is a complete one.
//
//   trireme::DataPair open_mine(const trireme::DataRequest& request) {
//     return {std::make_shared<MySamples>("train", request.seed), std::make_shared<MySamples>("test", request.seed)};
//   }
//   program.add_dataset({.name = "mine", .summary = "what it holds", .open = open_mine});
//
// A Dataset is immutable after construction; fetch() and view() are called from any thread. A reader that fills memory
// gives it to column_source(), and writes no class. What a dataset holds is a pure function of the request and of its
// files: every process of a run opens it for itself and must find the same.
#pragma once

#include "data/dataset/columns.h"
#include "data/dataset/dataset.h"
#include "data/open_data.h"

namespace trireme {

using data::AugmentationSeed;
using data::DataPair;
using data::DataRequest;
using data::Dataset;
using data::DatasetPtr;
using data::DataSpec;
using data::TargetKind;
using tensor::Shape;

// Rows: a dataset by name, a format of files and folders, a packing of files.
using data::Codec;
using data::CodecRow;
using data::DatasetRow;
using data::FormatRow;

// Samples as tables in memory, and the dataset over them.
using data::check_targets;
using data::Column;
using data::column_data;
using data::column_source;
using data::Columns;
using data::image_source;
using data::StoredValues;
using data::ValueType;

// One of the datasets and formats that Trireme comes with, for a reader that builds on one.
using data::open_dataset;

}  // namespace trireme
