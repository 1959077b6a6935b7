#include "ops/dropout.h"

#include <bit>

#include "base/error.h"
#include "base/rng.h"
#include "base/simd.h"
#include "ops/dropout_reference.h"
#include "ops/elementwise.h"

namespace trireme::ops {
namespace {

// The mask of one sample, in memory order: 1 where the element stays. What decides is the element's logical position
// c * spatial + s, so the layout makes no difference; padding gets some value that nobody sees.
struct DropoutMask {
  TRIREME_INLINE static void run(std::uint64_t key, std::uint64_t stream, std::uint64_t threshold, std::int64_t groups,
                                 std::int64_t spatial, std::int64_t block, std::uint8_t* mask) {
    const std::uint64_t start = key + ((stream << 40) + 1) * base::kGolden;
    if (block == 1) return row(start, 1, threshold, groups * spatial, mask);
    if (block == 16) return rows(start, threshold, groups, spatial, 16, mask);  // constant sizes make whole vectors
    if (block == 8) return rows(start, threshold, groups, spatial, 8, mask);
    rows(start, threshold, groups, spatial, block, mask);
  }

 private:
  TRIREME_INLINE static void rows(std::uint64_t start, std::uint64_t threshold, std::int64_t groups,
                                  std::int64_t spatial, std::int64_t block, std::uint8_t* mask) {
    for (std::int64_t group = 0; group < groups; ++group)
      for (std::int64_t s = 0; s < spatial; ++s, mask += block) {
        const auto first = static_cast<std::uint64_t>(group * block * spatial + s);
        row(start + first * base::kGolden, static_cast<std::uint64_t>(spatial), threshold, block, mask);
      }
  }
  // `start` is the counter of the first element; positions go up by `step`.
  TRIREME_INLINE static void row(std::uint64_t start, std::uint64_t step, std::uint64_t threshold, std::int64_t count,
                                 std::uint8_t* mask) {
    const std::uint64_t stride = step * base::kGolden;
    for (std::int64_t i = 0; i < count; ++i)
      mask[i] = base::mix64(start + static_cast<std::uint64_t>(i) * stride) >> 40 >= threshold ? 1 : 0;
  }
};

struct DropoutApply {
  // dst may be src: each element is computed alone.
  TRIREME_INLINE static void run(const float* src, const std::uint8_t* mask, float scale, float* dst,
                                 std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t all_or_none = 0u - mask[i];  // a choice by bits: AVX2 gets no vectors from a choice by bytes
      dst[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(src[i] * scale) & all_or_none);
    }
  }
};

class DropoutKernel : public Kernel {
 public:
  DropoutKernel(const KernelRequest& request, double rate, std::uint64_t stream)
      : stream_(stream), threshold_(dropout_threshold(rate)), scale_(static_cast<float>(1 / (1 - rate))) {
    const Layout layout = channel_layout(request.src[0]);
    plan_.src = {layout};
    plan_.dst = layout;
    plan_.backward_needs_src = false;
    plan_.view = !request.training;
    plan_.forward_in_place = true;
    plan_.backward_in_place = true;
    if (!request.training) return;
    plan_.workspace_bytes = static_cast<std::size_t>(layout.elements());
    spatial_ = layout.shape.rank() > 1 ? layout.shape.count_from(2) : 1;
    block_ = layout.channel_block();
    groups_ = layout.shape.rank() > 1 ? layout.padded[1] / block_ : 1;
  }

  std::string implementation() const override { return plan_.view ? "view" : "dropout"; }

  void forward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    if (plan_.view) return;
    const std::int64_t samples = plan_.dst.shape[0], own = groups_ * spatial_ * block_;
    base::check(static_cast<std::int64_t>(run.sample_indices.size()) == samples,
                "dropout has {} sample indices for {} samples", run.sample_indices.size(), samples);
    auto* mask = reinterpret_cast<std::uint8_t*>(args.workspace);
    for (std::int64_t n = 0; n < samples; ++n) {
      const base::CounterRng rng(run.seed, base::Purpose::dropout, run.epoch,
                                 static_cast<std::uint64_t>(run.sample_indices[static_cast<std::size_t>(n)]));
      base::dispatch<DropoutMask>(rng.key(), stream_, threshold_, groups_, spatial_, block_, mask + n * own);
    }
    apply(args, args.src[0], args.dst);
  }

  void backward(const KernelArgs& args, KernelState*, OarRun&) const override {
    if (!plan_.view && args.diff_src[0] != nullptr) apply(args, args.diff_dst, args.diff_src[0]);
  }

 private:
  void apply(const KernelArgs& args, const float* from, float* to) const {
    base::dispatch<DropoutApply>(from, reinterpret_cast<const std::uint8_t*>(args.workspace), scale_, to,
                                 plan_.dst.elements());
  }

  std::uint64_t stream_;
  std::uint64_t threshold_;
  float scale_;
  std::int64_t groups_ = 0, spatial_ = 0, block_ = 0;
};

class DropoutOp : public Op {
 public:
  DropoutOp(double rate, std::uint64_t stream) : rate_(rate), stream_(stream) {}

  std::string_view kind() const override { return "dropout"; }
  Shape output(std::span<const Shape> src) const override {
    base::check(src.size() == 1, "dropout takes one input, not {}", src.size());
    return src[0];
  }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<DropoutKernel>(request, rate_, stream_);
  }
  void reference_forward(Reference& r) const override { dropout_reference_forward(rate_, stream_, r); }
  void reference_backward(Reference& r) const override { dropout_reference_backward(rate_, stream_, r); }

 private:
  double rate_;
  std::uint64_t stream_;
};

}  // namespace

OpPtr dropout(double rate, std::uint64_t stream) {
  if (!(rate >= 0 && rate < 1))
    base::user_error("dropout needs a rate of at least 0 and below 1, got {}; 0.5 drops half of the values", rate);
  return std::make_shared<DropoutOp>(rate, stream);
}

}  // namespace trireme::ops
