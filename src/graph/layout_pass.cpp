// The layout pass: compiles each node's kernel for the layouts of its inputs, and inserts a reorder where a kernel
// wants another layout. Nodes that lead neither to the loss nor to the prediction are left out.

#include <algorithm>

#include "base/error.h"
#include "base/index.h"
#include "graph/plan.h"
#include "ops/core/reorder.h"

namespace trireme::graph {
namespace {

using base::at;

}  // namespace

std::string layer_name(const Network& network, int node) {
  for (const ParameterInfo& parameter : network.parameters())
    if (parameter.node == node) return parameter.name.substr(0, parameter.name.size() - parameter.spec.name.size() - 1);
  return network.nodes()[at(node)].name;
}

namespace {

class LayoutPass {
 public:
  LayoutPass(Plan& plan, const Network& network, const ProgramOptions& options, const std::vector<ops::Layout>& fixed)
      : plan_(plan), net_(network), options_(options), fixed_(fixed) {}

  void run() {
    const auto& nodes = net_.nodes();
    find_live_nodes();
    find_room();
    value_of_.assign(nodes.size(), -1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].op)
        value_of_[i] = add_value(ops::Layout::plain(nodes[i].shape.with_batch(options_.samples)), false);
      else if (live_[i])
        add_node(static_cast<int>(i));
    }
    for (const int input : net_.inputs()) plan_.inputs.push_back(value_of_[at(input)]);
    plan_.target = value_of_[at(net_.target())];
    plan_.prediction = value_of_[at(net_.prediction())];
    if (options_.training) find_known_channels();
  }

 private:
  void find_live_nodes() {
    live_.assign(net_.nodes().size(), false);
    live_[at(net_.loss())] = true;
    for (std::size_t i = net_.nodes().size(); i-- > 0;)
      if (live_[i])
        for (const int input : net_.nodes()[i].inputs) live_[at(input)] = true;
  }

  // In a chain of concats each one appends channels to the output of the one before. The whole chain shares one memory:
  // channels-last rows with room for the channels of the chain's last concat, so that a concat copies only what it
  // appends. All other readers must be able to read rows with room.
  void find_room() {
    const auto& nodes = net_.nodes();
    room_.assign(nodes.size(), 0);
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (!live_[i] || nodes[i].shape.rank() < 2 || static_cast<int>(i) == net_.prediction()) continue;
      room_[i] = room_of(static_cast<int>(i));
    }
  }

  // The room of a value's rows; 0 when a reader cannot read rows or no reader benefits.
  std::int64_t room_of(int value) const {
    const auto& nodes = net_.nodes();
    int extending = -1;
    bool read = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto times = std::count(nodes[i].inputs.begin(), nodes[i].inputs.end(), value);
      if (!live_[i] || times == 0) continue;
      if (nodes[i].op->reads_rows()) {
        read = true;
        continue;
      }
      const bool extends = nodes[i].op->kind() == "concat" && nodes[i].inputs[0] == value && times == 1;
      if (!extends || extending >= 0) return 0;
      extending = static_cast<int>(i);
    }
    if (extending >= 0 && room_[at(extending)] > 0) return room_[at(extending)];
    // The last concat of a chain needs no room itself.
    return read ? nodes[at(extending >= 0 ? extending : value)].shape[0] : 0;
  }

  int add_value(ops::Layout layout, bool diff) {
    plan_.values.push_back({std::move(layout), -1, 0});
    diff_value_.push_back(diff);
    return static_cast<int>(plan_.values.size()) - 1;
  }

  void add_node(int index) {
    const Node& node = net_.nodes()[at(index)];
    PlanTask task;
    task.name = node.name;
    task.is_loss = node.op->is_loss();
    task.layer = layer_name(net_, index);
    task.kind = node.op->kind();
    ops::KernelRequest request;
    request.training = options_.training;
    request.threads = options_.threads;
    request.table = options_.table;
    request.room = room_[at(node.op->reads_rows() ? node.inputs[0] : index)];
    bool trained = false;
    for (std::size_t p = 0; p < net_.parameters().size(); ++p) {
      if (net_.parameters()[p].node != index) continue;
      task.parameters.push_back(static_cast<int>(p));
      trained |= !net_.parameters()[p].spec.is_statistic() && !net_.parameters()[p].is_frozen;
      task.has_weights |= net_.parameters()[p].spec.role == ops::Role::weights;
      if (!fixed_.empty()) request.weights.push_back(fixed_[p]);
    }
    for (const int input : node.inputs) {
      const int value = value_of_[at(input)];
      request.src.push_back(plan_.values[at(value)].layout);
      request.diff_src.push_back(options_.training && diff_value_[at(value)]);
    }
    task.cost = node.op->cost(request.shapes());
    task.kernel = node.op->compile(request);
    const ops::KernelPlan& plan = task.kernel->plan();
    base::check(plan.weights.size() == task.parameters.size(), "node '{}': kernel lays out {} of {} parameters",
                node.name, plan.weights.size(), task.parameters.size());
    bool diff = trained;
    for (std::size_t s = 0; s < node.inputs.size(); ++s) {
      const int value = value_of_[at(node.inputs[s])];
      task.src.push_back(in_layout(value, plan.src[s], task));
      task.wants_diff.push_back(request.diff_src[s]);
      diff |= diff_value_[at(value)];
    }
    task.dst = add_value(plan.dst, diff && !task.is_loss);
    if (plan.view || plan.dst_holds_src) plan_.values[at(task.dst)].alias_of = task.src[0];
    value_of_[at(index)] = task.dst;
    plan_.tasks.push_back(std::move(task));
  }

  // Rows that grow keep their earlier channels, so a task reuses the channel statistics of the latest earlier task on
  // the same memory (KernelPlan::knows_channels).
  void find_known_channels() {
    const auto memory = [&](int value) {
      while (plan_.values[at(value)].alias_of >= 0) value = plan_.values[at(value)].alias_of;
      return value;
    };
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
      for (std::size_t earlier = 0; earlier < t && plan_.tasks[t].kernel->plan().knows_channels; ++earlier)
        if (plan_.tasks[earlier].kernel->plan().knows_channels &&
            memory(plan_.tasks[earlier].src[0]) == memory(plan_.tasks[t].src[0]))
          plan_.tasks[t].known_by = static_cast<int>(earlier);
  }

  // The value itself, or a reorder of it (made once and shared by all readers that want it).
  int in_layout(int value, const ops::Layout& wanted, const PlanTask& reader) {
    const ops::Layout& has = plan_.values[at(value)].layout;
    if (tensor::same_memory(has, wanted)) return value;
    for (const auto& [from, to] : reorders_)
      if (from == value && plan_.values[at(to)].layout == wanted) return to;
    PlanTask task;
    task.name = reader.name + ":reorder";
    task.layer = reader.layer;
    task.kind = "reorder";
    task.cost.bytes = static_cast<double>(has.bytes() + wanted.bytes());
    task.kernel = ops::make_reorder(has, wanted, options_.threads);
    task.src = {value};
    task.wants_diff = {options_.training && diff_value_[at(value)]};
    task.dst = add_value(wanted, diff_value_[at(value)]);
    reorders_.emplace_back(value, task.dst);
    plan_.tasks.push_back(std::move(task));
    return plan_.tasks.back().dst;
  }

  Plan& plan_;
  const Network& net_;
  const ProgramOptions& options_;
  const std::vector<ops::Layout>& fixed_;
  std::vector<bool> live_;
  std::vector<std::int64_t> room_;  // per node: channels of the last concat of its chain; 0: its value has no such rows
  std::vector<int> value_of_;       // per node
  std::vector<bool> diff_value_;    // per value: a parameter to train lies upstream
  std::vector<std::pair<int, int>> reorders_;
};

}  // namespace

void layout_pass(Plan& plan, const Network& network, const ProgramOptions& options,
                 const std::vector<ops::Layout>& fixed) {
  LayoutPass(plan, network, options, fixed).run();
}

}  // namespace trireme::graph
