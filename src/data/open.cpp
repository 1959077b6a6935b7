#include "data/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "data/cifar.h"
#include "data/idx.h"
#include "data/image_folder.h"
#include "data/numpy.h"
#include "data/packed.h"
#include "data/subset.h"
#include "data/synthetic.h"
#include "data/table.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

// A run notes of each training sample whether it was used: of so many, in a quarter of a gigabyte.
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

struct Entry {
  const char* name;
  const char* description;
  DataPair (*open)(const DataRequest& request);
};

constexpr std::array kEntries = {
    Entry{"mnist", "handwritten digits, 60000 + 10000 of 1x28x28, 10 classes",
          [](const DataRequest& r) { return open_mnist(r.data_dir); }},
    Entry{"fashion-mnist", "clothes, 60000 + 10000 of 1x28x28, 10 classes (Debian: dataset-fashion-mnist)",
          [](const DataRequest& r) { return open_fashion_mnist(r.data_dir); }},
    Entry{"cifar10", "photographs, 50000 + 10000 of 3x32x32, 10 classes (binary version)",
          [](const DataRequest& r) { return open_cifar10(r.data_dir); }},
    Entry{"cifar100", "photographs, 50000 + 10000 of 3x32x32, 100 fine classes (binary version)",
          [](const DataRequest& r) { return open_cifar100(r.data_dir); }},
    Entry{"synthetic", "made on the fly in the shape the model takes: images, spectra, several inputs", open_synthetic},
};

struct Format {
  const char* name;
  const char* description;
  bool (*fits)(const fs::path& path);
  DataPair (*open)(const DataRequest& request);
};

constexpr std::array kFormats = {
    Format{"packed", "a file made by 'trireme data pack' (.trireme): mapped, shared by all processes of a host",
           [](const fs::path& path) { return path.extension() == kPackedEnding; },
           [](const DataRequest& r) { return open_packed(r.name); }},
    Format{"NumPy", "a .npz file or a folder of .npy files with x_train, y_train, x_test, y_test", is_numpy,
           open_numpy},
    Format{"table", "a .csv, .tsv, .txt, .trn, .dat or .data file of numbers, the target in the last column", is_table,
           open_table},
    Format{"image folder", "PNG and JPEG images, one folder per class; or folders train and test (or val) of such",
           is_image_folder, open_image_folder},
};

bool is_path(const std::string& name) {
  std::error_code ignored;
  return name.find('/') != std::string::npos || fs::exists(name, ignored);
}

DataPair open_path(const DataRequest& request) {
  std::error_code ignored;
  if (!fs::exists(request.name, ignored))
    base::user_error("the data '{}' does not exist; give a file, a folder or a name (trireme list datasets)",
                     request.name);
  for (const Format& format : kFormats)
    if (format.fits(request.name)) return format.open(request);
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  base::user_error("the data '{}' is of no known format; the formats are {} (trireme list datasets)", request.name,
                   base::join(names, ", "));
}

constexpr double kTestShare = 0.2;

}  // namespace

DataPair with_test_share(const DatasetPtr& all, std::uint64_t seed) {
  DataPair pair = split_validation(all, kTestShare, seed);
  pair.notes.push_back(fmt::format("the data has no test set of its own: {} of {} samples, chosen by the seed, serve",
                                   pair.test->size(), all->size()));
  return pair;
}

DataPair open_dataset(const DataRequest& request) {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    if (request.name == entry.name) return entry.open(request);
    names.emplace_back(entry.name);
  }
  if (is_path(request.name)) return open_path(request);
  base::user_error("{}", base::unknown_name("dataset", request.name, names));
}

std::vector<DatasetInfo> dataset_list() {
  std::vector<DatasetInfo> list;
  for (const Entry& entry : kEntries) list.push_back({entry.name, entry.description});
  return list;
}

std::vector<DatasetInfo> format_list() {
  std::vector<DatasetInfo> list;
  for (const Format& format : kFormats) list.push_back({format.name, format.description});
  return list;
}

}  // namespace trireme::data
