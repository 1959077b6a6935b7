#include "graph/description/network_table.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text/text.h"
#include "graph/fusion.h"
#include "graph/program.h"
#include "ops/core/op_registry.h"

namespace trireme::graph {
namespace {

using Line = std::vector<std::string>;

const Node& node_of(const Network& network, int index) { return network.nodes()[static_cast<std::size_t>(index)]; }

std::vector<Shape> input_shapes(const Network& network, const Node& node) {
  std::vector<Shape> shapes;
  for (const int input : node.inputs) shapes.push_back(node_of(network, input).shape.with_batch(1));
  return shapes;
}

// The kernel of each node that has a task of its own.
std::map<std::string, std::string> kernels(const Program& program) {
  std::map<std::string, std::string> by_name;
  for (const PlanTask& task : program.plan().tasks) by_name[task.name] = task.kernel->implementation();
  return by_name;
}

std::string in_columns(const std::vector<Line>& lines) {
  std::vector<std::size_t> widths(lines[0].size());
  for (const Line& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::string text;
  for (const Line& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const bool is_number = c >= 3 && c <= 5;
      const std::string space(widths[c] - line[c].size(), ' ');
      row += (c ? "  " : "") + (is_number ? space + line[c] : line[c] + space);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string network_table(const Network& network, std::int64_t samples) {
  const Program program(fuse(network), {.samples = samples}, {});
  const auto by_name = kernels(program);
  std::vector<Line> lines{{"layer", "op", "output", "parameters", "Mflop", "KB", "kernel"}};
  double flops = 0, bytes = 0;
  for (int i = 0; i < static_cast<int>(network.nodes().size()); ++i) {
    const Node& node = node_of(network, i);
    if (i == network.target()) continue;
    if (!node.op) {
      lines.push_back({node.name, "input", node.shape.text(), "", "", "", ""});
      continue;
    }
    std::int64_t parameters = 0;
    for (const ParameterInfo& parameter : network.parameters())
      if (parameter.node == i && !parameter.spec.is_statistic()) parameters += parameter.spec.shape.count();
    const double node_flops = node.op->cost(input_shapes(network, node)).flops;
    const double node_bytes = sizeof(float) * static_cast<double>(node.shape.count());
    flops += node_flops;
    bytes += node_bytes;
    const auto kernel = by_name.find(node.name);
    lines.push_back({node.name, ops::op_text(*node.op), node.shape.text(), parameters ? std::to_string(parameters) : "",
                     fmt::format("{:.3f}", 1e-6 * node_flops), fmt::format("{:.1f}", 1e-3 * node_bytes),
                     kernel == by_name.end() ? "part of another layer's" : kernel->second});
  }
  return in_columns(lines) + fmt::format(
                                 "\n{}: {} parameters; a sample takes {:.4g} Mflop forward and {} of outputs; an oar "
                                 "of {} samples takes {} "
                                 "in training\n",
                                 network.name(), network.parameter_count(), 1e-6 * flops, base::human_bytes(bytes),
                                 samples, base::human_bytes(static_cast<double>(program.arena_bytes())));
}

std::string network_dot(const Network& network) {
  const auto quoted = [](const std::string& text) {
    std::string all = "\"";
    for (const char c : text) all += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    return all + "\"";
  };
  std::string text =
      fmt::format("digraph {} {{\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n",
                  quoted(network.name()));
  for (int i = 0; i < static_cast<int>(network.nodes().size()); ++i) {
    const Node& node = node_of(network, i);
    // A line break in a label is \n as two characters, so it is added after quoting.
    const std::string label = quoted(node.name + "\n" + (node.op ? ops::op_text(*node.op) : "input"));
    std::string escaped;
    for (const char c : label) escaped += c == '\n' ? std::string("\\n") : std::string{c};
    text += fmt::format("  n{} [label={}{}];\n", i, escaped, node.op ? "" : ", shape=oval");
    for (const int input : node.inputs)
      text += fmt::format("  n{} -> n{} [label=\"{}\"];\n", input, i, node_of(network, input).shape.text());
  }
  return text + "}\n";
}

}  // namespace trireme::graph
