#include "data/stages/plane.h"

#include <algorithm>
#include <cstring>

#include "base/cpu/simd.h"
#include "data/stages/scratch.h"

namespace trireme::data {
namespace {

// Two passes: pixels are first moved as stored, within the cache (bytes are a quarter of floats), then all are
// converted in one loop. The compiler vectorizes both loops.

typedef std::uint8_t Bytes16 __attribute__((vector_size(16)));

TRIREME_INLINE Bytes16 load16(const std::uint8_t* p) {
  Bytes16 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <bool kMirror>
TRIREME_INLINE void store16(std::uint8_t* p, Bytes16 v) {
  if constexpr (kMirror) v = __builtin_shufflevector(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  std::memcpy(p, &v, sizeof v);
}

// Rows are short: a call of memcpy costs more than the copy, and a byte loop hardly less. The last 16 bytes may overlap
// the 16 before.
template <bool kMirror>
TRIREME_INLINE void copy_row(const std::uint8_t* src, std::int64_t count, std::uint8_t* dst) {
  if (count >= 16 && count <= 32) {
    const Bytes16 first = load16(src), last = load16(src + count - 16);
    store16<kMirror>(dst, kMirror ? last : first);
    store16<kMirror>(dst + count - 16, kMirror ? first : last);
    return;
  }
  if (count < 16) {
    for (std::int64_t x = 0; x < count; ++x) dst[x] = src[kMirror ? count - 1 - x : x];
    return;
  }
  for (std::int64_t next = 0; next < count; next += 16) {
    const std::int64_t x = std::min(next, count - 16);
    store16<kMirror>(dst + x, load16(src + (kMirror ? count - 16 - x : x)));
  }
}
template <bool kMirror>
TRIREME_INLINE void copy_row(const float* src, std::int64_t count, float* dst) {
  for (std::int64_t x = 0; x < count; ++x) dst[x] = src[kMirror ? count - 1 - x : x];
}

template <class T>
struct MovePlane {
  TRIREME_INLINE static void run(const Plane* plane, const Change* change, T* dst) {
    const auto* src = reinterpret_cast<const T*>(plane->src.data);
    const std::int64_t width = plane->width, height = plane->height;
    // The visible columns of src.
    const std::int64_t first = std::clamp<std::int64_t>(change->right, 0, width);
    const std::int64_t last = std::clamp<std::int64_t>(width + change->right, first, width);
    const std::int64_t seen = last - first;
    const std::int64_t begin = seen == 0 ? 0 : change->flip ? width - last + change->right : first - change->right;
    const std::int64_t top = std::clamp<std::int64_t>(-change->down, 0, height);
    const std::int64_t bottom = std::clamp<std::int64_t>(height - change->down, top, height);
    if (top > 0 || bottom < height || seen < width)
      std::memset(dst, 0, static_cast<std::size_t>(height * width) * sizeof(T));
    if (seen == 0) return;
    const T* from = src + (top + change->down) * width + first;
    T* to = dst + top * width + begin;
    const auto copy = [&]<bool kMirror>() {
      for (std::int64_t y = top; y < bottom; ++y, from += width, to += width) copy_row<kMirror>(from, seen, to);
    };
    change->flip ? copy.template operator()<true>() : copy.template operator()<false>();
  }
};

// Rotates: interpolates between pixels; zero outside.
template <class T>
struct TurnPlane {
  TRIREME_INLINE static void run(const Plane* plane, const Change* change, float* dst) {
    const auto* src = reinterpret_cast<const T*>(plane->src.data);
    const std::int64_t width = plane->width, height = plane->height;
    const float middle_y = 0.5f * static_cast<float>(height - 1), middle_x = 0.5f * static_cast<float>(width - 1);
    const auto at = [&](std::int64_t y, std::int64_t x) {
      return y >= 0 && y < height && x >= 0 && x < width ? static_cast<float>(src[y * width + x]) : 0.0f;
    };
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const float down = static_cast<float>(y + change->down) - middle_y;
        const float right = static_cast<float>((change->flip ? width - 1 - x : x) + change->right) - middle_x;
        const float from_y = middle_y + (change->cosine * down - change->sine * right);
        const float from_x = middle_x + (change->sine * down + change->cosine * right);
        const float floor_y = __builtin_floorf(from_y), floor_x = __builtin_floorf(from_x);
        const float share_y = from_y - floor_y, share_x = from_x - floor_x;
        const auto top = static_cast<std::int64_t>(floor_y), left = static_cast<std::int64_t>(floor_x);
        const float above = (1 - share_x) * at(top, left) + share_x * at(top, left + 1);
        const float below = (1 - share_x) * at(top + 1, left) + share_x * at(top + 1, left + 1);
        dst[y * width + x] = (1 - share_y) * above + share_y * below;
      }
  }
};

template <class T>
void cut_out(const Plane& plane, const Change& change, T* values) {
  const std::int64_t top = std::max<std::int64_t>(change.cut_top, 0), left = std::max<std::int64_t>(change.cut_left, 0);
  const std::int64_t bottom = std::min(change.cut_top + change.cut_side, plane.height);
  const std::int64_t right = std::min(change.cut_left + change.cut_side, plane.width);
  for (std::int64_t y = top; y < bottom && left < right; ++y)
    std::fill(values + y * plane.width + left, values + y * plane.width + right, T{0});
}

// Brightness: multiplies by `gain` and clamps to `most`.
struct Light {
  float gain, most;
};

template <class T, bool kPerValue, bool kLight>
struct Convert {
  TRIREME_INLINE static void run(const T* __restrict src, std::int64_t count, float* __restrict dst,
                                 const float* __restrict means, const float* __restrict factors, Light light) {
    const float mean = *means, factor = *factors, gain = light.gain, most = light.most;
    for (std::int64_t i = 0; i < count; ++i) {
      float v = static_cast<float>(src[i]);
      if constexpr (kLight) {
        v = v * gain;
        v = most < v ? most : v;  // keeps a NaN
      }
      dst[i] = kPerValue ? (v - means[i]) * factors[i] : (v - mean) * factor;
    }
  }
};

template <class T>
void convert(const Plane& plane, const T* values, Light light) {
  const std::int64_t count = plane.height * plane.width;
  const auto with = [&]<bool kPerValue, bool kLight>() {
    base::dispatch<Convert<T, kPerValue, kLight>>(values, count, plane.dst, plane.mean, plane.factor, light);
  };
  const bool lit = light.gain != 1;
  if (plane.per_value)
    lit ? with.template operator()<true, true>() : with.template operator()<true, false>();
  else
    lit ? with.template operator()<false, true>() : with.template operator()<false, false>();
}

template <class T>
void convert_stored(const Plane& plane, const Change& change) {
  const Light light{change.gain, plane.most};
  const bool moves = change.down != 0 || change.right != 0 || change.flip || change.cut_side > 0;
  if (!moves && !change.rotates()) return convert(plane, reinterpret_cast<const T*>(plane.src.data), light);
  Scratch scratch(static_cast<std::size_t>(plane.height * plane.width));
  if (change.rotates()) {
    base::dispatch<TurnPlane<T>>(&plane, &change, scratch.data());
    cut_out(plane, change, scratch.data());
    return convert(plane, static_cast<const float*>(scratch.data()), light);
  }
  T* moved = reinterpret_cast<T*>(scratch.data());
  base::dispatch<MovePlane<T>>(&plane, &change, moved);
  cut_out(plane, change, moved);
  convert(plane, static_cast<const T*>(moved), light);
}

}  // namespace

void convert_plane(const Plane& plane, const Change& change) {
  if (plane.src.type == ValueType::byte)
    convert_stored<std::uint8_t>(plane, change);
  else
    convert_stored<float>(plane, change);
}

}  // namespace trireme::data
