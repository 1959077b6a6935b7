#include "data/readers/idx.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "data/codecs/decompress.h"
#include "data/dataset/columns.h"
#include "data/readers/find_data.h"
#include "data/readers/load_tasks.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::uint32_t kImagesMagic = 0x00000803, kLabelsMagic = 0x00000801;
constexpr std::uint32_t kMaxCount = 10'000'000, kMaxSide = 4096;  // beyond any real IDX file: the header is damaged
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30;

const Names kTrainImages = {"train-images-idx3-ubyte", "train-images.idx3-ubyte"};
const Names kTrainLabels = {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte"};
const Names kTestImages = {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"};
const Names kTestLabels = {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"};

std::uint32_t read_big_endian(UnpackedReader& reader) {
  const auto b = reader.read_exactly(4, "a number of the IDX header");
  return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | std::uint32_t{b[3]};
}

// Checks the magic number and returns the count.
std::uint32_t read_head(UnpackedReader& reader, std::uint32_t magic, const char* what) {
  if (const std::uint32_t found = read_big_endian(reader); found != magic)
    base::user_error("{} is not an IDX file of {}: it begins with {:08x}, expected {:08x}", reader.path().string(),
                     what, found, magic);
  const std::uint32_t count = read_big_endian(reader);
  if (count == 0) base::user_error("{} is empty: its header promises 0 {}", reader.path().string(), what);
  if (count > kMaxCount)
    base::user_error("{} is damaged: its header promises {} {}, at most {} are possible", reader.path().string(), count,
                     what, kMaxCount);
  return count;
}

DataPair open_idx_folder(const FolderQuery& query, const DataRequest& request, const Names& class_names) {
  const fs::path folder = find_data_folder(query, request);
  const auto classes = static_cast<std::int64_t>(class_names.size());
  const auto file = [&](const Names& names) { return data_file(request.codecs, folder, names); };
  DataPair pair;
  run_load_tasks(
      {[&] { pair.train = read_idx(request.codecs, file(kTrainImages), file(kTrainLabels), classes, class_names); },
       [&] { pair.test = read_idx(request.codecs, file(kTestImages), file(kTestLabels), classes, class_names); }});
  if (pair.train->spec().inputs != pair.test->spec().inputs)
    base::user_error("{}: the training images are {}, the test images {}; both must have one size", folder.string(),
                     pair.train->spec().inputs[0].text(), pair.test->spec().inputs[0].text());
  return pair;
}

}  // namespace

DatasetPtr read_idx(const CodecRegistry& codecs, const fs::path& images, const fs::path& labels, std::int64_t classes,
                    Names class_names) {
  UnpackedReader image_reader(codecs, images);
  const std::uint32_t count = read_head(image_reader, kImagesMagic, "images");
  const std::uint32_t rows = read_big_endian(image_reader), columns = read_big_endian(image_reader);
  if (rows == 0 || columns == 0 || rows > kMaxSide || columns > kMaxSide)
    base::user_error("{} is damaged: images of {}x{} pixels, expected 1 ... {} each way", images.string(), rows,
                     columns, kMaxSide);
  const std::uint64_t bytes = std::uint64_t{count} * rows * columns;
  if (bytes > kMaxBytes)
    base::user_error("{} promises {} bytes of pixels, at most {} are read", images.string(), bytes, kMaxBytes);
  auto pixels = image_reader.read_exactly(bytes, "its pixels");
  image_reader.expect_end();

  UnpackedReader label_reader(codecs, labels);
  const std::uint32_t label_count = read_head(label_reader, kLabelsMagic, "labels");
  if (label_count != count)
    base::user_error("{} has {} labels but {} has {} images; the two files must belong together", labels.string(),
                     label_count, images.string(), count);
  auto values = label_reader.read_exactly(label_count, "its labels");
  label_reader.expect_end();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] >= classes)
      base::user_error("{}: label {} of sample {} is out of range, expected 0 ... {}", labels.string(), values[i], i,
                       classes - 1);
  DataSpec spec;
  spec.inputs = {tensor::Shape{1, rows, columns}};
  spec.classes = classes;
  spec.class_names = std::move(class_names);
  return image_source(std::move(spec), std::move(pixels), std::move(values));
}

DataPair open_mnist(const DataRequest& request) {
  const FolderQuery query{.name = "mnist",
                          .folders = {"mnist", "MNIST", "MNIST/raw"},
                          .files = {kTrainImages, kTrainLabels, kTestImages, kTestLabels},
                          .system_folders = {},
                          .not_in = {"fashion-mnist", "fashion_mnist", "FashionMNIST", "fashion"},
                          .advice = "name its folder with --data-dir, or use --data fashion-mnist or --data synthetic"};
  return open_idx_folder(query, request, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
}

DataPair open_fashion_mnist(const DataRequest& request) {
  const FolderQuery query{
      .name = "fashion-mnist",
      .folders = {"fashion-mnist", "fashion_mnist", "FashionMNIST", "FashionMNIST/raw", "fashion"},
      .files = {kTrainImages, kTrainLabels, kTestImages, kTestLabels},
      .system_folders = {"/usr/share/datasets/fashion-mnist"},
      .not_in = {"mnist", "MNIST"},
      .advice =
          "run 'apt-get install dataset-fashion-mnist', or name its folder with --data-dir, or use --data synthetic"};
  return open_idx_folder(
      query, request,
      {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"});
}

}  // namespace trireme::data
