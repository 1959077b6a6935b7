#include "data/readers/cifar.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "data/codecs/decompress.h"
#include "data/dataset/columns.h"
#include "data/readers/find_data.h"
#include "data/readers/load_tasks.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = 3 * 32 * 32;

struct Format {
  std::size_t label_bytes;  // the last of these bytes is the class
  std::int64_t classes;
};

struct Records {
  std::vector<std::uint8_t> pixels, labels;
};

// Reads whole records to the end of the content. More than the format has in one file is a user error.
Records read_records(const CodecRegistry& codecs, const fs::path& path, const Format& format, std::size_t most) {
  UnpackedReader reader(codecs, path);
  Records records;
  std::array<std::uint8_t, kPixels + 2> record;
  const std::size_t record_bytes = format.label_bytes + kPixels;
  // Packing shrinks images to a tenth at most.
  const std::size_t expected = std::min<std::size_t>(most, 10 * fs::file_size(path) / record_bytes + 1);
  records.pixels.reserve(expected * kPixels);
  records.labels.reserve(expected);
  for (;;) {
    const std::size_t got = reader.read(record.data(), record_bytes);
    const std::size_t index = records.labels.size();
    if (got == 0) break;
    if (got < record_bytes)
      base::user_error("{} is cut short: record {} has {} bytes, expected {}; fetch or copy the file again",
                       path.string(), index, got, record_bytes);
    if (index == most)
      base::user_error("{} has more than the {} records of its format; is it another dataset?", path.string(), most);
    const std::uint8_t label = record[format.label_bytes - 1];
    if (label >= format.classes)
      base::user_error("{}: label {} of record {} is out of range, expected 0 ... {}; is it another dataset?",
                       path.string(), label, index, format.classes - 1);
    records.labels.push_back(label);
    records.pixels.insert(records.pixels.end(), record.begin() + static_cast<std::ptrdiff_t>(format.label_bytes),
                          record.begin() + static_cast<std::ptrdiff_t>(record_bytes));
  }
  if (records.labels.empty())
    base::user_error("{} is empty, expected records of {} bytes", path.string(), record_bytes);
  return records;
}

DatasetPtr join_records(std::vector<Records> parts, const DataSpec& spec) {
  Records all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Records part = std::move(parts[i]);
    all.pixels.insert(all.pixels.end(), part.pixels.begin(), part.pixels.end());
    all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
  }
  return image_source(spec, std::move(all.pixels), std::move(all.labels));
}

struct Files {
  std::vector<std::string> train;
  std::size_t train_most;  // records in one file
  std::string test;
  std::size_t test_most;
};

DataPair open_files(const CodecRegistry& codecs, const fs::path& folder, const Files& files, const Format& format,
                    std::vector<std::string> names) {
  std::vector<Records> train(files.train.size()), test(1);
  std::vector<std::function<void()>> tasks;
  const auto read = [&](const std::string& file, std::size_t most) {
    return read_records(codecs, find_packed(codecs, folder, file), format, most);
  };
  for (std::size_t i = 0; i < train.size(); ++i)
    tasks.emplace_back([&, i] { train[i] = read(files.train[i], files.train_most); });
  tasks.emplace_back([&] { test[0] = read(files.test, files.test_most); });
  run_load_tasks(tasks);

  DataSpec spec;
  spec.inputs = {tensor::Shape{3, 32, 32}};
  spec.classes = format.classes;
  if (static_cast<std::int64_t>(names.size()) == format.classes) spec.class_names = std::move(names);
  return {join_records(std::move(train), spec), join_records(std::move(test), spec)};
}

FolderQuery make_query(std::string name, std::vector<std::string> folders, const Files& files) {
  FolderQuery query;
  query.name = std::move(name);
  query.folders = std::move(folders);
  for (const std::string& file : files.train) query.files.push_back({file});
  query.files.push_back({files.test});
  query.advice = "unpack the binary version, name its folder with --data-dir, or use --data synthetic";
  return query;
}

// Class names from the file beside the data, one per line; empty if there is no such file.
std::vector<std::string> read_names(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::vector<std::string> names;
  for (std::string& line : base::split(base::read_text(path), '\n')) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) names.push_back(std::move(line));
  }
  return names;
}

}  // namespace

DataPair open_cifar10(const DataRequest& request) {
  const Files files{
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
      10'000,
      "test_batch.bin",
      10'000};
  const fs::path folder = find_data_folder(
      make_query("cifar10", {"cifar10", "cifar-10", "cifar-10-batches-bin", "CIFAR10"}, files), request);
  return open_files(request.codecs, folder, files, {1, 10},
                    {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"});
}

DataPair open_cifar100(const DataRequest& request) {
  const Files files{{"train.bin"}, 50'000, "test.bin", 10'000};
  const fs::path folder = find_data_folder(
      make_query("cifar100", {"cifar100", "cifar-100", "cifar-100-binary", "CIFAR100"}, files), request);
  return open_files(request.codecs, folder, files, {2, 100}, read_names(folder / "fine_label_names.txt"));
}

}  // namespace trireme::data
