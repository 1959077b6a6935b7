#include "ops/merge/merge.h"

#include <algorithm>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "ops/core/elementwise.h"
#include "ops/core/op_registry.h"
#include "ops/merge/merge_reference.h"

namespace trireme::ops {
namespace {

struct AddForward {
  // dst may be one of the inputs: each element is computed alone.
  TRIREME_INLINE static void run(const float* a, const float* b, float* dst, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) dst[i] = a[i] + b[i];
  }
};

class AddKernel : public Kernel {
 public:
  explicit AddKernel(const KernelRequest& request) {
    const Layout layout = channel_layout(request.src[0]);
    plan_.src = {layout, layout};
    plan_.dst = layout;
    plan_.backward_needs_src = false;
    plan_.forward_in_place = true;
    plan_.backward_in_place = true;
  }
  std::string implementation() const override { return "add"; }
  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    base::dispatch<AddForward>(args.src[0], args.src[1], args.dst, plan_.dst.elements());
  }
  void backward(const KernelArgs& args, KernelState*, OarRun&) const override {
    const float* diff_dst = args.diff_dst;
    for (float* diff_src : args.diff_src)
      if (diff_src != nullptr && diff_src != diff_dst) std::copy_n(diff_dst, plan_.dst.elements(), diff_src);
  }
};

class AddOp : public Op {
 public:
  std::string_view kind() const override { return "add"; }
  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 2) base::user_error("add takes two inputs, not {}", src.size());
    if (!(src[0] == src[1]))
      base::user_error("add needs two values of the same sizes, got {} and {}", src[0].without_batch().text(),
                       src[1].without_batch().text());
    return src[0];
  }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<AddKernel>(request);
  }
  void reference_forward(Reference& r) const override { add_reference_forward(r); }
  void reference_backward(Reference& r) const override { add_reference_backward(r); }
};

// In each layout the output consists of rows with one contiguous piece of every input. A row is a sample when channels
// are outermost, and a position when they are last. If the first input lies in rows with room for the other inputs, the
// output uses its memory and only the other inputs are copied.
class ConcatKernel : public Kernel {
 public:
  ConcatKernel(const KernelRequest& request, const Shape& out) {
    const Layout& offered_first = request.src[0];
    const std::int64_t row = offered_first.channel_row();
    const bool has_room = row > offered_first.shape[1];
    base::check(!has_room || row >= out[1], "concat of {} has no room in rows of {}", out.text(), row);
    plan_.dst = has_room           ? Layout::channels_last(out, row)
                : request.room > 0 ? Layout::channels_last(out, request.room)
                                   : choose(request.src, out);
    // A first input in rows with room stays in place; one in another layout is reordered into such rows and not copied
    // again.
    const std::int64_t rows = plan_.dst.channel_row();
    plan_.dst_holds_src = has_room || (row == 0 && rows != 0 && request.room > 0);
    const Layout first = Layout::channels_last(offered_first.shape, rows);
    for (const Layout& offered : request.src) {
      plan_.src.push_back(rows != 0 && is_one_block(offered) ? offered : same_form(plan_.dst, offered.shape));
    }
    if (plan_.dst_holds_src) plan_.src[0] = first;
    plan_.backward_needs_src = false;
    const bool rows_are_samples = plan_.dst.is_plain() || !plan_.dst.inner.empty();
    rows_ = rows_are_samples ? out[0] : out[0] * out.count_from(2);
    if (rows_ == 0) return;
    for (const Layout& src : plan_.src)
      pieces_.push_back({(plan_.dst.inner.empty() ? src.shape : src.padded).count() / rows_, src.elements() / rows_,
                         src.has_padding() && plan_.dst.inner.empty()});
    row_ = plan_.dst.elements() / rows_;
  }
  std::string implementation() const override {
    return (plan_.dst_holds_src ? "concat in place " : "concat ") + plan_.dst.text();
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    for_each_piece([&](std::size_t k, const Piece& piece, std::int64_t before) {
      const float* src = args.src[k];
      float* dst = args.dst;
      if (src == dst) return;
      for (std::int64_t row = 0; row < rows_; ++row)
        std::copy_n(src + row * piece.row, piece.width, dst + row * row_ + before);
    });
  }
  void backward(const KernelArgs& args, KernelState*, OarRun&) const override {
    for_each_piece([&](std::size_t k, const Piece& piece, std::int64_t before) {
      const float* diff_dst = args.diff_dst;
      float* diff_src = args.diff_src[k];
      if (diff_src == nullptr || diff_src == diff_dst) return;
      for (std::int64_t row = 0; row < rows_; ++row) {
        float* end = std::copy_n(diff_dst + row * row_ + before, piece.width, diff_src + row * piece.row);
        if (piece.padded) std::fill(end, diff_src + (row + 1) * piece.row, 0.0f);
      }
    });
  }

 private:
  // An input's part of a row: its floats, the distance between the input's rows, and whether these end in padding.
  struct Piece {
    std::int64_t width, row;
    bool padded;
  };

  // Whether all channels lie in one block: like channels-last rows, with padding at the end of each row.
  static bool is_one_block(const Layout& l) {
    return l.shape.rank() > 2 && l.inner.size() == 1 && l.channel_block() == l.padded[1];
  }

  template <class F>
  void for_each_piece(const F& f) const {
    std::int64_t before = 0;
    for (std::size_t k = 0; k < pieces_.size(); before += pieces_[k++].width) f(k, pieces_[k], before);
  }

  static Layout choose(const std::vector<Layout>& offered, const Shape& out) {
    if (out.rank() == 2 || std::ranges::all_of(offered, [](const Layout& l) { return l.is_plain(); }))
      return Layout::plain(out);
    const auto fits = [&](const Layout& l) {
      return !l.inner.empty() && l.channel_block() != 0 && l.inner == offered[0].inner && !l.has_padding();
    };
    if (std::ranges::all_of(offered, fits)) return Layout::channels_blocked(out, offered[0].inner[0].size);
    return Layout::channels_last(out);
  }

  std::int64_t rows_ = 0;
  std::int64_t row_ = 0;  // distance between rows of the output
  std::vector<Piece> pieces_;
};

class ConcatOp : public Op {
 public:
  std::string_view kind() const override { return "concat"; }
  Shape output(std::span<const Shape> src) const override {
    if (src.empty()) base::user_error("concat needs at least one input");
    if (src[0].rank() < 2 || src[0].rank() > 4)
      base::user_error("concat needs samples of 1 to 3 sizes, got {}", src[0].without_batch().text());
    Shape out = src[0];
    for (const Shape& shape : src.subspan(1)) {
      Shape other = shape;
      if (other.rank() == out.rank()) other[1] = src[0][1];
      if (!(other == src[0]))
        base::user_error("concat needs values that differ in channels only, got {} and {}",
                         src[0].without_batch().text(), shape.without_batch().text());
      out[1] += shape[1];
    }
    return out;
  }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<ConcatKernel>(request, output(request.shapes()));
  }
  void reference_forward(Reference& r) const override { concat_reference_forward(r); }
  void reference_backward(Reference& r) const override { concat_reference_backward(r); }
};

}  // namespace

OpPtr add() { return std::make_shared<AddOp>(); }
OpPtr concat() { return std::make_shared<ConcatOp>(); }

OpRow add_row() {
  return {.name = "add", .summary = "element-wise sum of two values of one shape", .make = [](base::Spec&) {
            return add();
          }};
}
OpRow concat_row() {
  return {.name = "concat",
          .summary = "concatenation of any number of values along the channels",
          .make = [](base::Spec&) { return concat(); }};
}

}  // namespace trireme::ops
