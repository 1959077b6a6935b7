#include "ops/single_position.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/simd.h"
#include "ops/dense_passes.h"
#include "ops/relu_mask.h"
#include "ops/wide.h"
#include "tensor/add_into.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

using namespace dense_passes;

constexpr std::size_t kMostTaps = 16;  // beyond, the layer is large enough for other kernels

struct Tap {
  std::int64_t index = 0;     // among all taps
  std::int64_t position = 0;  // of the input it sees
};

// The taps that see the input, in order, for the one output position.
std::vector<Tap> taps_of(const ConvOptions& o, const Shape& src) {
  std::vector<Tap> taps{{0, 0}};
  for (std::size_t d = 0; d < o.kernel.size(); ++d) {
    const std::int64_t size = src[static_cast<int>(d) + 2];
    std::vector<Tap> more;
    for (const Tap& tap : taps)
      for (std::int64_t t = 0; t < o.kernel[d]; ++t) {
        const std::int64_t at = t - o.padding[d];
        if (at >= 0 && at < size) more.push_back({tap.index * o.kernel[d] + t, tap.position * size + at});
      }
    taps = std::move(more);
  }
  return taps;
}

struct PositivePart {
  TRIREME_INLINE static void run(float* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = positive_part(values[i]);
  }
};

struct SumRows {
  TRIREME_INLINE static void run(const float* rows, std::int64_t count, std::int64_t width, float* sums) {
    std::copy_n(rows, width, sums);
    for (std::int64_t r = 1; r < count; ++r)
      for (std::int64_t i = 0; i < width; ++i) sums[i] += rows[r * width + i];
  }
};

class SinglePositionKernel : public Kernel {
 public:
  SinglePositionKernel(const KernelRequest& request, const ConvOptions& options, const Shape& out)
      : o_(options),
        isa_(base::active_isa()),
        samples_(out[0]),
        inputs_(request.src[0].shape[1]),
        outputs_(out[1]),
        positions_(request.src[0].shape.count_from(2)),
        all_taps_(Shape(options.kernel).count()),
        taps_(taps_of(options, request.src[0].shape)) {
    const Layout& offered = request.src[0];
    const bool fits = offered.channel_block() != 0 && !offered.has_padding();
    plan_.src = {fits ? offered : Layout::channels_last(offered.shape)};
    block_ = positions_ == 1 ? inputs_ : plan_.src[0].channel_block();
    const std::int64_t offered_block = offered.inner.empty() ? 0 : offered.inner[0].size;
    plan_.dst = fits && offered_block > 0 && outputs_ % offered_block == 0
                    ? Layout::channels_blocked(out, offered_block)
                    : Layout::plain(out);
    plan_.weights = {tap_by_tap()};
    if (o_.bias) plan_.weights.push_back(Layout::plain({outputs_}));
    plan_.backward_needs_dst = o_.relu;
    std::int64_t panel = dots_panel_floats(samples_, inputs_);
    if (request.training)
      panel = std::max({panel, sums_panel_floats(samples_, inputs_), sums_panel_floats(outputs_, inputs_)});
    gathered_at_ = whole_lines(panel);
    partial_at_ = gathered_at_ + whole_lines(samples_ * inputs_);
    plan_.scratch_bytes =
        static_cast<std::size_t>(partial_at_ + whole_lines(samples_ * std::max(inputs_, outputs_))) * sizeof(float);
  }

  std::string implementation() const override {
    return fmt::format("conv to one position, {} of {} taps{} own:{}", taps_.size(), all_taps_,
                       o_.relu ? " + relu" : "", base::isa_name(isa_));
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    float* scratch = reinterpret_cast<float*>(args.scratch);
    const std::int64_t count = samples_ * outputs_;
    for (std::size_t t = 0; t < taps_.size(); ++t) {
      float* dst = t == 0 ? args.dst : scratch + partial_at_;
      passes(isa_).dots({.src = gathered(args.src[0], taps_[t], scratch),
                         .weights = args.weights[0] + taps_[t].index * tap_floats(),
                         .bias = o_.bias && t == 0 ? args.weights[1] : nullptr,
                         .dst = dst,
                         .m = samples_,
                         .n = outputs_,
                         .k = inputs_,
                         .relu = o_.relu && taps_.size() == 1,
                         .panel = scratch});
      if (t > 0) tensor::add_into(args.dst, dst, count);
    }
    if (o_.relu && taps_.size() > 1) base::dispatch<PositivePart>(args.dst, count);
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    float* scratch = reinterpret_cast<float*>(args.scratch);
    if (o_.relu) relu_mask(args.diff_dst, args.dst, samples_ * outputs_);
    const auto& slot = args.diff_weights[static_cast<std::size_t>(run.slot)];
    if (o_.bias) base::dispatch<SumRows>(args.diff_dst, samples_, outputs_, slot[1]);
    std::int64_t next = 0;
    for (const Tap& tap : taps_) {
      std::fill(slot[0] + next * tap_floats(), slot[0] + tap.index * tap_floats(), 0.0f);
      next = tap.index + 1;
      passes(isa_).sums({.factors = args.diff_dst,
                         .factor_of_result = 1,
                         .factor_of_term = outputs_,
                         .terms = gathered(args.src[0], tap, scratch),
                         .results = slot[0] + tap.index * tap_floats(),
                         .result_count = outputs_,
                         .term_count = samples_,
                         .k = inputs_,
                         .panel = scratch});
    }
    std::fill(slot[0] + next * tap_floats(), slot[0] + all_taps_ * tap_floats(), 0.0f);
    if (args.diff_src[0] == nullptr) return;
    if (static_cast<std::int64_t>(taps_.size()) < positions_)
      std::fill_n(args.diff_src[0], plan_.src[0].elements(), 0.0f);
    for (const Tap& tap : taps_) {
      float* diff = positions_ == 1 ? args.diff_src[0] : scratch + partial_at_;
      passes(isa_).sums({.factors = args.diff_dst,
                         .factor_of_result = outputs_,
                         .factor_of_term = 1,
                         .terms = args.weights[0] + tap.index * tap_floats(),
                         .results = diff,
                         .result_count = samples_,
                         .term_count = outputs_,
                         .k = inputs_,
                         .panel = scratch});
      if (positions_ > 1) scatter(diff, tap, args.diff_src[0]);
    }
  }

 private:
  static std::int64_t whole_lines(std::int64_t floats) { return (floats + kLanes - 1) / kLanes * kLanes; }
  std::int64_t tap_floats() const { return outputs_ * inputs_; }

  Layout tap_by_tap() const {
    std::vector<std::int64_t> sizes{outputs_, inputs_};
    sizes.insert(sizes.end(), o_.kernel.begin(), o_.kernel.end());
    Layout layout = Layout::plain(Shape(std::move(sizes)));
    layout.strides = {inputs_, 1};
    std::int64_t after = all_taps_;
    for (const std::int64_t size : o_.kernel) layout.strides.push_back((after /= size) * tap_floats());
    return layout;
  }

  // Calls f(offset in the map's memory, offset in rows of all channels, floats) for each contiguous piece of a
  // position.
  template <class F>
  void for_each_piece(const Tap& tap, const F& f) const {
    for (std::int64_t n = 0; n < samples_; ++n)
      for (std::int64_t c = 0; c < inputs_; c += block_)
        f((n * inputs_ + c) * positions_ + tap.position * block_, n * inputs_ + c, block_);
  }

  // The channels at the tap's input position, one row per sample.
  const float* gathered(const float* src, const Tap& tap, float* scratch) const {
    if (positions_ == 1) return src;
    float* rows = scratch + gathered_at_;
    for_each_piece(tap, [&](std::int64_t from, std::int64_t to, std::int64_t floats) {
      std::copy_n(src + from, floats, rows + to);
    });
    return rows;
  }
  void scatter(const float* rows, const Tap& tap, float* diff_src) const {
    for_each_piece(tap, [&](std::int64_t to, std::int64_t from, std::int64_t floats) {
      std::copy_n(rows + from, floats, diff_src + to);
    });
  }

  ConvOptions o_;
  base::Isa isa_;
  std::int64_t samples_, inputs_, outputs_, positions_, all_taps_;
  std::vector<Tap> taps_;
  std::int64_t block_ = 1;                         // channels side by side at one position
  std::int64_t gathered_at_ = 0, partial_at_ = 0;  // floats in the scratch, behind the panel
};

}  // namespace

bool is_single_position(const ConvOptions& options, const Shape& src, const Shape& out) {
  if (options.groups != 1 || out.count_from(2) != 1) return false;
  const std::size_t taps = taps_of(options, src).size();
  return taps >= 1 && taps <= kMostTaps;
}

std::unique_ptr<Kernel> make_single_position(const KernelRequest& request, const ConvOptions& options,
                                             const Shape& out) {
  auto kernel = std::make_unique<SinglePositionKernel>(request, options, out);
  if (!request.weights.empty() && request.weights != kernel->plan().weights) return nullptr;
  return kernel;
}

}  // namespace trireme::ops
