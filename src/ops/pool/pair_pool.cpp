#include "ops/pool/pair_pool.h"

#include <algorithm>

#include "base/cpu/simd.h"

namespace trireme::ops {
namespace {

struct Pairs {
  std::int64_t images, height, width;  // of the input; an odd last row or column is in no window
  std::int64_t rows() const { return height / 2; }
  std::int64_t columns() const { return width / 2; }
};

struct PairPoolForward {
  TRIREME_INLINE static void run(Pairs p, const float* src, float* dst) {
    for (std::int64_t image = 0; image < p.images; ++image, src += p.height * p.width)
      for (std::int64_t y = 0; y < p.rows(); ++y, dst += p.columns()) {
        const float* upper = src + 2 * y * p.width;
        const float* lower = upper + p.width;
#pragma GCC ivdep
        for (std::int64_t x = 0; x < p.columns(); ++x)
          dst[x] = ((upper[2 * x] + upper[2 * x + 1]) + (lower[2 * x] + lower[2 * x + 1])) * 0.25f;
      }
  }
};

struct PairPoolBackward {
  TRIREME_INLINE static void run(Pairs p, const float* diff_dst, float* diff_src) {
    for (std::int64_t image = 0; image < p.images; ++image, diff_src += p.height * p.width) {
      for (std::int64_t y = 0; y < p.rows(); ++y, diff_dst += p.columns()) {
        float* upper = diff_src + 2 * y * p.width;
        float* lower = upper + p.width;
#pragma GCC ivdep
        for (std::int64_t x = 0; x < p.columns(); ++x)
          upper[2 * x] = upper[2 * x + 1] = lower[2 * x] = lower[2 * x + 1] = diff_dst[x] * 0.25f;
        if (p.width % 2 != 0) upper[p.width - 1] = lower[p.width - 1] = 0.0f;
      }
      if (p.height % 2 != 0) std::fill_n(diff_src + (p.height - 1) * p.width, p.width, 0.0f);
    }
  }
};

class PairPoolKernel : public Kernel {
 public:
  PairPoolKernel(const KernelRequest& request, const Shape& out) {
    const Shape& src = request.src[0].shape;
    pairs_ = {src[0] * src[1], src[2], src[3]};
    plan_.src = {Layout::plain(src)};
    plan_.dst = Layout::plain(out);
    plan_.backward_needs_src = false;
  }
  std::string implementation() const override { return "pool average 2x2 plain"; }
  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    base::dispatch<PairPoolForward>(pairs_, args.src[0], args.dst);
  }
  void backward(const KernelArgs& args, KernelState*, OarRun&) const override {
    if (args.diff_src[0] == nullptr) return;
    base::dispatch<PairPoolBackward>(pairs_, static_cast<const float*>(args.diff_dst), args.diff_src[0]);
  }

 private:
  Pairs pairs_{};
};

}  // namespace

bool pair_pool_fits(const PoolOptions& o, const Layout& src) {
  const std::vector<std::int64_t> two{2, 2}, none{0, 0};
  return src.is_plain() && o.kernel == two && o.stride == two && o.padding == none;
}

std::unique_ptr<Kernel> make_pair_pool(const KernelRequest& request, const Shape& out) {
  return std::make_unique<PairPoolKernel>(request, out);
}

}  // namespace trireme::ops
