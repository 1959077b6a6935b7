#include "ops/activation/dropout.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"
#include "ops/activation/dropout_passes.h"
#include "ops/activation/dropout_reference.h"
#include "ops/core/elementwise.h"
#include "ops/core/op_options.h"
#include "ops/core/op_registry.h"

namespace trireme::ops {
namespace {

// A sample lies in memory as runs of `run_` elements, each [spatial][block] of one group of channels, or as one run
// when the layout is plain. An element's random number depends on its logical position c * spatial + s, so the mask
// does not depend on the layout. Padding gets arbitrary mask bits, which no other element depends on.
class DropoutKernel : public Kernel {
 public:
  DropoutKernel(const KernelRequest& request, double rate, std::uint64_t stream)
      : passes_(dropping::passes(base::active_isa())),
        threshold_(dropout_threshold(rate)),
        scale_(static_cast<float>(1 / (1 - rate))) {
    const Layout layout = channel_layout(request.src[0]);
    plan_.src = {layout};
    plan_.dst = layout;
    plan_.backward_needs_src = false;
    plan_.view = !request.training;
    plan_.forward_in_place = true;
    plan_.backward_in_place = true;
    if (!request.training) return;
    const std::int64_t spatial = layout.shape.rank() > 1 ? layout.shape.count_from(2) : 1;
    const std::int64_t channels = layout.shape.rank() > 1 ? layout.padded[1] : 1;
    const std::int64_t block = layout.channel_block();
    runs_ = block == 1 ? 1 : channels / block;
    run_ = channels * spatial / runs_;
    words_ = (run_ + kWord - 1) / kWord;
    plan_.workspace_bytes = static_cast<std::size_t>(layout.shape[0] * runs_ * words_) * sizeof(std::uint16_t);
    first_ = ((stream << 40) + 1) * base::kGolden;
    run_step_ = static_cast<std::uint64_t>(run_) * base::kGolden;
    make_offsets(spatial, block);
  }

  std::string implementation() const override { return plan_.view ? "view" : "dropout"; }

  void forward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    if (plan_.view) return;
    base::check(static_cast<std::int64_t>(run.sample_indices.size()) == plan_.dst.shape[0],
                "dropout has {} sample indices for {} samples", run.sample_indices.size(), plan_.dst.shape[0]);
    for_each_run(args, [&](std::int64_t sample, std::int64_t at, std::int64_t from, std::uint16_t* mask) {
      if (threshold_ >> 24 != 0) {  // a rate next to 1: no 24-bit number reaches the threshold
        std::fill_n(mask, words_, std::uint16_t{0});
        return passes_.apply(mask, run_, scale_, args.src[0] + from, args.dst + from);
      }
      const base::CounterRng rng(run.seed, base::Purpose::dropout, run.epoch,
                                 static_cast<std::uint64_t>(run.sample_indices[static_cast<std::size_t>(sample)]));
      const std::uint64_t start = rng.key() + first_ + static_cast<std::uint64_t>(at) * run_step_;
      passes_.forward({start, offsets_.data(), static_cast<std::int64_t>(offsets_.size()), step_}, threshold_, run_,
                      scale_, args.src[0] + from, mask, args.dst + from);
    });
  }

  void backward(const KernelArgs& args, KernelState*, OarRun&) const override {
    if (plan_.view || args.diff_src[0] == nullptr) return;
    for_each_run(args, [&](std::int64_t, std::int64_t, std::int64_t from, const std::uint16_t* mask) {
      passes_.apply(mask, run_, scale_, args.diff_dst + from, args.diff_src[0] + from);
    });
  }

 private:
  static constexpr std::int64_t kWord = 16;  // elements

  // The counters of the smallest number of channel rows that fills whole mask words, relative to the first element's.
  void make_offsets(std::int64_t spatial, std::int64_t block) {
    const std::int64_t width = block == 1 ? kWord : block, rows = kWord / std::gcd(kWord, width);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t c = 0; c < width; ++c)
        offsets_.push_back(static_cast<std::uint64_t>(block == 1 ? c : c * spatial + row) * base::kGolden);
    step_ = static_cast<std::uint64_t>(block == 1 ? kWord : rows) * base::kGolden;
  }

  // Calls f(sample, run of the sample, first element, mask).
  template <class F>
  void for_each_run(const KernelArgs& args, const F& f) const {
    auto* mask = reinterpret_cast<std::uint16_t*>(args.workspace);
    std::int64_t from = 0;
    for (std::int64_t sample = 0; sample < plan_.dst.shape[0]; ++sample)
      for (std::int64_t at = 0; at < runs_; ++at, from += run_, mask += words_) f(sample, at, from, mask);
  }

  const dropping::Passes& passes_;
  std::uint64_t threshold_;
  float scale_;
  std::int64_t runs_ = 0, run_ = 0, words_ = 0;
  std::uint64_t first_ = 0, run_step_ = 0, step_ = 0;
  std::vector<std::uint64_t> offsets_;
};

class DropoutOp : public Op {
 public:
  DropoutOp(double rate, std::uint64_t stream) : rate_(rate), stream_(stream) {}

  std::string_view kind() const override { return "dropout"; }
  std::string options_text() const override {
    OptionsText text;
    text.add("rate", fmt::format("{}", rate_));
    text.add("stream", fmt::format("{}", stream_));
    return text.text();
  }
  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 1) base::user_error("dropout takes one input, not {}", src.size());
    return src[0];
  }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<DropoutKernel>(request, rate_, stream_);
  }
  void reference_forward(Reference& r) const override { dropout_reference_forward(rate_, stream_, r); }
  void reference_backward(Reference& r) const override { dropout_reference_backward(rate_, stream_, r); }

 private:
  double rate_;
  std::uint64_t stream_;
};

}  // namespace

OpPtr dropout(double rate, std::uint64_t stream) {
  if (!(rate >= 0 && rate < 1))
    base::user_error("dropout needs a rate of at least 0 and below 1, got {}; 0.5 drops half of the values", rate);
  return std::make_shared<DropoutOp>(rate, stream);
}

OpRow dropout_row() {
  return {.name = "dropout",
          .summary = "zeroes each element with probability `rate` in training and scales the others by 1 / (1 - rate)",
          .options = {{"rate", "R", "probability of a zero, at least 0 and below 1"},
                      {"stream", "N", "number of the random stream; each dropout of a network needs its own"}},
          .make = [](base::Spec& spec) {
            const double rate = required_number(spec, "rate");
            const std::int64_t stream = required_integer(spec, "stream");
            if (stream < 0) base::user_error("op option dropout:stream is {}, expected at least 0", stream);
            return dropout(rate, static_cast<std::uint64_t>(stream));
          }};
}

}  // namespace trireme::ops
