#include "data/readers/images/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "data/dataset/columns.h"
#include "data/readers/images/image_column.h"
#include "data/readers/images/image_list.h"
#include "data/readers/test_share.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

struct Layout {
  fs::path train;
  std::optional<fs::path> test;
  std::vector<std::string> notes;
};

bool is_existing_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The folder of that name, in upper or lower case; empty if there is none.
fs::path folder_called(const fs::path& root, const std::string& name) {
  if (is_existing_folder(root / name)) return root / name;
  for (const fs::path& folder : folders_in(root)) {
    std::string lower = folder.filename().string();
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower == name) return folder;
  }
  return {};
}

// "train" may also be the name of a class. It is the training set if a test set lies beside it, or if it contains
// folders instead of images.
Layout find_layout(const fs::path& root) {
  Layout layout;
  for (const char* name : {"test", "testing", "val", "valid", "validation"}) {
    const fs::path folder = folder_called(root, name);
    if (folder.empty()) continue;
    if (layout.test)
      layout.notes.push_back(fmt::format("the folder {} is not used, {} is the test set", folder.string(),
                                         layout.test->filename().string()));
    else
      layout.test = folder;
  }
  for (const char* name : {"train", "training"})
    if (layout.train.empty()) layout.train = folder_called(root, name);
  if (!layout.train.empty() && (layout.test || (!has_images_inside(layout.train) && !folders_in(layout.train).empty())))
    return layout;
  return {root, {}, {}};
}

// Renumbers the labels of the test set by the training set's classes.
void number_as(ImageList& test, const std::vector<std::string>& class_names, const fs::path& folder) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : test.class_names) {
    const auto found = std::find(class_names.begin(), class_names.end(), name);
    if (found == class_names.end())
      base::user_error("the class folder {} has no counterpart in the training set; its classes are {}",
                       (folder / name).string(), base::join(class_names, ", "));
    numbers.push_back(found - class_names.begin());
  }
  for (std::int64_t& label : test.labels) label = numbers[static_cast<std::size_t>(label)];
  test.class_names = class_names;
}

std::optional<tensor::Shape> wanted_shape(const DataRequest& request) {
  if (request.wanted_inputs.empty() || request.wanted_inputs[0].rank() != 3) return {};
  const tensor::Shape& shape = request.wanted_inputs[0];
  if (shape[0] != 1 && shape[0] != 3)
    base::user_error("the images of {} have 1 or 3 colours, but the network takes {}", request.name, shape.text());
  return shape;
}

// Makes both datasets from the images of both sets.
DataPair make_pair(const DataRequest& request, ImageColumn column, const ImageList& all, std::size_t train_files) {
  const auto kept_of = [&](std::size_t begin, std::size_t end) {
    return std::count(column.good.begin() + static_cast<std::ptrdiff_t>(begin),
                      column.good.begin() + static_cast<std::ptrdiff_t>(end), true);
  };
  const std::int64_t train = kept_of(0, train_files), test = kept_of(train_files, all.files.size());
  struct Memory {
    std::unique_ptr<std::uint8_t[]> pixels;
    std::vector<float> labels;
  };
  const auto memory = std::make_shared<Memory>();
  std::vector<std::string> origins;  // of the good images
  for (std::size_t i = 0; i < all.files.size(); ++i)
    if (column.good[i]) {
      memory->labels.push_back(static_cast<float>(all.labels[i]));
      origins.push_back(all.files[i].string());
    }
  for (std::size_t label = 0; label < all.class_names.size(); ++label)
    if (std::find(memory->labels.begin(), memory->labels.begin() + train, static_cast<float>(label)) ==
        memory->labels.begin() + train)
      base::user_error("{}: no image of the class '{}' can be read", request.name, all.class_names[label]);
  memory->pixels = std::move(column.pixels);

  DataSpec spec;
  spec.inputs = {column.shape};
  spec.classes = static_cast<std::int64_t>(all.class_names.size());
  spec.class_names = all.class_names;
  const auto part = [&](std::int64_t first, std::int64_t samples) -> DatasetPtr {
    Columns columns{samples, {}, {}, memory};
    const Column pixels{column.shape, ValueType::byte, reinterpret_cast<const std::byte*>(memory->pixels.get())};
    columns.inputs = {{pixels.shape, pixels.type, pixels.at(first)}};
    columns.target = {{1}, ValueType::real, reinterpret_cast<const std::byte*>(memory->labels.data() + first)};
    columns.origins.assign(origins.begin() + first, origins.begin() + first + samples);
    return column_source(spec, std::move(columns));
  };
  if (train_files == all.files.size()) return with_test_share(part(0, train), request);
  if (test == 0) base::user_error("{}: no image of the test set can be read", request.name);
  return {part(0, train), part(train, test), {}};
}

}  // namespace

bool is_image_folder(const DataRequest& request) {
  const fs::path path = request.name;
  if (!is_existing_folder(path)) return false;
  std::error_code ignored;
  return fs::is_empty(path, ignored) || has_images_inside(path) || !folders_in(path).empty();
}

DataPair open_image_folder(const DataRequest& request) {
  Layout layout = find_layout(request.name);
  ImageList all = list_images(layout.train);
  const std::size_t train_files = all.files.size();
  if (layout.test) {
    ImageList test = list_images(*layout.test);
    number_as(test, all.class_names, *layout.test);
    std::move(test.files.begin(), test.files.end(), std::back_inserter(all.files));
    all.labels.insert(all.labels.end(), test.labels.begin(), test.labels.end());
    all.ignored += test.ignored;
  }
  ImageColumn column =
      decode_images(all.files, {wanted_shape(request), request.images, request.name, request.skip_bad});
  ImageOptions images = request.images;
  if (column.chosen_size) images.size = column.chosen_size;
  if (all.ignored > 0)
    layout.notes.push_back(
        fmt::format("{} files in {} are hidden or no images and were ignored", all.ignored, request.name));
  std::move(column.notes.begin(), column.notes.end(), std::back_inserter(layout.notes));
  DataPair pair = make_pair(request, std::move(column), all, train_files);
  pair.notes.insert(pair.notes.begin(), layout.notes.begin(), layout.notes.end());
  pair.images = images;
  return pair;
}

}  // namespace trireme::data
