#include "ops/cases/kernel_run.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "base/cpu/simd.h"
#include "ops/core/reorder.h"
#include "tensor/buffer.h"

namespace trireme::optest {
namespace {

using tensor::Buffer;
using tensor::Layout;

constexpr int kSlots = 2;
constexpr int kPoison = 0xff;  // four of these bytes are a NaN

// All memory of one kernel.
class Memory {
 public:
  Buffer& poisoned(std::size_t bytes) {
    Buffer& buffer = buffers_.emplace_back(std::max<std::size_t>(bytes, tensor::kAlignment));
    poison(buffer);
    return buffer;
  }
  Buffer& poisoned(const Layout& layout) { return poisoned(layout.bytes()); }
  Buffer& filled(const Layout& layout, const std::vector<double>& plain) {
    Buffer& buffer = poisoned(layout);
    fill(buffer, layout, plain);
    return buffer;
  }
  static void fill(Buffer& buffer, const Layout& layout, const std::vector<double>& plain) {
    const std::vector<float> floats(plain.begin(), plain.end());
    ASSERT_EQ(static_cast<std::int64_t>(floats.size()), layout.shape.count());
    tensor::from_plain(layout, floats.data(), buffer.floats());
  }
  static void poison(Buffer& buffer) { std::memset(buffer.data(), kPoison, buffer.bytes()); }

 private:
  std::deque<Buffer> buffers_;
};

ops::View view(const Buffer& buffer, const Layout& layout) { return {buffer.data(), layout.type}; }

std::vector<float> plain_of(const std::string& what, const Layout& layout, const float* memory) {
  std::vector<float> plain(static_cast<std::size_t>(layout.shape.count()));
  tensor::to_plain(layout, memory, plain.data());
  std::vector<float> again(static_cast<std::size_t>(layout.elements()));
  tensor::from_plain(layout, plain.data(), again.data());
  if (layout.has_padding()) {
    for (std::size_t i = 0; i < again.size(); ++i)
      if (!(memory[i] == again[i])) {
        ADD_FAILURE() << what << ": the padding of " << layout.text() << " holds " << memory[i] << " at " << i;
        break;
      }
  }
  return plain;
}

bool is_poison(const float* memory, const Layout& layout) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(memory);
  return std::all_of(bytes, bytes + layout.bytes(), [](unsigned char byte) { return byte == kPoison; });
}

}  // namespace

KernelResult run_kernel(const OpCase& c, const CaseData& data, const KernelSetup& setup) {
  base::set_flush_to_zero();
  const Reference& given = data.exact;
  ops::KernelRequest request;
  request.src = setup.offered;
  request.weights = setup.fixed_weights;
  request.training = setup.training;
  request.room = setup.room;
  for (const auto& diff : given.diff_src) request.diff_src.push_back(setup.training && !diff.empty());
  const auto kernel = c.op->compile(request);
  const ops::KernelPlan& plan = kernel->plan();
  EXPECT_FALSE(kernel->implementation().empty());
  EXPECT_EQ(plan.dst.shape.text(), c.op->output(c.shapes).text());

  Memory memory;
  ops::KernelArgs args;
  std::vector<Buffer*> src;
  for (std::size_t s = 0; s < plan.src.size(); ++s) {
    EXPECT_EQ(plan.src[s].shape.text(), c.shapes[s].text());
    src.push_back(&memory.filled(plan.src[s], given.src[s]));
    args.src.push_back(view(*src.back(), plan.src[s]));
  }
  // Whoever needs the source in backward cannot overwrite it in forward.
  const bool src_is_free = !setup.training || !plan.backward_needs_src;
  const bool dst_is_src =
      plan.view || (setup.in_place && plan.dst_holds_src) || (setup.in_place && plan.forward_in_place && src_is_free);
  Buffer& dst = dst_is_src ? *src[0] : memory.poisoned(plan.dst);
  args.dst = view(dst, plan.dst);
  for (std::size_t p = 0; p < plan.weights.size(); ++p)
    args.weights.push_back(view(memory.filled(plan.weights[p], given.weights[p]), plan.weights[p]));
  for (const auto& derived : plan.derived) {
    const auto p = static_cast<std::size_t>(derived.parameter);
    const ops::View place = view(memory.poisoned(derived.layout), derived.layout);
    ops::LayoutCopy(plan.weights[p], args.weights[p], derived.layout, place, 1).run();
    args.derived.push_back(place);
  }
  args.workspace = memory.poisoned(plan.workspace_bytes).data();
  args.scratch = memory.poisoned(plan.scratch_bytes).data();
  args.known = setup.known;
  args.known_channels = setup.known_channels;
  if (setup.training) {
    args.diff_dst = view(memory.filled(plan.dst, data.diff_dst), plan.dst);
    for (std::size_t s = 0; s < plan.src.size(); ++s) {
      const bool in_diff_dst =
          s == 0 && (plan.view || (setup.in_place && (plan.backward_in_place || plan.dst_holds_src)));
      args.diff_src.push_back(!request.diff_src[s] ? ops::View()
                              : in_diff_dst        ? args.diff_dst
                                                   : view(memory.poisoned(plan.src[s]), plan.src[s]));
    }
    if (setup.add_to != 0) {
      EXPECT_TRUE(plan.adds_diff_src);
      args.add_diff_src = true;
      std::fill_n(args.diff_src[0].floats(), plan.src[0].elements(), setup.add_to);
    }
    for (int slot = 0; slot < kSlots; ++slot) {
      args.diff_weights.emplace_back();
      for (const Layout& layout : plan.weights)
        args.diff_weights.back().push_back(view(memory.poisoned(layout), layout));
    }
  }

  KernelResult result;
  ops::OarRun run = oar_run(c.shapes[0][0]);
  run.slot = setup.slot;
  const auto state = plan.view ? nullptr : kernel->bind(args);
  if (!plan.view) kernel->forward(args, state.get(), run);
  result.dst = plain_of("dst", plan.dst, args.dst);
  result.workspace.assign(args.workspace, args.workspace + plan.workspace_bytes);
  result.loss = run.loss;
  result.correct = run.correct;
  result.weight_layouts = plan.weights;
  if (!setup.training) return result;

  if (!plan.view) {
    if (!plan.backward_needs_dst) Memory::poison(dst);
    if (!plan.backward_needs_src)
      for (Buffer* buffer : src)
        if (buffer != &dst) Memory::poison(*buffer);
    kernel->backward(args, state.get(), run);
  }
  for (std::size_t s = 0; s < plan.src.size(); ++s) {
    result.diff_src.emplace_back();
    if (args.diff_src[s] != nullptr) result.diff_src[s] = plain_of("diff_src", plan.src[s], args.diff_src[s]);
  }
  for (std::size_t p = 0; p < plan.weights.size(); ++p) {
    for (int slot = 0; slot < kSlots; ++slot) {
      const float* place = args.diff_weights[static_cast<std::size_t>(slot)][p];
      if (slot == setup.slot)
        result.diff_weights.push_back(plain_of("diff_weights", plan.weights[p], place));
      else
        EXPECT_TRUE(is_poison(place, plan.weights[p])) << "slot " << slot << " was touched, " << setup.slot << " asked";
    }
  }
  return result;
}

std::vector<Offer> offers(const OpCase& c) {
  const auto all = [&](const auto& make) {
    std::vector<Layout> layouts;
    for (const Shape& shape : c.shapes) layouts.push_back(make(shape));
    return layouts;
  };
  std::vector<Offer> result{{"plain", all([](const Shape& s) { return Layout::plain(s); })}};
  if (c.shapes[0].rank() < 3) return result;
  result.push_back({"blocked by 16", all([](const Shape& s) { return Layout::channels_blocked(s, 16); })});
  result.push_back({"blocked by 8", all([](const Shape& s) { return Layout::channels_blocked(s, 8); })});
  result.push_back({"channels last", all([](const Shape& s) { return Layout::channels_last(s); })});
  if (c.shapes.size() > 1) {
    result.push_back(result[1]);
    result.back().name = "mixed";
    result.back().layouts.back() = Layout::channels_last(c.shapes.back());
  }
  return result;
}

void expect_within(const std::string& what, const std::vector<double>& exact, const std::vector<float>& got,
                   const std::vector<double>& bound, double allowance) {
  ASSERT_EQ(exact.size(), got.size()) << what;
  ASSERT_EQ(exact.size(), bound.size()) << what;
  std::size_t outside = 0, worst = 0;
  double most = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - exact[i]);
    if (error <= allowance * bound[i]) continue;
    ++outside;
    const double excess = std::isfinite(error) && bound[i] > 0 ? error / bound[i] : HUGE_VAL;
    if (excess > most) {
      most = excess;
      worst = i;
    }
  }
  if (outside > 0) {
    ADD_FAILURE() << fmt::format(
        "{}: {} of {} values are outside their bounds; at {}: {} instead of {}, bound {:.3g} x {}", what, outside,
        exact.size(), worst, got[worst], exact[worst], bound[worst], allowance);
  }
}

void expect_same_bits(const std::string& what, const KernelResult& a, const KernelResult& b) {
  const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
  };
  const auto all_same = [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  };
  EXPECT_TRUE(same(a.dst, b.dst)) << what << ": dst has other bits";
  EXPECT_TRUE(all_same(a.diff_src, b.diff_src)) << what << ": diff_src has other bits";
  EXPECT_TRUE(all_same(a.diff_weights, b.diff_weights)) << what << ": diff_weights have other bits";
  EXPECT_EQ(a.loss, b.loss) << what;
  EXPECT_EQ(a.correct, b.correct) << what;
}

}  // namespace trireme::optest
