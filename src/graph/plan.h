// The plan of a Program while its passes run: values, forward tasks, backward steps, places in the arena.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/network.h"

namespace trireme::graph {

struct PlanValue {
  ops::Layout layout;
  int alias_of = -1;       // shares this value's memory (a view, or an op in place)
  std::size_t offset = 0;  // in the arena, bytes; set by the memory plan
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
  int known_by = -1;          // an earlier task that knows some of src[0]'s channels, or all and more
  // Filled by autodiff:
  int diff_dst = -1;  // values
  std::vector<int> diff_src;
  bool add_diff_src = false;  // to diff_src[0], which has a value already
};

// One step of backward: run a task's gradient, then add what went to a temporary.
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

// A node as people know it: by its parameters, if it has some, because fusion may have given it another name.
std::string layer_name(const Network& network, int node);

// The passes, in order. `fixed` holds the live layout of every parameter when another Program has chosen them.
void layout_pass(Plan& plan, const Network& network, const ProgramOptions& options,
                 const std::vector<ops::Layout>& fixed);
void autodiff_pass(Plan& plan);
void cost_pass(Plan& plan);
void memory_pass(Plan& plan);

}  // namespace trireme::graph
