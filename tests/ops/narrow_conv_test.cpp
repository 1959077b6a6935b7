// The convolution for few output channels, asked for by name: against the reference, and its bits on every instruction
// set; and which shapes get it.
#include "ops/narrow_conv.h"

#include <gtest/gtest.h>

#include "ops/bounds.h"
#include "ops/kernel_run.h"

namespace trireme::optest {
namespace {

ops::ConvOptions complete(ops::ConvOptions o) {
  o.stride.resize(o.kernel.size(), 1);
  o.padding.resize(o.kernel.size(), 0);
  return o;
}

// A convolution that is always narrow.
class NarrowConv : public ops::Op {
 public:
  explicit NarrowConv(ops::ConvOptions o) : o_(complete(std::move(o))), conv_(ops::conv(o_)) {}
  std::string_view kind() const override { return "narrow conv"; }
  Shape output(std::span<const Shape> src) const override { return conv_->output(src); }
  std::vector<ops::ParameterSpec> parameters(std::span<const Shape> src) const override {
    return conv_->parameters(src);
  }
  std::unique_ptr<ops::Kernel> compile(const ops::KernelRequest& request) const override {
    return ops::make_narrow_conv(request, o_, output(request.shapes()));
  }
  void reference_forward(Reference& r) const override { conv_->reference_forward(r); }
  void reference_backward(Reference& r) const override { conv_->reference_backward(r); }

 private:
  ops::ConvOptions o_;
  OpPtr conv_;
};

OpCase conv(const Shape& src, ops::ConvOptions o) {
  OpCase c{.op = std::make_shared<NarrowConv>(o), .shapes = {src}};
  double kernel = 1;
  for (const std::int64_t size : o.kernel) kernel *= static_cast<double>(size);
  const Shape out = c.op->output(c.shapes);
  c.name = src.text() + " -> " + out.text();
  c.bound = linear({.dst = static_cast<double>(src[1]) * kernel + 1,
                    .diff_src = static_cast<double>(o.channels) * kernel,
                    .diff_weights = static_cast<double>(out[0] * out.count_from(2))});
  if (o.relu) {
    o.relu = false;
    c.before_relu = std::make_shared<NarrowConv>(o);
  }
  return c;
}

std::vector<OpCase> cases() {
  return {
      conv({3, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}}),
      conv({2, 1, 28, 28}, {.channels = 6, .kernel = {5, 5}, .padding = {2, 2}, .relu = true}),
      conv({1, 3, 9, 17}, {.channels = 7, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}),
      conv({2, 4, 5, 70}, {.channels = 1, .kernel = {2, 4}, .padding = {0, 3}}),
      conv({2, 2, 6, 33}, {.channels = 13, .kernel = {3, 1}, .padding = {2, 0}, .bias = false, .relu = true}),
      conv({1, 1, 1, 1}, {.channels = 1, .kernel = {1, 1}}),
      conv({5, 9, 3, 3}, {.channels = 2, .kernel = {3, 3}}),
      conv({2, 3, 40}, {.channels = 5, .kernel = {7}, .padding = {3}}),
      conv({1, 2, 5}, {.channels = 3, .kernel = {5}}),
  };
}

TEST(NarrowConvolution, EqualsTheReferenceWithinRounding) {
  for (const OpCase& c : cases()) {
    SCOPED_TRACE(c.name);
    const CaseData data = make_data(c, true);
    const Bounds bounds = c.bound(*c.op, data.exact, data.diff_dst);
    for (const Offer& offer : offers(c)) {
      const KernelResult got = run_kernel(c, data, {.offered = offer.layouts, .slot = 1});
      expect_within("dst", data.exact.dst, got.dst, bounds.dst);
      expect_within("diff_src", data.exact.diff_src[0], got.diff_src[0], bounds.diff_src[0]);
      for (std::size_t p = 0; p < got.diff_weights.size(); ++p)
        expect_within("diff_weights", data.exact.diff_weights[p], got.diff_weights[p], bounds.diff_weights[p]);
    }
    const KernelResult inference =
        run_kernel(c, make_data(c, false), {.offered = offers(c)[0].layouts, .training = false});
    expect_within("dst", data.exact.dst, inference.dst, bounds.dst);
  }
}

TEST(NarrowConvolution, GivesTheSameBitsOnEveryInstructionSet) {
  const base::Isa before = base::active_isa();
  for (const OpCase& c : cases()) {
    SCOPED_TRACE(c.name);
    const CaseData data = make_data(c, true);
    const KernelSetup setup{.offered = offers(c)[0].layouts};
    base::set_active_isa(base::Isa::generic);
    const KernelResult generic = run_kernel(c, data, setup);
    for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
      if (isa > base::best_isa()) continue;
      base::set_active_isa(isa);
      expect_same_bits(std::string(base::isa_name(isa)), generic, run_kernel(c, data, setup));
    }
  }
  base::set_active_isa(before);
}

bool wins(const Shape& src, const ops::ConvOptions& options, base::Isa isa) {
  return ops::narrow_conv_wins(complete(options), src, ops::conv(options)->output(std::vector<Shape>{src}), isa);
}

TEST(NarrowConvolution, IsChosenWhereLanesAreMoreColumnsThanChannels) {
  for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
    SCOPED_TRACE(base::isa_name(isa));
    for (const std::int64_t samples : {1, 42}) {
      EXPECT_TRUE(wins({samples, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}}, isa));
      EXPECT_FALSE(wins({samples, 6, 14, 14}, {.channels = 16, .kernel = {5, 5}}, isa));
      EXPECT_FALSE(wins({samples, 48, 28, 28}, {.channels = 12, .kernel = {3, 3}, .padding = {1, 1}}, isa));
      EXPECT_FALSE(wins({samples, 3, 2, 2}, {.channels = 3, .kernel = {2, 2}}, isa)) << "rows of one column";
      EXPECT_FALSE(wins({samples, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}, .stride = {2, 2}}, isa));
      EXPECT_FALSE(wins({samples, 6, 32, 32}, {.channels = 6, .kernel = {5, 5}, .groups = 2}, isa));
    }
  }
  EXPECT_FALSE(wins({42, 3, 32, 32}, {.channels = 6, .kernel = {5, 5}}, base::Isa::generic)) << "fma is a call there";
}

}  // namespace
}  // namespace trireme::optest
