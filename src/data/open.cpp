#include "data/open.h"

#include <array>

#include "base/error.h"
#include "base/nearest.h"
#include "data/cifar.h"
#include "data/idx.h"
#include "data/synthetic.h"

namespace trireme::data {
namespace {

DataPair open_synthetic(const DataRequest& request) {
  if (request.train_samples < 0 || request.test_samples < 0)
    base::user_error("synthetic data of {} training and {} test samples; give at least 1 of each (0: the default)",
                     request.train_samples, request.test_samples);
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

}  // namespace

DataPair open_dataset(const DataRequest& request) {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    if (request.name == entry.name) return entry.open(request);
    names.emplace_back(entry.name);
  }
  base::user_error("{}", base::unknown_name("dataset", request.name, names));
}

std::vector<DatasetInfo> dataset_list() {
  std::vector<DatasetInfo> list;
  for (const Entry& entry : kEntries) list.push_back({entry.name, entry.description});
  return list;
}

}  // namespace trireme::data
