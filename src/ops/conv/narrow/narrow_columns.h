// ColumnSet: the passes of narrow_passes.h whose lanes run along the width of the image, written once for an
// instruction set S: a vector type with kWidth lanes, its loads, stores and fma, and how many sums its registers hold
// (kSums, of kChannels x kVectors at most). Included by one .cpp per instruction set, after its target pragma.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "ops/conv/narrow/narrow_passes.h"

namespace trireme::ops::narrow {
namespace {

template <class S>
struct ColumnSet {
  using Vector = typename S::Vector;
  static constexpr std::int64_t kLanes = base::kLanes;

  // The vectors of the output's rows that are computed together.
  struct Places {
    std::int64_t in[S::kVectors], out[S::kVectors], values[S::kVectors];
  };

  // kOut channels of kVectors vectors.
  template <int kOut, int kVectors>
  static void correlate_part(const Sizes& sizes, Images<const float> in, const float* weights, const float* bias,
                             bool relu, Images<float> out, const Places& places) {
    Vector sums[kOut][kVectors];
    const float* first[kVectors];
    for (int v = 0; v < kVectors; ++v) first[v] = in.data + places.in[v];
    for (int o = 0; o < kOut; ++o)
      for (int v = 0; v < kVectors; ++v) sums[o][v] = S::splat(bias == nullptr ? 0.0f : bias[o]);
    for (std::int64_t i = 0; i < sizes.in_channels; ++i)
      for (std::int64_t ky = 0; ky < sizes.kernel_height; ++ky) {
        const std::int64_t row = i * in.plane + ky * in.row;
        for (std::int64_t kx = 0; kx < sizes.kernel_width; ++kx, weights += sizes.out_channels) {
          if constexpr (kVectors <= kOut) {  // the operand with fewer registers stays in them
            Vector values[kVectors];
            for (int v = 0; v < kVectors; ++v) values[v] = S::held(S::load(first[v] + row + kx));
            for (int o = 0; o < kOut; ++o) {
              const Vector weight = S::splat(weights[o]);
              for (int v = 0; v < kVectors; ++v) sums[o][v] = S::fma(values[v], weight, sums[o][v]);
            }
          } else {
            Vector weight[kOut];
            for (int o = 0; o < kOut; ++o) weight[o] = S::splat(weights[o]);
            for (int v = 0; v < kVectors; ++v) {
              const Vector values = S::held(S::load(first[v] + row + kx));
              for (int o = 0; o < kOut; ++o) sums[o][v] = S::fma(values, weight[o], sums[o][v]);
            }
          }
        }
      }
    for (int o = 0; o < kOut; ++o)
      for (int v = 0; v < kVectors; ++v)
        S::store_part(out.data + o * out.plane + places.out[v], relu ? S::positive_part(sums[o][v]) : sums[o][v],
                      places.values[v]);
  }

  using CorrelatePart = void (*)(const Sizes&, Images<const float>, const float*, const float*, bool, Images<float>,
                                 const Places&);
  template <int kOut, int kVectors>
  static constexpr CorrelatePart correlate_case() {
    if constexpr (kOut * kVectors <= S::kSums)
      return &correlate_part<kOut, kVectors>;
    else
      return nullptr;
  }
  template <int... kCase>
  static constexpr auto correlate_parts(std::integer_sequence<int, kCase...>) {
    return std::array<CorrelatePart, sizeof...(kCase)>{
        correlate_case<kCase / S::kVectors + 1, kCase % S::kVectors + 1>()...};
  }

  static void correlate(const Sizes& sizes, Images<const float> in, const float* weights, const float* bias, bool relu,
                        Images<float> out) {
    static constexpr auto kParts = correlate_parts(std::make_integer_sequence<int, S::kChannels * S::kVectors>{});
    const std::int64_t row = (sizes.width + S::kWidth - 1) / S::kWidth, all = sizes.height * row;
    for (std::int64_t o = 0; o < sizes.out_channels;) {
      const std::int64_t channels = share(sizes.out_channels - o, S::kChannels);
      const std::int64_t most = std::min<std::int64_t>(S::kVectors, S::kSums / channels);
      for (std::int64_t done = 0; done < all;) {
        const std::int64_t vectors = std::min(most, all - done);
        Places places;
        for (std::int64_t v = 0; v < vectors; ++v) {
          const std::int64_t y = (done + v) / row, x = (done + v) % row * S::kWidth;
          places.in[v] = y * in.row + x;
          places.out[v] = y * out.row + x;
          places.values[v] = std::min<std::int64_t>(S::kWidth, sizes.width - x);
        }
        kParts[static_cast<std::size_t>((channels - 1) * S::kVectors + vectors - 1)](
            sizes, in, weights + o, bias == nullptr ? nullptr : bias + o, relu,
            {out.data + o * out.plane, out.plane, out.row}, places);
        done += vectors;
      }
      o += channels;
    }
  }

  // kOut channels and kTaps weights of each, whose inputs lie at in + offsets[k]; adds to the lanes of one vector.
  template <int kOut, int kTaps>
  static void gradient_part(const Sizes& sizes, const float* in, std::int64_t in_row, const std::int64_t* offsets,
                            Images<const float> diff, float* lanes, std::int64_t channel) {
    Vector sums[kOut][kTaps];
    const float* from[kTaps];
    for (int k = 0; k < kTaps; ++k) from[k] = in + offsets[k];
    for (int o = 0; o < kOut; ++o)
      for (int k = 0; k < kTaps; ++k) sums[o][k] = S::load(lanes + o * channel + k * kLanes);
    for (std::int64_t y = 0; y < sizes.height; ++y)
      for (std::int64_t x = 0; x < sizes.width; x += kLanes) {
        Vector gradients[kOut];
        for (int o = 0; o < kOut; ++o) gradients[o] = S::held(S::load(diff.data + o * diff.plane + y * diff.row + x));
        for (int k = 0; k < kTaps; ++k) {
          const Vector values = S::held(S::load(from[k] + y * in_row + x));
          for (int o = 0; o < kOut; ++o) sums[o][k] = S::fma(values, gradients[o], sums[o][k]);
        }
      }
    for (int o = 0; o < kOut; ++o)
      for (int k = 0; k < kTaps; ++k) S::store(lanes + o * channel + k * kLanes, sums[o][k]);
  }

  using GradientPart = void (*)(const Sizes&, const float*, std::int64_t, const std::int64_t*, Images<const float>,
                                float*, std::int64_t);
  template <int... kCase>
  static constexpr auto gradient_parts(std::integer_sequence<int, kCase...>) {
    return std::array<GradientPart, sizeof...(kCase)>{
        &gradient_part<kCase / S::kGradientTaps + 1, kCase % S::kGradientTaps + 1>...};
  }

  static void gradient(const Sizes& sizes, Images<const float> in, Images<const float> diff, float* lanes) {
    static constexpr auto kParts =
        gradient_parts(std::make_integer_sequence<int, S::kGradientChannels * S::kGradientTaps>{});
    const std::int64_t taps = sizes.in_channels * sizes.kernel_height * sizes.kernel_width, channel = taps * kLanes;
    for (std::int64_t k = 0, i = 0, ky = 0, kx = 0; k < taps;) {
      const std::int64_t together = share(taps - k, S::kGradientTaps);
      std::int64_t offsets[S::kGradientTaps];
      for (std::int64_t t = 0; t < together; ++t) {
        offsets[t] = i * in.plane + ky * in.row + kx;
        if (++kx == sizes.kernel_width) kx = 0, ++ky;
        if (ky == sizes.kernel_height) ky = 0, ++i;
      }
      for (std::int64_t o = 0; o < sizes.out_channels;) {
        const std::int64_t channels = share(sizes.out_channels - o, S::kGradientChannels);
        for (std::int64_t part = 0; part < kLanes; part += S::kWidth)
          kParts[static_cast<std::size_t>((channels - 1) * S::kGradientTaps + together - 1)](
              sizes, in.data + part, in.row, offsets, {diff.data + o * diff.plane + part, diff.plane, diff.row},
              lanes + o * channel + k * kLanes + part, channel);
        o += channels;
      }
      k += together;
    }
  }

  static void bias_gradient(const Sizes& sizes, Images<const float> diff, float* lanes) {
    for (std::int64_t o = 0; o < sizes.out_channels; ++o, lanes += kLanes)
      for (std::int64_t part = 0; part < kLanes; part += S::kWidth) {
        Vector sum = S::load(lanes + part);
        for (std::int64_t y = 0; y < sizes.height; ++y)
          for (std::int64_t x = part; x < sizes.width; x += kLanes)
            sum = sum + S::load(diff.data + o * diff.plane + y * diff.row + x);
        S::store(lanes + part, sum);
      }
  }

  static constexpr ColumnLanes passes() { return {&correlate, &gradient, &bias_gradient}; }
};

}  // namespace
}  // namespace trireme::ops::narrow
