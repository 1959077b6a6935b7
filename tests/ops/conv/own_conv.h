// A convolution that always gets a given kernel of this project, and its row for the checks.
#pragma once

#include <functional>

#include "ops/cases/bounds.h"
#include "ops/cases/kernel_run.h"
#include "ops/conv/conv.h"

namespace trireme::optest {

using MakeConv = std::function<std::unique_ptr<ops::Kernel>(const ops::KernelRequest& request,
                                                            const ops::ConvOptions& options, const Shape& out)>;

inline ops::ConvOptions complete(ops::ConvOptions o) {
  o.stride.resize(o.kernel.size(), 1);
  o.padding.resize(o.kernel.size(), 0);
  return o;
}

class OwnConv : public ops::Op {
 public:
  OwnConv(ops::ConvOptions o, MakeConv make)
      : o_(complete(std::move(o))), make_(std::move(make)), conv_(ops::conv(o_)) {}
  std::string_view kind() const override { return "own conv"; }
  Shape output(std::span<const Shape> src) const override { return conv_->output(src); }
  std::vector<ops::ParameterSpec> parameters(std::span<const Shape> src) const override {
    return conv_->parameters(src);
  }
  std::unique_ptr<ops::Kernel> compile(const ops::KernelRequest& request) const override {
    return make_(request, o_, output(request.shapes()));
  }
  void reference_forward(Reference& r) const override { conv_->reference_forward(r); }
  void reference_backward(Reference& r) const override { conv_->reference_backward(r); }

 private:
  ops::ConvOptions o_;
  MakeConv make_;
  OpPtr conv_;
};

inline OpCase own_conv(const Shape& src, ops::ConvOptions o, const MakeConv& make) {
  OpCase c{.op = std::make_shared<OwnConv>(o, make), .shapes = {src}};
  double kernel = 1;
  for (const std::int64_t size : o.kernel) kernel *= static_cast<double>(size);
  const Shape out = c.op->output(c.shapes);
  c.name = src.text() + " -> " + out.text();
  c.bound = linear({.dst = static_cast<double>(src[1]) * kernel + 1,
                    .diff_src = static_cast<double>(o.channels) * kernel,
                    .diff_weights = static_cast<double>(out[0] * out.count_from(2))});
  if (o.relu) {
    o.relu = false;
    c.before_relu = std::make_shared<OwnConv>(o, make);
  }
  return c;
}

// Against the reference in every layout, and the same bits on every instruction set.
inline void check_own_conv(const OpCase& c) {
  SCOPED_TRACE(c.name);
  const CaseData data = make_data(c, true);
  const Bounds bounds = c.bound(*c.op, data.exact, data.diff_dst);
  const base::Isa before = base::active_isa();
  std::vector<KernelResult> results;
  for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512}) {
    if (isa > base::best_isa()) continue;
    base::set_active_isa(isa);
    SCOPED_TRACE(base::isa_name(isa));
    for (const Offer& offer : offers(c)) {
      const KernelResult got = run_kernel(c, data, {.offered = offer.layouts, .slot = 1});
      expect_within("dst", data.exact.dst, got.dst, bounds.dst);
      expect_within("diff_src", data.exact.diff_src[0], got.diff_src[0], bounds.diff_src[0]);
      for (std::size_t p = 0; p < got.diff_weights.size(); ++p)
        expect_within("diff_weights", data.exact.diff_weights[p], got.diff_weights[p], bounds.diff_weights[p]);
      results.push_back(got);
      expect_same_bits("as the first", results.front(), got);
    }
    const KernelResult inference =
        run_kernel(c, make_data(c, false), {.offered = offers(c)[0].layouts, .training = false});
    expect_within("dst", data.exact.dst, inference.dst, bounds.dst);
  }
  base::set_active_isa(before);
}

}  // namespace trireme::optest
