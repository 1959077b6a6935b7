// Convolutions of the zoo, one oar of them: direct against the own form with fewer products (Winograd's for 3 x 3,
// Toom-Cook's over one spatial size), forward and both gradients, the two measured in turn. Counters: GFLOP/s of each
// (in flops of the direct algorithm, CPU time, best of all turns), and how many times as fast the own one is.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <ctime>

#include <algorithm>
#include <string>

#include "base/cpu/simd.h"
#include "ops/conv/conv.h"
#include "ops/core/kernel_table.h"
#include "ops/core/reorder.h"
#include "tensor/buffer.h"

namespace {

using namespace trireme;
using tensor::Buffer;
using tensor::Layout;
using tensor::Shape;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A convolution with its memory.
class Bench {
 public:
  Bench(const Shape& src, const ops::ConvOptions& options, const std::string& algorithm, bool diff_src) {
    const ops::OpPtr op = ops::conv(options);
    ops::KernelTable table;
    table.choose(base::active_isa(), op->choices(std::vector<Shape>{src}).layer, algorithm);
    ops::KernelRequest request;
    request.src = {Layout::channels_blocked(src, base::active_isa() == base::Isa::avx512 ? 16 : 8)};
    request.diff_src = {diff_src};
    request.table = &table;
    kernel_ = op->compile(request);
    const ops::KernelPlan& plan = kernel_->plan();
    args_.src = {fill(plan.src[0], 1)};
    args_.dst = fill(plan.dst, 0);
    for (const Layout& weights : plan.weights) args_.weights.push_back(fill(weights, 0.05f));
    for (const auto& derived : plan.derived) {
      float* place = fill(derived.layout, 0);
      ops::LayoutCopy(plan.weights[0], args_.weights[0], derived.layout, place, 1).run();
      args_.derived.push_back(place);
    }
    args_.diff_dst = fill(plan.dst, 1);
    args_.diff_src = {diff_src ? fill(plan.src[0], 0) : nullptr};
    args_.diff_weights.emplace_back();
    for (const Layout& weights : plan.weights) args_.diff_weights[0].push_back(fill(weights, 0));
    memory_.emplace_back(kLarge + plan.scratch_bytes);
    args_.scratch = memory_.back().data();
    state_ = kernel_->bind(args_);
  }
  double forward() {
    ops::OarRun run;
    const double start = cpu_seconds();
    kernel_->forward(args_, state_.get(), run);
    return cpu_seconds() - start;
  }
  double backward() {
    ops::OarRun run;
    const double start = cpu_seconds();
    kernel_->backward(args_, state_.get(), run);
    return cpu_seconds() - start;
  }
  double scratch_mb() const { return 1e-6 * static_cast<double>(kernel_->plan().scratch_bytes); }
  std::string implementation() const { return kernel_->implementation(); }

 private:
  float* fill(const Layout& layout, float size) {
    const auto count = static_cast<std::size_t>(layout.elements());
    Buffer& buffer = memory_.emplace_back(kLarge + count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i)
      buffer.floats()[i] = size * (static_cast<float>(i * 7919 % 1009) / 1009.0f - 0.5f);
    return buffer.floats();
  }

  static constexpr std::size_t kLarge = 2 << 20;  // gets large pages, as an arena does

  std::vector<Buffer> memory_;
  std::unique_ptr<ops::Kernel> kernel_;
  std::unique_ptr<ops::KernelState> state_;
  ops::KernelArgs args_;
};

struct Best {
  double forward = 1e9, backward = 1e9, weights = 1e9;
  double data() const { return backward - weights; }
};

struct Row {
  const char* model;
  std::int64_t samples, in, out, size, padding = 1, kernel = 3;
  int spatial = 2;  // sizes, all alike

  double power(std::int64_t size_of_one) const {
    return static_cast<double>(spatial == 2 ? size_of_one * size_of_one : size_of_one);
  }
};

void run(benchmark::State& state, const Row& row) {
  base::set_flush_to_zero();
  const Shape src =
      row.spatial == 2 ? Shape{row.samples, row.in, row.size, row.size} : Shape{row.samples, row.in, row.size};
  const std::vector<std::int64_t> kernel(static_cast<std::size_t>(row.spatial), row.kernel);
  const std::vector<std::int64_t> padding(kernel.size(), row.padding);
  const ops::ConvOptions options{.channels = row.out, .kernel = kernel, .padding = padding, .bias = false};
  Best best[2];
  double scratch = 0;
  {
    std::vector<Bench> both, weights_only;
    for (const char* algorithm : {"direct", row.spatial == 2 ? "winograd" : "toom-cook"}) {
      both.emplace_back(src, options, algorithm, true);
      weights_only.emplace_back(src, options, algorithm, false);
    }
    for (auto _ : state)
      for (std::size_t i = 0; i < 2; ++i) {
        best[i].forward = std::min(best[i].forward, both[i].forward());
        best[i].backward = std::min(best[i].backward, both[i].backward());
        best[i].weights = std::min(best[i].weights, weights_only[i].backward());
      }
    scratch = both[1].scratch_mb();
    state.SetLabel(both[1].implementation());
  }
  const double outputs = static_cast<double>(row.samples) * row.power(row.size + 2 * row.padding - row.kernel + 1);
  const double flops = 2.0 * row.power(row.kernel) * static_cast<double>(row.in * row.out) * outputs;
  const auto report = [&](const std::string& name, double direct, double own) {
    state.counters[name + " direct"] = 1e-9 * flops / direct;
    state.counters[name + " own"] = 1e-9 * flops / own;
    state.counters[name + " x"] = direct / own;
  };
  report("1 fwd", best[0].forward, best[1].forward);
  report("2 data", best[0].data(), best[1].data());
  report("3 weights", best[0].weights, best[1].weights);
  const double direct = best[0].forward + best[0].backward, own = best[1].forward + best[1].backward;
  state.counters["4 all direct ms"] = 1e3 * direct;
  state.counters["4 all own ms"] = 1e3 * own;
  state.counters["4 all x"] = direct / own;
  state.counters["scratch MB"] = scratch;
}

void register_all() {
  for (const Row& row : {Row{"resnet18-cifar", 42, 64, 64, 32},
                         {"resnet18-cifar", 42, 128, 128, 16},
                         {"resnet18-cifar", 42, 256, 256, 8},
                         {"resnet18-cifar", 42, 512, 512, 4},
                         {"resnet18-cifar", 8, 64, 64, 32},
                         {"resnet18-cifar", 8, 128, 128, 16},
                         {"resnet18-cifar", 8, 256, 256, 8},
                         {"resnet18-cifar", 8, 512, 512, 4},
                         {"resnet20-cifar", 26, 16, 16, 32},
                         {"resnet20-cifar", 26, 32, 32, 16},
                         {"resnet20-cifar", 26, 64, 64, 8},
                         {"resnet56v2-cifar", 26, 64, 64, 16},
                         {"resnet56v2-cifar", 26, 128, 128, 8},
                         {"landcover-cnn", 8, 64, 64, 64},
                         {"landcover-cnn", 8, 64, 128, 32},
                         {"landcover-cnn", 8, 128, 128, 32},
                         {"landcover-cnn", 8, 128, 256, 16},
                         {"landcover-cnn", 8, 256, 256, 16},
                         {"landcover-cnn", 8, 512, 512, 8},
                         {"mnist-cnn", 32, 32, 64, 26, 0},
                         {"alexnet", 42, 192, 384, 3},
                         {"alexnet", 42, 384, 256, 3},
                         {"alexnet", 42, 256, 256, 3},
                         {"resnet18", 42, 64, 64, 8},
                         {"resnet18", 42, 128, 128, 4},
                         {"resnet18", 42, 256, 256, 2},
                         {"resnet18", 42, 512, 512, 1},
                         {"redshift-cnn", 32, 16, 16, 896, 0, 8, 1},
                         {"redshift-cnn", 32, 16, 16, 444, 0, 8, 1},

                         {"line", 32, 16, 16, 448, 1, 3, 1},
                         {"line", 32, 16, 16, 448, 2, 5, 1},
                         {"line", 32, 16, 16, 448, 0, 12, 1},
                         {"line", 16, 16, 16, 448, 15, 31, 1},
                         {"line", 16, 64, 64, 64, 1, 3, 1},
                         {"line", 8, 64, 64, 448, 2, 5, 1},
                         {"line", 8, 64, 64, 448, 0, 8, 1},
                         {"line", 4, 256, 256, 200, 0, 8, 1},
                         {"line", 32, 16, 16, 16, 4, 8, 1},
                         {"line", 32, 16, 16, 8, 4, 8, 1}})
    benchmark::RegisterBenchmark(
        fmt::format("{} {}x{}->{}@{}p{}k{}", row.model, row.samples, row.in, row.out, row.size, row.padding, row.kernel)
            .c_str(),
        [row](benchmark::State& state) { run(state, row); })
        ->Unit(benchmark::kMillisecond)
        ->MinTime(1.0);
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
