// make_weighted(): a kernel of oneDNN's forward, backward-data and backward-weights primitives around one weight tensor
// and an optional bias, with the weight's live layout, derived forms and gradient slots. Thread-safe.
#pragma once

#include <functional>

#include "ops/core/onednn.h"
#include "ops/core/op.h"

namespace trireme::ops {

// A primitive with the layouts that its descriptor chose.
struct MadePrimitive {
  dnnl::primitive primitive;
  dnnl::memory::desc src, weights, dst, scratchpad;
  std::string implementation;
  bool is_plain_loops() const { return implementation.starts_with("ref"); }
};

// How an op makes its primitives. `weights` may be any_desc(); in forward the activations' layouts too.
struct WeightedMakers {
  using Desc = dnnl::memory::desc;
  std::function<MadePrimitive(const Desc&src, const Desc&weights, const Desc&dst)> forward, backward_data;
  // `bias`: the primitive computes the bias' gradient too.
  std::function<MadePrimitive(const Desc& src, const Desc& weights, const Desc& dst, bool bias)> backward_weights;
};

struct WeightedSetup {
  std::string name;    // kind and options that the shapes do not show: "conv stride 2x2 padding 1x1"
  std::string what;    // "conv 3x32x32 -> 16x32x32", for messages
  Shape weight_shape;  // as oneDNN wants it (grouped weights have one size more)
  bool bias = false;
  std::int64_t bias_count = 0;
  bool relu = false;
  // Layouts to try for (src, dst), best first; any_desc() lets oneDNN choose.
  std::vector<std::pair<dnnl::memory::desc, dnnl::memory::desc>> layouts;
};

std::unique_ptr<Kernel> make_weighted(const KernelRequest& request, const WeightedSetup& setup,
                                      const WeightedMakers& makers);

}  // namespace trireme::ops
