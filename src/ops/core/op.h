// The interface of every op: what it is (Op: shape rule, parameters, cost), and how it runs once sizes and layouts are
// known (Kernel: forward and gradient on given memory). A user's own op implements the same two classes.
//
// An Op is immutable and shared by all Programs. A Kernel belongs to one Program (one oar size) and is shared by all
// threads, so forward() and backward() are const; what is tied to one arena's pointers lives in the KernelState that
// bind() makes. All sizes include the batch as dimension 0. Class indices and other targets are floats too.
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
  double bytes = 0;  // memory that must move when nothing stays in cache: inputs, outputs, parameters, once each
};

// What a parameter is for; initialisers go by it.
enum class Role { weights, bias, scale, shift, running_mean, running_variance };

struct ParameterSpec {
  std::string name;  // within the op: "weight", "bias", "running_mean"
  Shape shape;
  Role role = Role::weights;
  std::int64_t fan_in = 0;
  std::int64_t fan_out = 0;
  bool is_statistic() const { return role == Role::running_mean || role == Role::running_variance; }
};

// One oar's way through a Program: what is given, and what the loss op reports.
struct OarRun {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::span<const std::int64_t> sample_indices;  // global index of each sample of the oar, for counter-based randomness
  float loss_scale = 1;                          // 1 / true samples of the global batch
  int slot = 0;                                  // which gradient slot this oar writes
  double loss = 0;                               // out: sum over samples
  double correct = 0;                            // out: samples (or labels' share of a sample) predicted right
};

// Memory of one arena for one kernel. A view's element type is that of the plan's layout; as a float pointer it is used
// directly, and a view of another type then fails. Views and pointers of absent things are null.
struct KernelArgs {
  std::vector<ConstView> src;
  View dst;
  std::vector<ConstView> weights;               // per parameter, in the live layout
  std::vector<ConstView> derived;               // per KernelPlan::derived
  View diff_dst;                                // backward may overwrite it
  std::vector<View> diff_src;                   // null where no gradient is wanted
  bool add_diff_src = false;                    // add to diff_src[0]; only where the plan offers it
  std::vector<std::vector<View>> diff_weights;  // [slot][parameter]; statistics: sums weighted by the oar's samples
  std::byte* workspace = nullptr;               // lives from forward to backward
  const std::byte* known = nullptr;             // workspace of an earlier kernel, see KernelPlan::knows_channels
  std::int64_t known_channels = 0;              // the first so many of src[0]'s are the ones it knows
  std::byte* scratch = nullptr;                 // lives during one call
};

// What the compiler of a Program must know of a kernel.
struct KernelPlan {
  std::vector<Layout> src;  // wanted layouts; the Program inserts a reorder where the offered one differs
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
  bool dst_holds_src = false;      // dst may be src[0]'s memory, diff_src[0] diff_dst's: the values stay where they are
  bool adds_diff_src = false;      // can add to diff_src[0] instead of overwriting it, see KernelArgs
  bool knows_channels = false;     // its workspace begins with mean and variance of src[0]'s channels (doubles), which
                                   // a later kernel of that kind that reads the same rows and more need not take again
  bool late_weights = false;       // parameter 0's gradient can be made by late_gradient(), see there
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
  // The implementation, for the profile and the fingerprint: "conv direct jit:avx512_common".
  virtual std::string implementation() const = 0;
  // Once per arena, before the first run. The arguments outlive the state.
  virtual std::unique_ptr<KernelState> bind(const KernelArgs&) const { return nullptr; }
  virtual void forward(const KernelArgs&, KernelState*, OarRun&) const = 0;
  // Overwrites every non-null diff_src and the slot's diff_weights. Not called on inference Programs.
  virtual void backward(const KernelArgs&, KernelState*, OarRun&) const = 0;
  // Where the plan offers it and the slot's diff_weights[0] is null: some rows of parameter 0's gradient, any time
  // after backward, as long as src[0] and diff_dst are as backward left them; by several threads at once, each with
  // scratch of its own.
  virtual void late_gradient(const KernelArgs& args, base::Range rows, std::byte* scratch, float* to) const;

 protected:
  KernelPlan plan_;
};

// What a kernel is asked to be.
struct KernelRequest {
  std::vector<Layout> src;             // offered layouts, batch included
  std::vector<bool> diff_src;          // which gradients are wanted
  std::vector<Layout> weights;         // live layouts when another Program has fixed them, else empty
  bool training = true;                // false: forward only, dropout off, running statistics used
  int threads = 1;                     // OpenMP threads inside an oar
  const KernelTable* table = nullptr;  // null: the built-in choice
  // Channels that rows of channels should have room for, those of a concat's output, of another op's input; 0: not
  // rows.
  std::int64_t room = 0;
  std::vector<Shape> shapes() const;
};

// Everything a plain implementation in double needs; all memory plain row-major, vectors sized by the caller.
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
  // The options that differ from their defaults, as the op's row of the registry reads them: "channels=8,kernel=3x3".
  // The row makes an equal op of this text (op_registry.h).
  virtual std::string options_text() const { return ""; }
  // The shape rule; a user error names what does not fit. Shapes include the batch.
  virtual Shape output(std::span<const Shape> src) const = 0;
  virtual std::vector<ParameterSpec> parameters(std::span<const Shape>) const { return {}; }
  // Of forward; backward costs about twice as much for ops with weights.
  virtual Cost cost(std::span<const Shape> src) const;
  virtual std::unique_ptr<Kernel> compile(const KernelRequest&) const = 0;
  // What the kernel table may decide; no algorithms: nothing. Shapes include the batch.
  virtual KernelChoices choices(std::span<const Shape>) const { return {}; }
  // True when its kernels take an input whose channels lie last with room behind each row, and add to its gradient.
  virtual bool reads_rows() const { return false; }
  // True when the value is a loss: it ends the network, reports into OarRun, and its diff_dst is not used.
  virtual bool is_loss() const { return false; }
  // The momentum with which this op's running statistics move; 0 for ops without.
  virtual double statistics_momentum() const { return 0; }

  // This op with a following ReLU, or a following add of one more input, folded in; null when it cannot.
  virtual std::shared_ptr<const Op> with_relu() const { return nullptr; }
  virtual std::shared_ptr<const Op> with_add() const { return nullptr; }
  // This op with `norm`, a batch norm that alone comes before it, folded in; null when it cannot.
  virtual std::shared_ptr<const Op> with_norm(const Op&) const { return nullptr; }

  // The plain implementation that kernels are tested against, kept forever.
  virtual void reference_forward(Reference&) const;
  virtual void reference_backward(Reference&) const;
};

using OpPtr = std::shared_ptr<const Op>;

struct OpRow;  // op_registry.h; the header of each op declares its row

}  // namespace trireme::ops
