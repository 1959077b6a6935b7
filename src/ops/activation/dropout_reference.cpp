#include "ops/activation/dropout_reference.h"

#include "base/rng.h"

namespace trireme::ops {
namespace {

void drop(double rate, std::uint64_t stream, const Reference& r, const std::vector<double>& from,
          std::vector<double>& to) {
  const std::int64_t own = r.shapes[0].count_from(1);
  for (std::int64_t n = 0; n < r.shapes[0][0]; ++n) {
    const auto sample = static_cast<std::size_t>(n);
    for (std::int64_t i = 0; i < own; ++i) {
      const auto at = static_cast<std::size_t>(n * own + i);
      to[at] = from[at];
      if (!r.training) continue;
      const base::CounterRng rng(r.run.seed, base::Purpose::dropout, r.run.epoch,
                                 static_cast<std::uint64_t>(r.run.sample_indices[sample]));
      const std::uint64_t bits = rng.bits(stream << 40 | static_cast<std::uint64_t>(i)) >> 40;
      to[at] = bits >= dropout_threshold(rate) ? from[at] / (1 - rate) : 0;
    }
  }
}

}  // namespace

void dropout_reference_forward(double rate, std::uint64_t stream, Reference& r) {
  drop(rate, stream, r, r.src[0], r.dst);
}

void dropout_reference_backward(double rate, std::uint64_t stream, Reference& r) {
  if (!r.diff_src[0].empty()) drop(rate, stream, r, r.diff_dst, r.diff_src[0]);
}

}  // namespace trireme::ops
