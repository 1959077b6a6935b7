#include "data/stages/resized_crop.h"

#include <algorithm>

#include "base/cpu/simd.h"
#include "data/stages/scratch.h"

namespace trireme::data {
namespace {

// Where a position of the image lies in the window, whose first pixel is at 0.
float place_in_window(std::int64_t at, std::int64_t image, std::int64_t window) {
  const double step = static_cast<double>(window) / static_cast<double>(image);
  return static_cast<float>(std::max(0.0, (static_cast<double>(at) + 0.5) * step - 0.5));
}

template <class T>
struct EnlargeWindow {
  TRIREME_INLINE static void run(const T* src, std::int64_t height, std::int64_t width, const Window* window,
                                 float* places, float* dst) {
    for (std::int64_t x = 0; x < width; ++x) places[x] = place_in_window(x, width, window->columns);
    for (std::int64_t y = 0; y < height; ++y) {
      const float down = place_in_window(y, height, window->rows);
      const auto top = std::min(static_cast<std::int64_t>(down), window->rows - 1);
      const float share_y = down - static_cast<float>(top);
      const T* above = src + (window->top + top) * width + window->left;
      const T* below = top + 1 < window->rows ? above + width : above;
      for (std::int64_t x = 0; x < width; ++x) {
        const auto left = std::min(static_cast<std::int64_t>(places[x]), window->columns - 1);
        const std::int64_t right = std::min(left + 1, window->columns - 1);
        const float share_x = places[x] - static_cast<float>(left);
        const float upper =
            (1 - share_x) * static_cast<float>(above[left]) + share_x * static_cast<float>(above[right]);
        const float lower =
            (1 - share_x) * static_cast<float>(below[left]) + share_x * static_cast<float>(below[right]);
        dst[y * width + x] = (1 - share_y) * upper + share_y * lower;
      }
    }
  }
};

}  // namespace

void resize_window(const StoredValues& plane, std::int64_t height, std::int64_t width, const Window& window,
                   float* dst) {
  Scratch places(static_cast<std::size_t>(width));
  if (plane.type == ValueType::byte)
    base::dispatch<EnlargeWindow<std::uint8_t>>(reinterpret_cast<const std::uint8_t*>(plane.data), height, width,
                                                &window, places.data(), dst);
  else
    base::dispatch<EnlargeWindow<float>>(reinterpret_cast<const float*>(plane.data), height, width, &window,
                                         places.data(), dst);
}

}  // namespace trireme::data
