// Op and Kernel, the interface of every op: Op has the shape rule, the parameters and the cost; Kernel runs forward and
// backward on given memory once sizes and layouts are known. A user's own op implements the same two classes.
// Thread-safe: Op and Kernel are immutable; a KernelState takes one caller at a time.
//
// All Programs share an Op. A Kernel belongs to one Program (one oar size) and is shared by all threads; data bound to
// one arena's pointers lives in the KernelState that bind() makes. All sizes include the batch as dimension 0. Class
// indices and other targets are floats too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/oar_tree.h"
#include "ops/core/kernel_table.h"
#include "tensor/layout.h"
#include "tensor/shape.h"
#include "tensor/view.h"

namespace trireme::ops {

using tensor::ConstView;
using tensor::Layout;
using tensor::Shape;
using tensor::View;

struct Cost {
  double flops = 0;
  double bytes = 0;  // memory traffic without a cache: inputs, outputs and parameters, once each
};

// The role of a parameter; initialisers depend on it.
enum class Role { weights, bias, scale, shift, running_mean, running_variance };

struct ParameterSpec {
  std::string name;  // within the op: "weight", "bias", "running_mean"
  Shape shape;
  Role role = Role::weights;
  std::int64_t fan_in = 0;
  std::int64_t fan_out = 0;
  bool is_statistic() const { return role == Role::running_mean || role == Role::running_variance; }
};

// The inputs and results of one oar's run through a Program.
struct OarRun {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::span<const std::int64_t> sample_indices;  // global index of each sample of the oar, for counter-based randomness
  float loss_scale = 1;                          // 1 / true samples of the global batch
  std::span<const float> class_weights{};        // factors of the samples' losses, by their class; empty: all 1
  int slot = 0;                                  // the gradient slot that this oar writes
  double loss = 0;                               // set by the loss op: sum over samples
  double correct = 0;                            // set by the loss op: correct samples, or fractions of correct labels
};

// A kernel's memory in one arena. A view has the element type of the plan's layout; it converts to a float pointer,
// which fails for any other type. Absent views and pointers are null.
struct KernelArgs {
  std::vector<ConstView> src;
  View dst;
  std::vector<ConstView> weights;               // per parameter, in the live layout
  std::vector<ConstView> derived;               // per KernelPlan::derived
  View diff_dst;                                // backward may overwrite it
  std::vector<View> diff_src;                   // null where no gradient is wanted
  bool add_diff_src = false;                    // add to diff_src[0]; only with KernelPlan::adds_diff_src
  std::vector<std::vector<View>> diff_weights;  // [slot][parameter]; statistics: sums weighted by the oar's samples
  std::byte* workspace = nullptr;               // lives from forward to backward
  const std::byte* known = nullptr;             // workspace of an earlier kernel, see KernelPlan::knows_channels
  std::int64_t known_channels = 0;              // how many of src[0]'s first channels it covers
  std::byte* scratch = nullptr;                 // lives during one call
};

// What the passes of a Program must know about a kernel.
struct KernelPlan {
  std::vector<Layout> src;  // wanted layouts; the Program inserts a reorder where the offered layout differs
  Layout dst;
  std::vector<Layout> weights;  // live layouts (equal in all Programs)
  struct Derived {              // a parameter in another layout, refreshed once per step and shared by all oars
    int parameter = 0;
    Layout layout;
  };
  std::vector<Derived> derived;
  std::size_t workspace_bytes = 0;
  std::size_t scratch_bytes = 0;
  bool backward_needs_src = true;
  bool backward_needs_dst = false;
  bool view = false;               // dst is src[0]'s memory under another shape; no work in either direction
  bool dst_holds_src = false;      // dst extends src[0] in its memory; diff_src[0] uses diff_dst's memory
  bool adds_diff_src = false;      // can add to diff_src[0] instead of overwriting it, see KernelArgs
  bool knows_channels = false;     // its workspace begins with mean and variance of src[0]'s channels (doubles); a
                                   // later kernel of this kind reuses them if it reads the same rows, extended
  bool late_weights = false;       // late_gradient() can compute parameter 0's gradient, see there
  bool forward_in_place = false;   // dst may be src[0]'s memory
  bool backward_in_place = false;  // diff_src[0] may be diff_dst's memory
};

class KernelState {
 public:
  virtual ~KernelState() = default;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  const KernelPlan& plan() const { return plan_; }
  // The name of the implementation for the profile and the fingerprint: "conv direct jit:avx512_common".
  virtual std::string implementation() const = 0;
  // Called once per arena, before the first run. The arguments outlive the state.
  virtual std::unique_ptr<KernelState> bind(const KernelArgs&) const { return nullptr; }
  virtual void forward(const KernelArgs&, KernelState*, OarRun&) const = 0;
  // Overwrites every non-null diff_src and the slot's diff_weights. Not called on inference Programs.
  virtual void backward(const KernelArgs&, KernelState*, OarRun&) const = 0;
  // Computes some rows of parameter 0's gradient. REQUIRES: KernelPlan::late_weights, the slot's diff_weights[0] was
  // null in backward(), and src[0] and diff_dst are as backward() left them. Several threads may call it at once, each
  // with its own scratch.
  virtual void late_gradient(const KernelArgs& args, base::Range rows, std::byte* scratch, float* to) const;

 protected:
  KernelPlan plan_;
};

// What Op::compile() is asked for.
struct KernelRequest {
  std::vector<Layout> src;             // offered layouts, batch included
  std::vector<bool> diff_src;          // per src: whether its gradient is wanted
  std::vector<Layout> weights;         // live layouts when another Program has fixed them, else empty
  bool training = true;                // false: forward only, dropout off, running statistics used
  int threads = 1;                     // OpenMP threads inside an oar
  const KernelTable* table = nullptr;  // null: the built-in choice
  // The channels that channels-last rows should have room for: rows of a concat's output, of another op's input.
  // 0: no such rows.
  std::int64_t room = 0;
  std::vector<Shape> shapes() const;
};

// The arguments of a reference implementation in double: plain row-major, vectors sized by the caller.
struct Reference {
  std::vector<Shape> shapes;                      // of src
  std::vector<std::vector<double>> src, weights;  // weights: statistics too
  std::vector<double> dst, diff_dst;
  std::vector<std::vector<double>> diff_src, diff_weights;
  bool training = true;
  OarRun run;
};

class Op {
 public:
  virtual ~Op() = default;
  virtual std::string_view kind() const = 0;
  // The options that differ from their defaults, as text: "channels=8,kernel=3x3". The op's row of the registry makes
  // an equal op from it (op_registry.h).
  virtual std::string options_text() const { return ""; }
  // The shape rule; shapes that do not fit are a user error. Shapes include the batch.
  virtual Shape output(std::span<const Shape> src) const = 0;
  virtual std::vector<ParameterSpec> parameters(std::span<const Shape>) const { return {}; }
  // The cost of forward; backward costs about twice as much for ops with weights.
  virtual Cost cost(std::span<const Shape> src) const;
  virtual std::unique_ptr<Kernel> compile(const KernelRequest&) const = 0;
  // The algorithms that the kernel table may choose from; none: there is no choice. Shapes include the batch.
  virtual KernelChoices choices(std::span<const Shape>) const { return {}; }
  // True when its kernels accept a channels-last input with unused room at the end of each row, and can add to its
  // gradient.
  virtual bool reads_rows() const { return false; }
  // True when the value is a loss: it ends the network, reports into OarRun, and its diff_dst is not used.
  virtual bool is_loss() const { return false; }
  // The momentum of this op's running statistics; 0 for ops without statistics.
  virtual double statistics_momentum() const { return 0; }

  // This op with a following ReLU, or a following add of one more input, folded in; null when that is not possible.
  virtual std::shared_ptr<const Op> with_relu() const { return nullptr; }
  virtual std::shared_ptr<const Op> with_add() const { return nullptr; }
  // This op with its only input, the batch norm `norm`, folded in; null when that is not possible.
  virtual std::shared_ptr<const Op> with_norm(const Op&) const { return nullptr; }

  // The reference implementation that kernels are tested against. Built-in ops always have one.
  virtual void reference_forward(Reference&) const;
  virtual void reference_backward(Reference&) const;
};

using OpPtr = std::shared_ptr<const Op>;

struct OpRow;  // op_registry.h; the header of each op declares its row

}  // namespace trireme::ops
