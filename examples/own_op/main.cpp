// An op of your own: swish(x) = x * sigmoid(x), with its gradient, in a network of its own.
//   own_op gradient                                    checks the gradient against differences
//   own_op train --model swish-net --data mnist
#include <fmt/core.h>
#include <trireme/network.h>
#include <trireme/op.h>
#include <trireme/program.h>

#include <algorithm>

using trireme::Lanes;

// The loops, over sixteen lanes at a time: dispatch() runs the copy for the machine's instruction set, and
// trireme::sigmoid has the same bits on all of them (std::exp does not).
struct SwishForward {
  TRIREME_INLINE static void run(const float* src, float* dst, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += trireme::kLanes) {
      const int part = static_cast<int>(std::min<std::int64_t>(trireme::kLanes, count - i));
      const Lanes x = trireme::load_part(src + i, part);
      trireme::store_part(dst + i, x * trireme::sigmoid(x), part);
    }
  }
};
// swish' = s + x s (1 - s), with s = sigmoid(x).
struct SwishBackward {
  TRIREME_INLINE static void run(const float* src, const float* diff_dst, float* diff_src, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += trireme::kLanes) {
      const int part = static_cast<int>(std::min<std::int64_t>(trireme::kLanes, count - i));
      const Lanes x = trireme::load_part(src + i, part), s = trireme::sigmoid(x);
      const Lanes slope = s + x * s * (trireme::splat(1.0f) - s);
      trireme::store_part(diff_src + i, trireme::load_part(diff_dst + i, part) * slope, part);
    }
  }
};

class SwishKernel : public trireme::Kernel {
 public:
  explicit SwishKernel(const trireme::KernelRequest& request) {
    plan_.dst = trireme::channel_layout(request.src[0]);  // the layout of the op before; swish(0) = 0 keeps padding
    plan_.src = {plan_.dst};
    plan_.backward_needs_src = true;
    plan_.backward_in_place = true;  // element by element, so the gradient may overwrite the one that came in
  }
  std::string implementation() const override { return "swish"; }
  void forward(const trireme::KernelArgs& args, trireme::KernelState*, trireme::OarRun&) const override {
    const float* src = args.src[0];
    float* dst = args.dst;
    trireme::dispatch<SwishForward>(src, dst, plan_.dst.elements());
  }
  void backward(const trireme::KernelArgs& args, trireme::KernelState*, trireme::OarRun&) const override {
    if (!args.diff_src[0]) return;  // no layer before this one learns
    const float *src = args.src[0], *diff_dst = args.diff_dst;
    float* diff_src = args.diff_src[0];
    trireme::dispatch<SwishBackward>(src, diff_dst, diff_src, plan_.dst.elements());
  }
};

class Swish : public trireme::Op {
 public:
  std::string_view kind() const override { return "swish"; }
  trireme::Shape output(std::span<const trireme::Shape> src) const override { return src[0]; }
  std::unique_ptr<trireme::Kernel> compile(const trireme::KernelRequest& request) const override {
    return std::make_unique<SwishKernel>(request);
  }
};

trireme::Network swish_net(const trireme::ModelRequest& data) {
  trireme::Network net("swish-net");
  auto x = net.add("conv", trireme::conv({.channels = 6, .kernel = {5, 5}}), {net.input("image", data.inputs[0])});
  x = net.add("flatten", trireme::flatten(), {net.add("swish", std::make_shared<Swish>(), {x})});
  net.finish(net.add("fc", trireme::dense({.outputs = data.classes}), {x}), trireme::loss_for(data));
  return net;
}

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "gradient") {
    const double error = trireme::gradient_error(Swish(), {{2, 20, 3, 3}});
    fmt::print("largest error of the gradient: {:.1e}\n", error);
    return error < 1e-3 ? 0 : 1;
  }
  trireme::Program program;
  program.add_op({.name = "swish", .summary = "x * sigmoid(x), element by element", .make = [](trireme::Spec&) {
                    return std::make_shared<Swish>();
                  }});
  program.add_model({.name = "swish-net",
                     .summary = "a convolution, swish and a dense layer",
                     .inputs = {{1, 12, 12}},
                     .make = swish_net});
  return program.run(argc, argv);
}
