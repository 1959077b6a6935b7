#include "data/plane.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/simd.h"

namespace trireme::data {
namespace {

using base::kLanes;
using base::Lanes;
using base::LanesInt;

typedef std::uint8_t LanesByte __attribute__((vector_size(16)));

TRIREME_INLINE Lanes load_values(const float* p) { return base::load(p); }
TRIREME_INLINE Lanes load_values(const std::uint8_t* p) {
  LanesByte bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return __builtin_convertvector(__builtin_convertvector(bytes, LanesInt), Lanes);
}
TRIREME_INLINE Lanes reversed(Lanes v) {
  return __builtin_shufflevector(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

// Brightness, for values that may not pass `most`.
struct Light {
  float gain, most;
};

// What happens to a value once it is a float; kPerValue: `at` is its place in the plane.
template <bool kPerValue>
struct Finish {
  const float *mean, *factor;
  Light light;

  TRIREME_INLINE Lanes operator()(Lanes v, std::int64_t at) const {
    v = base::min(base::splat(light.most), v * base::splat(light.gain));  // a NaN stays
    if constexpr (kPerValue) return (v - base::load(mean + at)) * base::load(factor + at);
    return (v - base::splat(*mean)) * base::splat(*factor);
  }
  TRIREME_INLINE float operator()(float v, std::int64_t at) const {
    v = v * light.gain;
    if (light.most < v) v = light.most;
    const std::int64_t place = kPerValue ? at : 0;
    return (v - mean[place]) * factor[place];
  }
  TRIREME_INLINE void black(float* dst, std::int64_t at, std::int64_t count) const {
    for (std::int64_t x = 0; x < count; ++x) dst[x] = (*this)(0.0f, at + x);
  }
};

// dst[x] = src[x], or src[count - 1 - x]. The last vector overlaps the one before.
template <bool kFlip, class T, class F>
TRIREME_INLINE void convert_row(const T* src, std::int64_t count, float* dst, std::int64_t at, const F& finish) {
  if (count < kLanes) {
    for (std::int64_t x = 0; x < count; ++x)
      dst[x] = finish(static_cast<float>(src[kFlip ? count - 1 - x : x]), at + x);
    return;
  }
  for (std::int64_t next = 0; next < count; next += kLanes) {
    const std::int64_t x = std::min<std::int64_t>(next, count - kLanes);
    const Lanes v = kFlip ? reversed(load_values(src + count - kLanes - x)) : load_values(src + x);
    base::store(dst + x, finish(v, at + x));
  }
}

// Pixels between pixels, zero outside.
template <class T, class F>
TRIREME_INLINE void turn_plane(const Plane& plane, const T* src, const Change& c, const F& finish) {
  const float middle_y = 0.5f * static_cast<float>(plane.height - 1);
  const float middle_x = 0.5f * static_cast<float>(plane.width - 1);
  const auto at = [&](std::int64_t y, std::int64_t x) {
    return y >= 0 && y < plane.height && x >= 0 && x < plane.width ? static_cast<float>(src[y * plane.width + x])
                                                                   : 0.0f;
  };
  for (std::int64_t y = 0; y < plane.height; ++y)
    for (std::int64_t x = 0; x < plane.width; ++x) {
      const float down = static_cast<float>(y + c.down) - middle_y;
      const float right = static_cast<float>((c.flip ? plane.width - 1 - x : x) + c.right) - middle_x;
      const float from_y = middle_y + (c.cosine * down - c.sine * right);
      const float from_x = middle_x + (c.sine * down + c.cosine * right);
      const float floor_y = __builtin_floorf(from_y), floor_x = __builtin_floorf(from_x);
      const float share_y = from_y - floor_y, share_x = from_x - floor_x;
      const auto top = static_cast<std::int64_t>(floor_y), left = static_cast<std::int64_t>(floor_x);
      const float above = (1 - share_x) * at(top, left) + share_x * at(top, left + 1);
      const float below = (1 - share_x) * at(top + 1, left) + share_x * at(top + 1, left + 1);
      const std::int64_t place = y * plane.width + x;
      plane.dst[place] = finish((1 - share_y) * above + share_y * below, place);
    }
}

template <bool kFlip, class T, class F>
TRIREME_INLINE void move_plane(const Plane& plane, const T* src, const Change& c, const F& finish) {
  const std::int64_t width = plane.width;
  // Columns of src that are seen, and where they go.
  const std::int64_t first = std::clamp<std::int64_t>(c.right, 0, width);
  const std::int64_t last = std::clamp<std::int64_t>(width + c.right, first, width);
  const std::int64_t begin = first == last ? 0 : kFlip ? width - (last - c.right) : first - c.right;
  const std::int64_t end = begin + (last - first);
  for (std::int64_t y = 0; y < plane.height; ++y) {
    float* row = plane.dst + y * width;
    const std::int64_t from = y + c.down, at = y * width;
    if (from < 0 || from >= plane.height) {
      finish.black(row, at, width);
      continue;
    }
    finish.black(row, at, begin);
    convert_row<kFlip>(src + from * width + first, last - first, row + begin, at + begin, finish);
    finish.black(row + end, at + end, width - end);
  }
}

template <class F>
TRIREME_INLINE void cut_out(const Plane& plane, const Change& c, const F& finish) {
  const std::int64_t top = std::max<std::int64_t>(c.cut_top, 0), left = std::max<std::int64_t>(c.cut_left, 0);
  const std::int64_t bottom = std::min(c.cut_top + c.cut_side, plane.height);
  const std::int64_t right = std::min(c.cut_left + c.cut_side, plane.width);
  for (std::int64_t y = top; y < bottom && left < right; ++y)
    finish.black(plane.dst + y * plane.width + left, y * plane.width + left, right - left);
}

template <class T, bool kPerValue>
struct ConvertPlane {
  TRIREME_INLINE static void run(const Plane* plane, const Change* change) {
    const auto* src = reinterpret_cast<const T*>(plane->src.data);
    const float most = std::is_same_v<T, float> ? std::numeric_limits<float>::infinity() : 255.0f;
    const Finish<kPerValue> finish{plane->mean, plane->factor, {change->gain, most}};
    if (change->rotates())
      turn_plane(*plane, src, *change, finish);
    else if (change->flip)
      move_plane<true>(*plane, src, *change, finish);
    else if (change->down == 0 && change->right == 0)
      convert_row<false>(src, plane->height * plane->width, plane->dst, 0, finish);
    else
      move_plane<false>(*plane, src, *change, finish);
    if (change->cut_side > 0) cut_out(*plane, *change, finish);
  }
};

template <class T>
void convert_as(const Plane& plane, const Change& change) {
  if (plane.per_value)
    base::dispatch<ConvertPlane<T, true>>(&plane, &change);
  else
    base::dispatch<ConvertPlane<T, false>>(&plane, &change);
}

}  // namespace

void convert_plane(const Plane& plane, const Change& change) {
  if (plane.src.type == ValueType::byte)
    convert_as<std::uint8_t>(plane, change);
  else
    convert_as<float>(plane, change);
}

}  // namespace trireme::data
