#include "data/readers/images/loose_images.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "data/dataset/columns.h"
#include "data/readers/images/image_column.h"
#include "data/readers/images/image_list.h"

namespace trireme::data {

namespace fs = std::filesystem;

bool is_image_file(const DataRequest& request) {
  std::error_code ignored;
  return is_image_name(request.name) && !fs::is_directory(request.name, ignored);
}

DataPair open_loose_images(const std::vector<fs::path>& files, const DataRequest& request) {
  if (request.wanted_inputs.size() != 1 || request.wanted_inputs[0].rank() != 3 ||
      (request.wanted_inputs[0][0] != 1 && request.wanted_inputs[0][0] != 3))
    base::user_error("{}: images have 1 or 3 colours, but the network does not take such samples", request.name);
  for (const fs::path& file : files) {  // a name that is wrong is no damaged image
    std::error_code ignored;
    if (!fs::exists(file, ignored)) base::user_error("{} (of {}) does not exist", file.string(), request.name);
  }
  const tensor::Shape& shape = request.wanted_inputs[0];
  ImageColumn column = decode_images(files, {shape, request.images, request.name, request.skip_bad});
  struct Memory {
    std::unique_ptr<std::uint8_t[]> pixels;
  };
  const auto memory = std::make_shared<const Memory>(Memory{std::move(column.pixels)});
  Columns columns{0, {}, {}, memory};
  columns.inputs = {{shape, ValueType::byte, reinterpret_cast<const std::byte*>(memory->pixels.get())}};
  for (std::size_t i = 0; i < files.size(); ++i)
    if (column.good[i]) columns.origins.push_back(files[i].string());
  columns.samples = static_cast<std::int64_t>(columns.origins.size());
  if (columns.samples == 0)
    base::user_error("no image of {} can be read: {}", request.name,
                     files.size() == 1 ? "it is damaged" : fmt::format("all {} are damaged", files.size()));
  const DatasetPtr samples = source_without_targets(
      {request.wanted_inputs, request.wanted_target, request.wanted_classes, {}}, std::move(columns));
  return {samples, samples, std::move(column.notes)};
}

std::optional<DataPair> open_unlabelled_images(const DataRequest& request) {
  if (is_image_file(request)) return open_loose_images({request.name}, request);
  if (!has_images_inside(request.name) || !folders_in(request.name).empty()) return {};
  std::int64_t ignored = 0;
  DataPair pair = open_loose_images(images_in(request.name, ignored), request);
  if (ignored > 0)
    pair.notes.push_back(fmt::format("{} files in {} are hidden or no images and were ignored", ignored, request.name));
  return pair;
}

}  // namespace trireme::data
