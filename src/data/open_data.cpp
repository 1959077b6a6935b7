#include "data/open_data.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "data/readers/checked_packed.h"
#include "data/readers/cifar.h"
#include "data/readers/idx.h"
#include "data/readers/images/image_folder.h"
#include "data/readers/images/loose_images.h"
#include "data/readers/numpy/numpy.h"
#include "data/readers/packed.h"
#include "data/readers/synthetic.h"
#include "data/readers/table/csv.h"
#include "data/readers/table/csv_unlabelled.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

// A run keeps two bits per training sample (the ledger): a quarter of a gigabyte for this many.
constexpr std::int64_t kMostSynthetic = 1'000'000'000;

DataPair open_synthetic(const DataRequest& request) {
  if (request.train_samples < 0 || request.test_samples < 0)
    base::user_error("synthetic data of {} training and {} test samples; give at least 1 of each (0: the default)",
                     request.train_samples, request.test_samples);
  if (std::max(request.train_samples, request.test_samples) > kMostSynthetic)
    base::user_error("synthetic data of {} training and {} test samples; expected at most {} of each",
                     request.train_samples, request.test_samples, kMostSynthetic);
  DataSpec spec;
  spec.inputs = request.wanted_inputs;
  if (spec.inputs.empty()) spec.inputs = {tensor::Shape{3, 32, 32}};
  spec.target = request.wanted_target;
  spec.classes = request.wanted_classes > 0 ? request.wanted_classes : 10;
  return {make_synthetic(spec, request.train_samples ? request.train_samples : 10'000, request.seed, false),
          make_synthetic(spec, request.test_samples ? request.test_samples : 2'000, request.seed, true)};
}

bool is_path(const std::string& name) {
  std::error_code ignored;
  return name.find('/') != std::string::npos || fs::exists(name, ignored);
}

// A pipe would block, and is gone once it is read.
void refuse_pipe(const std::string& name) {
  std::error_code ignored;
  if (fs::is_other(name, ignored))
    base::user_error("the data '{}' is a pipe or a device; give a file or a folder", name);
}

// Options about columns are for tables. With a schema they are those of the run, not of the data.
void refuse_table_options(const DataRequest& request) {
  if (!request.schema && !request.table.is_default())
    base::user_error(
        "'{}' is no text table; --target-column, --ignore-columns, --category-columns and --missing are for tables",
        request.name);
}

DataPair open_path(const Readers& readers, const DataRequest& request) {
  std::error_code ignored;
  if (!fs::exists(request.name, ignored))
    base::user_error("the data '{}' does not exist; give a file, a folder or a name (trireme list datasets)",
                     request.name);
  refuse_pipe(request.name);
  for (const FormatRow& format : readers.formats.rows())
    if (format.fits(request)) {
      if (!format.is_table) refuse_table_options(request);
      return format.open(request);
    }
  base::user_error("the data '{}' is of no known format; the formats are {} (trireme list datasets)", request.name,
                   base::join(readers.formats.names(), ", "));
}

}  // namespace

Readers builtin_readers() {
  base::RegistryOf<DatasetRow> datasets(
      "dataset",
      {{"mnist", "handwritten digits, 60000 + 10000 of 1x28x28, 10 classes", open_mnist},
       {"fashion-mnist", "clothes, 60000 + 10000 of 1x28x28, 10 classes (Debian: dataset-fashion-mnist)",
        open_fashion_mnist},
       {"cifar10", "photographs, 50000 + 10000 of 3x32x32, 10 classes (binary version)", open_cifar10},
       {"cifar100", "photographs, 50000 + 10000 of 3x32x32, 100 fine classes (binary version)", open_cifar100},
       {"synthetic", "made on the fly in the shape the model takes: images, spectra, several inputs", open_synthetic}});
  base::RegistryOf<FormatRow> formats(
      "format",
      {{"packed", "a file made by 'trireme data pack' (.trireme): mapped, shared by all processes of a host",
        [](const DataRequest& request) { return fs::path(request.name).extension() == kPackedEnding; },
        [](const DataRequest& request) { return open_checked_packed(request.name); }},
       {"NumPy", "a .npz file or a folder of .npy files with x_train, y_train, x_test, y_test", is_numpy, open_numpy,
        open_unlabelled_numpy},
       {"table", "a .csv, .tsv, .txt, .trn, .dat or .data file of numbers and words, with the target in a column",
        is_table, open_table, open_unlabelled_table, true},
       {"image folder", "PNG and JPEG images, one folder per class; or folders train and test (or val) of such",
        is_image_folder, open_image_folder, open_unlabelled_images},
       {"image", "one PNG or JPEG file without a label, to predict", is_image_file,
        [](const DataRequest& request) -> DataPair {
          base::user_error("{} is one image without a label; give a folder of images, one folder per class",
                           request.name);
        },
        open_unlabelled_images}});
  return {std::move(datasets), std::move(formats), builtin_codecs()};
}

DataPair open_dataset(const Readers& readers, DataRequest request) {
  request.codecs = readers.codecs;
  if (const DatasetRow* dataset = readers.datasets.find(request.name)) {
    refuse_table_options(request);
    DataPair pair = dataset->open(request);
    pair.dataset = dataset->name;
    return pair;
  }
  if (is_path(request.name)) return open_path(readers, request);
  base::user_error("{}; nor is there a file or folder of that name",
                   base::unknown_name("dataset", request.name, readers.datasets.names()));
}

std::optional<DataPair> open_unlabelled(const Readers& readers, DataRequest request) {
  request.codecs = readers.codecs;
  std::error_code ignored;
  if (readers.datasets.find(request.name) || !fs::exists(request.name, ignored)) return {};
  refuse_pipe(request.name);
  for (const FormatRow& format : readers.formats.rows())
    if (format.fits(request)) return format.open_unlabelled ? format.open_unlabelled(request) : std::nullopt;
  return {};
}

DataPair open_dataset(const DataRequest& request) { return open_dataset(builtin_readers(), request); }

}  // namespace trireme::data
