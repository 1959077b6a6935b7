#include "base/cpu/simd.h"
#include "base/error.h"
#include "ops/core/elementwise.h"
#include "ops/core/op_options.h"
#include "ops/core/op_registry.h"
#include "ops/pool/adaptive_pool_reference.h"
#include "ops/pool/pool.h"

namespace trireme::ops {
namespace {

// The sizes of an input and its output; memory is [planes][height][width][block], a missing height counts as 1.
struct Sizes {
  std::int64_t planes = 0, block = 0;
  std::int64_t in_height = 0, in_width = 0, out_height = 0, out_width = 0;
};

struct AdaptiveForward {
  TRIREME_INLINE static void run(const float* src, float* dst, Sizes z) {
    for (std::int64_t plane = 0; plane < z.planes; ++plane, src += z.in_height * z.in_width * z.block)
      for (std::int64_t y = 0; y < z.out_height; ++y)
        for (std::int64_t x = 0; x < z.out_width; ++x, dst += z.block) {
          const AdaptiveWindow rows(y, z.in_height, z.out_height), columns(x, z.in_width, z.out_width);
          const auto divisor = static_cast<float>(rows.size() * columns.size());
          for (std::int64_t c = 0; c < z.block; ++c) dst[c] = 0;
          for (std::int64_t h = rows.begin; h < rows.end; ++h)
            for (std::int64_t w = columns.begin; w < columns.end; ++w) {
              const float* from = src + (h * z.in_width + w) * z.block;
#pragma GCC ivdep
              for (std::int64_t c = 0; c < z.block; ++c) dst[c] += from[c];
            }
          for (std::int64_t c = 0; c < z.block; ++c) dst[c] /= divisor;
        }
  }
};

struct AdaptiveBackward {
  TRIREME_INLINE static void run(const float* diff_dst, float* diff_src, Sizes z) {
    const std::int64_t plane_size = z.in_height * z.in_width * z.block;
    for (std::int64_t plane = 0; plane < z.planes; ++plane, diff_src += plane_size) {
      for (std::int64_t i = 0; i < plane_size; ++i) diff_src[i] = 0;
      for (std::int64_t y = 0; y < z.out_height; ++y)
        for (std::int64_t x = 0; x < z.out_width; ++x, diff_dst += z.block) {
          const AdaptiveWindow rows(y, z.in_height, z.out_height), columns(x, z.in_width, z.out_width);
          const auto divisor = static_cast<float>(rows.size() * columns.size());
          for (std::int64_t h = rows.begin; h < rows.end; ++h)
            for (std::int64_t w = columns.begin; w < columns.end; ++w) {
              float* to = diff_src + (h * z.in_width + w) * z.block;
#pragma GCC ivdep
              for (std::int64_t c = 0; c < z.block; ++c) to[c] += diff_dst[c] / divisor;
            }
        }
    }
  }
};

class AdaptivePoolKernel : public Kernel {
 public:
  AdaptivePoolKernel(const KernelRequest& request, const Shape& out) {
    const Layout src = channel_layout(request.src[0]);
    plan_.src = {src};
    plan_.dst = same_form(src, out);
    plan_.backward_needs_src = false;
    const int rank = out.rank();
    sizes_.block = src.channel_block();
    sizes_.planes = src.padded[0] * src.padded[1] / sizes_.block;
    sizes_.in_height = rank == 3 ? 1 : src.shape[2];
    sizes_.in_width = src.shape[rank - 1];
    sizes_.out_height = rank == 3 ? 1 : out[2];
    sizes_.out_width = out[rank - 1];
  }
  std::string implementation() const override { return "adaptive average pool " + plan_.dst.text(); }
  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    base::dispatch<AdaptiveForward>(args.src[0], args.dst, sizes_);
  }
  void backward(const KernelArgs& args, KernelState*, OarRun&) const override {
    if (args.diff_src[0] != nullptr) base::dispatch<AdaptiveBackward>(args.diff_dst, args.diff_src[0], sizes_);
  }

 private:
  Sizes sizes_;
};

class AdaptivePoolOp : public Op {
 public:
  explicit AdaptivePoolOp(std::vector<std::int64_t> output) : output_(std::move(output)) {}

  std::string_view kind() const override { return "adaptive_average_pool"; }
  std::string options_text() const override { return "output=" + sizes_text(output_); }
  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 1) base::user_error("adaptive pooling takes one input, not {}", src.size());
    const int spatial = static_cast<int>(output_.size());
    if (src[0].rank() != spatial + 2)
      base::user_error("adaptive pooling to {} sizes needs samples of {} sizes, got {}", spatial, spatial + 1,
                       src[0].without_batch().text());
    Shape out = src[0];
    for (int d = 0; d < spatial; ++d) out[d + 2] = output_[static_cast<std::size_t>(d)];
    return out;
  }
  Cost cost(std::span<const Shape> src) const override {
    const auto in = static_cast<double>(src[0].count()), out = static_cast<double>(output(src).count());
    return {in + out, sizeof(float) * (in + out)};
  }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<AdaptivePoolKernel>(request, output(request.shapes()));
  }
  void reference_forward(Reference& r) const override { adaptive_pool_reference_forward(output(r.shapes), r); }
  void reference_backward(Reference& r) const override { adaptive_pool_reference_backward(output(r.shapes), r); }

 private:
  std::vector<std::int64_t> output_;
};

}  // namespace

OpPtr adaptive_average_pool(std::vector<std::int64_t> output) {
  if (output.empty() || output.size() > 2)
    base::user_error("adaptive pooling needs 1 or 2 output sizes, got {}", output.size());
  for (const std::int64_t size : output)
    if (size < 1) base::user_error("adaptive pooling needs output sizes of at least 1, got {}", size);
  return std::make_shared<AdaptivePoolOp>(std::move(output));
}

OpRow adaptive_average_pool_row() {
  return {.name = "adaptive_average_pool",
          .summary = "mean over windows that share the map evenly among a given number of outputs, as in PyTorch",
          .options = {{"output", "SIZES", "6x6, or 6 for one spatial size"}},
          .make = [](base::Spec& spec) { return adaptive_average_pool(required_sizes(spec, "output")); }};
}

}  // namespace trireme::ops
