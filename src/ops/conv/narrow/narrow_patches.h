// PatchSet: the pass of narrow_passes.h whose lanes are a patch row, written once for an instruction set S (see
// narrow_columns.h; its registers hold kColumns x kVectors sums). Included by one .cpp per instruction set, after its
// target pragma.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "ops/conv/narrow/narrow_passes.h"
#include "ops/vector/repeat.h"

namespace trireme::ops::narrow {
namespace {

template <class S>
struct PatchSet {
  using Vector = typename S::Vector;
  static constexpr std::int64_t kLanes = base::kLanes;
  static constexpr int kVectors = 2;

  // Kernel rows and the output rows that they are multiplied with.
  struct Rows {
    std::int64_t first, last, y;  // kernel rows [first, last); y: the output row for `first`
  };

  // kParts vectors of the patch rows of kWidth positions.
  template <int kWidth, int kParts>
  static void sum_part(const Sizes& sizes, const Rows& rows, const float* diff, const float* weights,
                       std::int64_t weights_row, float* patches, std::int64_t patch) {
    Vector sums[kWidth][kParts];
    repeat<kWidth>([&](auto x) __attribute__((always_inline)) {
      repeat<kParts>([&](auto v) __attribute__((always_inline)) { sums[x][v] = S::splat(0.0f); });
    });
    const std::int64_t plane = sizes.height * sizes.width;
    for (std::int64_t ky = rows.first; ky < rows.last; ++ky) {
      const float* from = diff + (rows.y - (ky - rows.first)) * sizes.width;
      const float* at = weights + ky * sizes.out_channels * weights_row;
      for (std::int64_t o = sizes.out_channels; o > 0; --o, from += plane, at += weights_row) {
        Vector weight[kParts];
        repeat<kParts>([&](auto v) __attribute__((always_inline)) { weight[v] = S::load(at + v * S::kWidth); });
        repeat<kWidth>([&](auto x) __attribute__((always_inline)) {
          const Vector gradient = S::held(S::splat(from[x]));
          repeat<kParts>([&](auto v)
                             __attribute__((always_inline)) { sums[x][v] = S::fma(gradient, weight[v], sums[x][v]); });
        });
      }
    }
    repeat<kWidth>([&](auto x) __attribute__((always_inline)) {
      repeat<kParts>([&](auto v)
                         __attribute__((always_inline)) { S::store(patches + x * patch + v * S::kWidth, sums[x][v]); });
    });
  }

  using SumPart = void (*)(const Sizes&, const Rows&, const float*, const float*, std::int64_t, float*, std::int64_t);
  template <int... kCase>
  static constexpr auto sum_parts(std::integer_sequence<int, kCase...>) {
    return std::array<SumPart, sizeof...(kCase)>{&sum_part<kCase / kVectors + 1, kCase % kVectors + 1>...};
  }

  // Adds the overlapping patches to a row.
  static void add_up(const Sizes& sizes, const float* patches, std::int64_t patch, std::int64_t floats, float* row) {
    const std::int64_t channels = sizes.in_channels, width = sizes.kernel_width * channels;
    std::int64_t first = 0, last = -1;  // the patches that overlap the vector at e
    for (std::int64_t e = 0; e < floats; e += S::kWidth) {
      while (first * channels + width <= e) ++first;
      while (last + 1 < sizes.width && (last + 1) * channels < e + S::kWidth) ++last;
      Vector sum = S::splat(0.0f);
      for (std::int64_t x = first; x <= last; ++x) sum = sum + S::load(patches + x * patch + e - x * channels);
      S::store(row + e, sum);
    }
  }

  static void input_gradient(const Sizes& sizes, const float* diff, const float* weights, std::int64_t y,
                             float* patches, float* row) {
    static constexpr auto kParts = sum_parts(std::make_integer_sequence<int, S::kColumns * kVectors>{});
    const std::int64_t floats = patch_vectors(sizes) * kLanes, patch = patch_floats(sizes);
    const std::int64_t first = std::max<std::int64_t>(0, y - sizes.height + 1);
    const Rows rows{first, std::min(sizes.kernel_height, y + 1), y - first};
    for (std::int64_t x = 0; x < sizes.width;) {
      const std::int64_t columns = share(sizes.width - x, S::kColumns);
      for (std::int64_t f = 0; f < floats;) {
        const std::int64_t vectors = std::min<std::int64_t>(kVectors, (floats - f) / S::kWidth);
        kParts[static_cast<std::size_t>((columns - 1) * kVectors + vectors - 1)](
            sizes, rows, diff + x, weights + f, floats, patches + x * patch + kLanes + f, patch);
        f += vectors * S::kWidth;
      }
      x += columns;
    }
    add_up(sizes, patches + kLanes, patch, (sizes.width + sizes.kernel_width - 1) * sizes.in_channels, row);
  }

  static constexpr PatchLanes passes() { return {&input_gradient}; }
};

}  // namespace
}  // namespace trireme::ops::narrow
