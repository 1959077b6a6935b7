#include "ops/core/gradient_check.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/conv/conv.h"
#include "ops/dense/dense.h"
#include "ops/merge/merge.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"
#include "support/op_swish.h"

namespace trireme::ops {
namespace {

const std::vector<Shape> kMaps{{3, 20, 5, 4}};

TEST(GradientError, IsSmallWhereTheGradientIsRight) {
  EXPECT_LT(gradient_error(*own_op::swish(), kMaps), 1e-3);
  EXPECT_LT(gradient_error(*tanh(), kMaps), 1e-3);
  EXPECT_LT(gradient_error(*sigmoid(), {{4, 7}}), 1e-3);
  EXPECT_LT(gradient_error(*dropout(0.5, 1), kMaps), 1e-3);
  EXPECT_LT(gradient_error(*add(), {kMaps[0], kMaps[0]}), 1e-3);
  EXPECT_LT(gradient_error(*average_pool({.kernel = {2, 2}}), kMaps), 1e-3);
  EXPECT_LT(gradient_error(*dense({.outputs = 6}), {{5, 9}}), 1e-3) << "weights and bias";
  EXPECT_LT(gradient_error(*conv({.channels = 6, .kernel = {3, 3}, .padding = {1, 1}}), kMaps), 1e-3);
  EXPECT_LT(gradient_error(*batch_norm(), kMaps), 1e-3) << "without its running statistics";
}

// Twice the right gradient; or values in padding, when it takes any layout though swish(0) + 1 is not 0.
class WrongKernel : public own_op::SwishKernel {
 public:
  WrongKernel(const KernelRequest& request, bool fills_padding) : SwishKernel(request), fills_padding_(fills_padding) {}
  void forward(const KernelArgs& args, KernelState* state, OarRun& run) const override {
    SwishKernel::forward(args, state, run);
    float* dst = args.dst;
    for (std::int64_t i = 0; fills_padding_ && i < plan_.dst.elements(); ++i) dst[i] += 1;
  }
  void backward(const KernelArgs& args, KernelState* state, OarRun& run) const override {
    SwishKernel::backward(args, state, run);
    float* diff_src = args.diff_src[0];
    for (std::int64_t i = 0; !fills_padding_ && i < plan_.dst.elements(); ++i) diff_src[i] *= 2;
  }

 private:
  bool fills_padding_;
};

class WrongSwish : public own_op::Swish {
 public:
  explicit WrongSwish(bool fills_padding) : fills_padding_(fills_padding) {}
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<WrongKernel>(request, fills_padding_);
  }

 private:
  bool fills_padding_;
};

TEST(GradientError, IsLargeWhereItIsWrong) { EXPECT_NEAR(gradient_error(WrongSwish(false), kMaps), 0.5, 0.01); }

TEST(GradientError, PaddingThatIsNotZeroIsRefused) {
  EXPECT_LT(gradient_error(WrongSwish(true), {{4, 7}}), 1e-3) << "no padding";
  EXPECT_THROW((void)gradient_error(WrongSwish(true), kMaps), base::Error);
}

}  // namespace
}  // namespace trireme::ops
