// The worked example of CONTRIBUTING.md for a reader: files *.tiny of records of five bytes, a class 0 … 9 and an image
// of 2x2 grey pixels.
#pragma once

#include "base/error.h"
#include "base/system/files.h"
#include "data/dataset/columns.h"
#include "data/open_data.h"
#include "data/readers/test_share.h"

namespace trireme::own_parts {

inline data::DataPair open_tiny(const data::DataRequest& request) {
  constexpr std::size_t kPixels = 4, kRecord = kPixels + 1;
  constexpr std::uint8_t kClasses = 10;
  const std::string bytes = base::read_text(request.name);
  if (bytes.empty() || bytes.size() % kRecord != 0)
    base::user_error("{} has {} bytes, expected records of {}", request.name, bytes.size(), kRecord);
  std::vector<std::uint8_t> pixels, labels;
  for (std::size_t at = 0; at < bytes.size(); at += kRecord) {
    labels.push_back(static_cast<std::uint8_t>(bytes[at]));
    if (labels.back() >= kClasses)
      base::user_error("{}: record {} is of class {}, expected 0 to {}", request.name, at / kRecord, labels.back(),
                       kClasses - 1);
    pixels.insert(pixels.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at + 1),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at + kRecord));
  }
  const data::DataSpec spec{.inputs = {{1, 2, 2}}, .classes = kClasses, .class_names = {}};
  return data::with_test_share(data::image_source(spec, std::move(pixels), std::move(labels)), request);
}

inline data::FormatRow tiny_row() {
  return {"tiny", "a .tiny file of classes and images of 2x2",
          [](const data::DataRequest& request) { return request.name.ends_with(".tiny"); }, open_tiny};
}

}  // namespace trireme::own_parts
