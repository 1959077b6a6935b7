// The loops of dropout in plain C++, with the results of the other sets: for tests and for CPUs without AVX2.
#include "base/rng.h"
#include "ops/activation/dropout_passes.h"

namespace trireme::ops::dropping {
namespace {

void apply(const std::uint16_t* mask, std::int64_t count, float scale, const float* src, float* dst) {
  for (std::int64_t i = 0; i < count; ++i) dst[i] = (mask[i / 16] >> (i % 16) & 1) != 0 ? src[i] * scale : 0.0f;
}

void forward(Counters c, std::uint64_t threshold, std::int64_t count, float scale, const float* src,
             std::uint16_t* mask, float* dst) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count; i += 16) {
    unsigned bits = 0;
    for (std::int64_t k = 0; k < 16; ++k)
      bits |= static_cast<unsigned>(base::mix64(c.start + c.offsets[at + k]) >> 40 >= threshold) << k;
    mask[i / 16] = static_cast<std::uint16_t>(bits);
    at += 16;
    if (at == c.period) {
      at = 0;
      c.start += c.step;
    }
  }
  apply(mask, count, scale, src, dst);
}

}  // namespace

const Passes kGenericPasses{&forward, &apply};

const Passes& passes(base::Isa isa) { return base::for_isa(isa, kGenericPasses, kAvx2Passes, kAvx512Passes); }

}  // namespace trireme::ops::dropping
