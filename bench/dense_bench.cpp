// Dense layers: the engine's own passes against oneDNN's inner product, in turns, one thread.
//
// oneDNN has what an engine would give it: blocked weights as it likes them, and for their gradient a reorder into the
// layout that forward wants, since the update works there. Counters are of the best turn, in CPU time:
// GFLOP/s of both, how many times as fast the own pass is, and how many GB/s of weights it passes. Every pass finds the
// weights out of the cache when they do not fit, as in training.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <time.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu/simd.h"
#include "ops/core/onednn.h"
#include "ops/dense/dense_passes.h"
#include "tensor/buffer.h"

namespace {

using namespace trireme;
using namespace ops::dense_passes;
using Desc = dnnl::memory::desc;
using ops::onednn::BoundPrimitive;
using ops::onednn::memory_at;
using tensor::Buffer;
using tensor::Layout;

struct Sizes {
  std::int64_t m, n, k;
  std::string text() const { return fmt::format("{}->{} m={}", k, n, m); }
};

Buffer floats(std::int64_t count) {
  Buffer buffer(static_cast<std::size_t>(std::max<std::int64_t>(count, 16)) * sizeof(float));
  std::uint32_t random = 1;
  for (float& value : buffer.span()) {
    random = random * 1664525u + 1013904223u;
    value = static_cast<float>(random >> 8) / 8388608.0f - 1;
  }
  return buffer;
}

struct Layer {
  explicit Layer(const Sizes& sizes)
      : s(sizes),
        src(floats(s.m * s.k)),
        dst(floats(s.m * s.n)),
        weights(floats((s.n + 63) / 64 * 64 * ((s.k + 63) / 64 * 64))),  // oneDNN's blocks may be padded
        bias(floats(s.n)),
        panel(
            floats(std::max({dots_panel_floats(s.m, s.k), sums_panel_floats(s.m, s.k), sums_panel_floats(s.n, s.k)}))) {
  }

  std::function<void()> own_forward() {
    return [this] {
      passes(base::active_isa())
          .dots({src.floats(), weights.floats(), bias.floats(), dst.floats(), s.m, s.n, s.k, false, panel.floats()});
    };
  }
  std::function<void()> own_data() {
    return [this] {
      passes(base::active_isa())
          .sums({dst.floats(), s.n, 1, weights.floats(), src.floats(), s.m, s.n, s.k, panel.floats()});
    };
  }
  std::function<void()> own_weights() {
    return [this] {
      passes(base::active_isa())
          .sums({dst.floats(), 1, s.n, src.floats(), weights.floats(), s.n, s.m, s.k, panel.floats()});
    };
  }

  dnnl::inner_product_forward::primitive_desc forward_primitive() const {
    return {dnnl::inner_product_forward::desc(dnnl::prop_kind::forward_training, desc({s.m, s.k}),
                                              ops::onednn::any_desc({s.n, s.k}), desc({s.n}), desc({s.m, s.n})),
            ops::onednn::attributes(), ops::onednn::cpu()};
  }
  std::function<void()> onednn_forward() {
    const auto pd = forward_primitive();
    return run({{dnnl::inner_product_forward(pd),
                 {{DNNL_ARG_SRC, memory_at(pd.src_desc(), src.data())},
                  {DNNL_ARG_WEIGHTS, memory_at(pd.weights_desc(), weights.data())},
                  {DNNL_ARG_BIAS, memory_at(pd.bias_desc(), bias.data())},
                  {DNNL_ARG_DST, memory_at(pd.dst_desc(), dst.data())},
                  {DNNL_ARG_SCRATCHPAD, scratch(pd.scratchpad_desc())}},
                 1}});
  }
  std::function<void()> onednn_data() {
    const auto forward = forward_primitive();
    const dnnl::inner_product_backward_data::primitive_desc pd(
        dnnl::inner_product_backward_data::desc(desc({s.m, s.k}), ops::onednn::any_desc({s.n, s.k}), desc({s.m, s.n})),
        ops::onednn::attributes(), ops::onednn::cpu(), forward);
    return run({{dnnl::inner_product_backward_data(pd),
                 {{DNNL_ARG_DIFF_SRC, memory_at(pd.diff_src_desc(), src.data())},
                  {DNNL_ARG_WEIGHTS, memory_at(pd.weights_desc(), weights.data())},
                  {DNNL_ARG_DIFF_DST, memory_at(pd.diff_dst_desc(), dst.data())},
                  {DNNL_ARG_SCRATCHPAD, scratch(pd.scratchpad_desc())}},
                 1}});
  }
  std::function<void()> onednn_weights() {
    const auto forward = forward_primitive();
    const dnnl::inner_product_backward_weights::primitive_desc pd(
        dnnl::inner_product_backward_weights::desc(desc({s.m, s.k}), ops::onednn::any_desc({s.n, s.k}), desc({s.n}),
                                                   desc({s.m, s.n})),
        ops::onednn::attributes(), ops::onednn::cpu(), forward);
    const bool reorders = pd.diff_weights_desc() != forward.weights_desc();
    if (reorders) copy = Buffer(pd.diff_weights_desc().get_size());
    const auto gradient = memory_at(pd.diff_weights_desc(), reorders ? copy.data() : weights.data());
    std::vector<BoundPrimitive> all{{dnnl::inner_product_backward_weights(pd),
                                     {{DNNL_ARG_SRC, memory_at(pd.src_desc(), src.data())},
                                      {DNNL_ARG_DIFF_WEIGHTS, gradient},
                                      {DNNL_ARG_DIFF_BIAS, memory_at(pd.diff_bias_desc(), bias.data())},
                                      {DNNL_ARG_DIFF_DST, memory_at(pd.diff_dst_desc(), dst.data())},
                                      {DNNL_ARG_SCRATCHPAD, scratch(pd.scratchpad_desc())}},
                                     1}};
    if (reorders) {
      const dnnl::reorder::primitive_desc reorder(ops::onednn::cpu(), pd.diff_weights_desc(), ops::onednn::cpu(),
                                                  forward.weights_desc(), ops::onednn::attributes());
      all.emplace_back(
          dnnl::reorder(reorder),
          std::vector<BoundPrimitive::Arg>{{DNNL_ARG_FROM, gradient},
                                           {DNNL_ARG_TO, memory_at(forward.weights_desc(), weights.data())},
                                           {DNNL_ARG_SCRATCHPAD, scratch(reorder.scratchpad_desc())}},
          1);
    }
    return run(std::move(all));
  }

  Sizes s;
  Buffer src, dst, weights, bias, panel, copy;
  std::vector<Buffer> scratches;

 private:
  static Desc desc(const tensor::Shape& shape) { return ops::onednn::to_desc(Layout::plain(shape)); }
  dnnl::memory scratch(const Desc& wanted) {
    scratches.emplace_back(std::max<std::size_t>(wanted.get_size(), 64));
    return memory_at(wanted, scratches.back().data());
  }
  static std::function<void()> run(std::vector<BoundPrimitive> all) {
    return [all = std::move(all)] {
      for (const BoundPrimitive& each : all) each.execute();
    };
  }
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using Direction = std::function<void()> (Layer::*)();

void compare(benchmark::State& state, const Sizes& sizes, Direction own, Direction onednn) {
  base::set_flush_to_zero();
  std::optional<Layer> layer;
  std::function<void()> both[2];
  ops::onednn::create(1, "dense", [&] {
    layer.emplace(sizes);
    both[0] = ((*layer).*own)();
    both[1] = ((*layer).*onednn)();
  });
  const double flops = 2.0 * static_cast<double>(sizes.m * sizes.n * sizes.k);
  const int times = static_cast<int>(std::max(1.0, 1e7 / flops));
  double best[2] = {1e9, 1e9};
  for (auto _ : state) {
    double total = 0;
    for (int side = 0; side < 2; ++side) {
      const double start = cpu_seconds();
      for (int i = 0; i < times; ++i) both[side]();
      const double seconds = (cpu_seconds() - start) / times;
      best[side] = std::min(best[side], seconds);
      total += seconds * times;
    }
    state.SetIterationTime(total);
  }
  state.counters["own"] = 1e-9 * flops / best[0];
  state.counters["onednn"] = 1e-9 * flops / best[1];
  state.counters["times"] = best[1] / best[0];
  state.counters["own_GBs"] = 4e-9 * static_cast<double>(sizes.n * sizes.k) / best[0];  // of weights
}

const int registered = [] {
  const std::vector<Sizes> all{{42, 4096, 9216}, {21, 4096, 9216}, {11, 4096, 9216}, {5, 4096, 9216}, {42, 4096, 4096},
                               {21, 4096, 4096}, {11, 4096, 4096}, {5, 4096, 4096},  {42, 10, 4096},  {8, 1024, 32768},
                               {4, 1024, 32768}, {32, 128, 9216},  {32, 800, 3488},  {42, 120, 400},  {42, 84, 120},
                               {42, 10, 84},     {42, 10, 512},    {26, 10, 2048},   {42, 10, 64},    {1, 800, 3488}};
  for (const Sizes& sizes : all) {
    const auto add = [&](const char* name, Direction own, Direction onednn) {
      benchmark::RegisterBenchmark(fmt::format("{} {}", sizes.text(), name).c_str(), compare, sizes, own, onednn)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    };
    add("forward", &Layer::own_forward, &Layer::onednn_forward);
    add("data", &Layer::own_data, &Layer::onednn_data);
    add("weights", &Layer::own_weights, &Layer::onednn_weights);
  }
  return 0;
}();

}  // namespace
