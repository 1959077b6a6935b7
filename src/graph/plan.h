// Plan: what the passes of a Program build: values, forward tasks, backward steps and their offsets in the arena.
// One caller at a time; immutable once the passes have run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/network.h"

namespace trireme::graph {

struct PlanValue {
  ops::Layout layout;
  int alias_of = -1;       // shares this value's memory (a view, or an op in place)
  std::size_t offset = 0;  // in the arena, bytes; set by the memory pass
  std::size_t bytes() const { return layout.bytes(); }
};

struct PlanTask {
  std::string name;  // the node's name; "<name>:reorder" for inserted ones
  std::shared_ptr<const ops::Kernel> kernel;
  std::vector<int> src;  // values
  int dst = -1;
  std::vector<int> parameters;   // network parameter indices
  std::vector<bool> wants_diff;  // per src
  bool is_loss = false;
  std::string layer;          // layer_name() of the node
  std::string kind;           // of the op; "reorder" for inserted ones
  ops::Cost cost;             // of forward
  ops::Cost backward_cost;    // set by the cost pass
  bool has_weights = false;   // a matrix product with a parameter, so backward makes two
  std::size_t workspace = 0;  // arena offset
  int known_by = -1;          // an earlier task whose workspace has statistics of some or all of src[0]'s channels
  // Set by the autodiff pass:
  int diff_dst = -1;  // values
  std::vector<int> diff_src;
  bool add_diff_src = false;  // the kernel adds to diff_src[0], which holds another reader's gradient
};

// One step of backward: run a task's gradient, then add the gradients that it wrote to temporaries.
struct PlanBackward {
  int task = 0;
  struct Accumulate {
    int from = 0, into = 0;  // values
  };
  std::vector<Accumulate> accumulate;
};

struct Plan {
  std::vector<PlanValue> values;
  std::vector<PlanTask> tasks;
  std::vector<PlanBackward> backward;
  std::vector<int> inputs;  // values
  int target = -1;
  int prediction = -1;
  std::size_t scratch_offset = 0;
  std::size_t arena_bytes = 0;
};

struct ProgramOptions {
  std::int64_t samples = 1;
  bool training = true;
  int threads = 1;                          // OpenMP threads inside an oar
  const ops::KernelTable* table = nullptr;  // null: built-in choices
};

// The node's name for users. A node with parameters is named after them, because fusion may have renamed the node.
std::string layer_name(const Network& network, int node);

// The passes, in order. `fixed`: the live layout of every parameter if another Program has chosen them, else empty.
void layout_pass(Plan& plan, const Network& network, const ProgramOptions& options,
                 const std::vector<ops::Layout>& fixed);
void autodiff_pass(Plan& plan);
void cost_pass(Plan& plan);
void memory_pass(Plan& plan);

}  // namespace trireme::graph
