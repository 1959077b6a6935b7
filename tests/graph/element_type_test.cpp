// A Program gives kernels views of the element type that their plans ask for.
#include <gtest/gtest.h>

#include "graph/program.h"
#include "ops/dense/dense.h"
#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::graph {
namespace {

using tensor::ElementType;

constexpr auto kNoType = static_cast<ElementType>(200);

// An op from one element type to another that only notes the arguments it was bound with.
class Convert : public ops::Op {
 public:
  Convert(ElementType from, ElementType to, ops::KernelArgs* bound) : from_(from), to_(to), bound_(bound) {}
  std::string_view kind() const override { return "convert"; }
  ops::Shape output(std::span<const ops::Shape> src) const override { return src[0]; }
  std::unique_ptr<ops::Kernel> compile(const ops::KernelRequest& request) const override {
    return std::make_unique<ConvertKernel>(*this, request.src[0].shape);
  }

 private:
  class ConvertKernel : public ops::Kernel {
   public:
    ConvertKernel(const Convert& op, const ops::Shape& shape) : bound_(op.bound_) {
      plan_.src = {ops::Layout::plain(shape, op.from_)};
      plan_.dst = ops::Layout::plain(shape, op.to_);
    }
    std::string implementation() const override { return "convert"; }
    std::unique_ptr<ops::KernelState> bind(const ops::KernelArgs& args) const override {
      *bound_ = args;
      return nullptr;
    }
    void forward(const ops::KernelArgs&, ops::KernelState*, ops::OarRun&) const override {}
    void backward(const ops::KernelArgs&, ops::KernelState*, ops::OarRun&) const override {}

   private:
    ops::KernelArgs* bound_;
  };

  ElementType from_, to_;
  ops::KernelArgs* bound_;
};

TEST(Program, ViewsHaveTheElementTypeOfTheirLayouts) {
  ops::KernelArgs there, back;
  Network net("two-types");
  Value x = net.input("x", {6});
  x = net.add("before", ops::dense({.outputs = 5}), {x});
  x = net.add("there", std::make_shared<Convert>(ElementType::float32, kNoType, &there), {x});
  x = net.add("back", std::make_shared<Convert>(kNoType, ElementType::float32, &back), {x});
  support::classify(net, x);

  const Program program(net, {2, true, 1}, {});
  const tensor::ParameterSpace space = support::space_of(net, program.parameter_layouts());
  const tensor::Buffer arena(program.arena_bytes()), weights(static_cast<std::size_t>(space.floats()) * sizeof(float));
  WeightForms forms(space, weights.floats(), 1);
  const Instance instance(program, space, arena.data(), weights.floats(), forms, 1,
                          [&](int, int parameter) { return weights.floats() + space.range(parameter).offset; });

  EXPECT_EQ(there.src.at(0).type, ElementType::float32);
  EXPECT_EQ(there.dst.type, kNoType);
  EXPECT_EQ(there.diff_dst.type, kNoType);
  EXPECT_EQ(there.diff_src.at(0).type, ElementType::float32);
  EXPECT_EQ(back.src.at(0).type, kNoType);
  EXPECT_EQ(back.dst.type, ElementType::float32);
  EXPECT_EQ(back.diff_dst.type, ElementType::float32);
  EXPECT_EQ(back.diff_src.at(0).type, kNoType);
  EXPECT_TRUE(there.diff_src.at(0) && back.diff_src.at(0)) << "both have gradients";
}

}  // namespace
}  // namespace trireme::graph
