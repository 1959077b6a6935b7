#include "models/files/toml_builder.h"

#include <toml++/toml.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::models {
namespace {

using graph::Network;
using graph::Value;

constexpr std::int64_t kMostRepeats = 10000;
constexpr const char* kClasses = "classes";         // as an option's value: the outputs that the data asks for
constexpr const char* kBlockInput = "block-input";  // inside a block: its input

class TomlBuilder {
  template <class F>
  auto with_line(const toml::node& node, const F& f) const {
    try {
      return f();
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::user) throw;
      source_.fail(node, error.what());
    }
  }

  // Runs f; user errors get the line, the layer's name and its input shapes in front.
  template <class F>
  auto in_layer(const toml::node& node, const std::string& name, const std::vector<Value>& inputs, const F& f) const {
    try {
      return f();
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::user) throw;
      std::vector<std::string> shapes;
      for (const Value input : inputs)
        if (input.node >= 0) shapes.push_back(network_.shape(input).text());
      const std::string of = shapes.empty() ? "" : fmt::format(" (input {})", base::join(shapes, " and "));
      source_.fail(node, fmt::format("layer '{}'{}: {}", name, of, error.what()));
    }
  }

 public:
  TomlBuilder(const TomlDocument& document, const ModelRequest& request)
      : document_(document), source_(document.source), request_(request), network_(document.name) {}

  Network build() {
    const toml::table& table = *document_.table;
    if (const auto* node = table.get("oars"))
      network_.set_oar_limit(static_cast<int>(source_.whole(*node, "oars", 1, 1 << 16)));
    if (const auto* node = table.get("initialiser")) network_.set_initialiser(*node->value<std::string>());
    if (const std::size_t count = document_.inputs.size(); count > 0 && count != request_.inputs.size())
      source_.fail(*table.get("inputs"), fmt::format("the network has {} inputs, but a sample of the data has {}",
                                                     count, request_.inputs.size()));
    Scope outermost{nullptr, "", {}, {}};
    Value last;
    for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
      const std::string name = i < document_.inputs.size() ? document_.inputs[i].name : default_input_name(i);
      last = outermost.values[name] = network_.input(name, request_.inputs[i]);
    }
    const bool is_chain = request_.inputs.size() == 1;
    last = add_layers(*table.get_as<toml::array>("layers"), outermost, is_chain ? last : Value{});
    if (const auto* node = table.get("prediction")) last = find(outermost, source_.text(*node, "prediction"), *node);
    ops::OpPtr loss = loss_for(request_);
    const toml::node* loss_node = table.get("loss");
    if (loss_node) loss = make(source_.text(*loss_node, "loss"), *loss_node, "loss");
    const toml::node& place = loss_node ? *loss_node : *table.get("layers");
    if (!loss->is_loss()) source_.fail(place, fmt::format("'{}' is no loss (trireme list ops)", loss->kind()));
    in_layer(place, "loss", {last}, [&] { network_.finish(last, loss); });
    return std::move(network_);
  }

 private:
  // The names of one list of layers; a block's names are looked up there first, then around it.
  struct Scope {
    const Scope* outer;
    std::string prefix;
    std::map<std::string, Value> values;
    std::map<std::string, int> counts;  // of nodes without a name, by op
  };

  std::string default_input_name(std::size_t i) const {
    return request_.inputs.size() == 1 ? "input" : fmt::format("input{}", i + 1);
  }

  Value add_layers(const toml::array& layers, Scope& scope, Value last) {
    if (layers.empty()) source_.fail(layers, "'layers' is empty");
    for (const toml::node& layer : layers) last = add_layer(layer, scope, last);
    return last;
  }

  Value add_layer(const toml::node& node, Scope& scope, Value last) {
    if (const auto text = node.value_exact<std::string>()) {  // "conv:channels=16,kernel=3"
      const base::Spec spec = with_line(node, [&] { return base::Spec("layer", *text); });
      toml::table none;
      return add_op(node, spec.name(), base::Spec("layer", *text).all(), none, scope, last);
    }
    const toml::table* table = node.as_table();
    if (!table)
      source_.fail(node, "a layer is a table such as {op = \"relu\"}, or a text such as \"dense:outputs=10\"");
    if (table->contains("layers")) return add_block(*table, scope, last);
    const toml::node* op = table->get("op");
    if (!op) source_.fail(node, "this layer has no 'op' (trireme list ops), or, for a block, no 'layers'");
    std::vector<std::pair<std::string, std::string>> options;
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      if (name == "op" || name == "name" || name == "inputs" || name == "l2") continue;
      options.emplace_back(name, option_text(value, name));
    }
    return add_op(node, source_.text(*op, "op"), options, *table, scope, last);
  }

  // A list of layers, once or `repeat` times, one after the other.
  Value add_block(const toml::table& table, Scope& scope, Value last) {
    source_.check_keys(table, {"name", "repeat", "inputs", "layers"});
    const toml::array* layers = table.get_as<toml::array>("layers");
    if (!layers) source_.fail(*table.get("layers"), "'layers' must be a list");
    const toml::node* repeat = table.get("repeat");
    const std::int64_t times = repeat ? source_.whole(*repeat, "repeat", 1, kMostRepeats) : 1;
    const toml::node* name = table.get("name");
    if (!name) source_.fail(table, "a block needs a 'name': its layers are called after it");
    const std::string prefix = scope.prefix + source_.text(*name, "name");
    if (table.contains("inputs")) {
      const std::vector<Value> inputs = inputs_of(table, table, scope, last);
      if (inputs.size() != 1) source_.fail(table, "a block has one input; its layers may name others");
      last = inputs[0];
    }
    for (std::int64_t i = 0; i < times; ++i) {
      Scope inner{&scope, repeat ? fmt::format("{}.{}.", prefix, i) : prefix + ".", {}, {}};
      if (last.node >= 0) inner.values[kBlockInput] = last;
      last = add_layers(*layers, inner, last);
    }
    return scope.values[source_.text(*name, "name")] = last;
  }

  Value add_op(const toml::node& node, const std::string& op,
               const std::vector<std::pair<std::string, std::string>>& options, const toml::table& table, Scope& scope,
               Value last) {
    const std::string own = name_of(op, table, scope);
    const std::vector<Value> inputs = inputs_of(node, table, scope, last);
    std::string text = op;
    char separator = ':';
    const auto add = [&](const std::string& key, const std::string& value) {
      text += separator + key + "=" + value;
      separator = ',';
    };
    bool has_stream = false;
    for (const auto& [key, value] : options) {
      add(key, value == kClasses ? std::to_string(request_.classes) : for_all_sizes(op, key, value, inputs[0]));
      has_stream = has_stream || key == "stream";
    }
    if (op == "dropout" && !has_stream) add("stream", std::to_string(dropouts_));
    if (op == "dropout") ++dropouts_;
    const std::string full = scope.prefix + own;
    const Value value = in_layer(node, full, inputs, [&] {
      const ops::OpPtr made = ops::make_op(document_.ops, text);
      if (made->is_loss()) base::user_error("'{}' is a loss; write loss = \"{}\" above the layers", op, op);
      (void)made->output(shapes_of(inputs));  // Network::add() would name the node again
      return network_.add(full, made, inputs);
    });
    if (const toml::node* l2 = table.get("l2")) {
      const auto coefficient = l2->value<double>();
      if (!coefficient || !(*coefficient >= 0)) source_.fail(*l2, "l2 must be a number of 0 or more");
      const auto shapes = shapes_of(inputs);
      if (std::ranges::none_of(network_.nodes()[static_cast<std::size_t>(value.node)].op->parameters(shapes),
                               [](const ops::ParameterSpec& spec) { return spec.role == ops::Role::weights; }))
        source_.fail(*l2, fmt::format("layer '{}' has no weights for l2", full));
      network_.l2_penalty(value, *coefficient);
    }
    return scope.values[own] = value;
  }

  std::vector<tensor::Shape> shapes_of(const std::vector<Value>& inputs) const {
    std::vector<tensor::Shape> shapes;
    for (const Value input : inputs) shapes.push_back(network_.shape(input).with_batch(1));
    return shapes;
  }

  // Options such as kernel have a size per spatial dimension; a single number stands for all of them.
  std::string for_all_sizes(const std::string& op, const std::string& key, const std::string& value,
                            Value input) const {
    const ops::OpRow* row = document_.ops.find(op);
    if (!row || value.find_first_not_of("0123456789") != std::string::npos) return value;
    const auto option = std::ranges::find(row->options, key, &base::SpecOption::key);
    if (option == row->options.end() || option->values != "SIZES") return value;
    const int spatial = network_.shape(input).rank() - 1;
    std::string all = value;
    for (int d = 1; d < spatial; ++d) all += "x" + value;
    return all;
  }

  std::string name_of(const std::string& op, const toml::table& table, Scope& scope) const {
    if (const toml::node* name = table.get("name")) {
      const std::string own = source_.text(*name, "name");
      if (own == kBlockInput) source_.fail(*name, fmt::format("'{}' is the name of a block's input", kBlockInput));
      return own;
    }
    std::string own;
    do own = fmt::format("{}{}", op, ++scope.counts[op]);
    while (scope.values.contains(own));
    return own;
  }

  std::vector<Value> inputs_of(const toml::node& node, const toml::table& table, const Scope& scope, Value last) const {
    const toml::node* given = table.get("inputs");
    if (!given) {
      if (last.node < 0)
        source_.fail(node, "the network has several inputs: say which ones this layer reads, as in inputs = [\"a\"]");
      return {last};
    }
    std::vector<Value> inputs;
    if (const toml::array* list = given->as_array()) {
      if (list->empty()) source_.fail(*given, "'inputs' is empty");
      for (const toml::node& one : *list) inputs.push_back(find(scope, source_.text(one, "an input"), one));
    } else {
      inputs.push_back(find(scope, source_.text(*given, "inputs"), *given));
    }
    return inputs;
  }

  Value find(const Scope& scope, const std::string& name, const toml::node& node) const {
    std::vector<std::string> known;
    for (const Scope* each = &scope; each; each = each->outer) {
      if (const auto found = each->values.find(name); found != each->values.end()) return found->second;
      for (const auto& [other, value] : each->values) known.push_back(other);
    }
    source_.fail(node, base::unknown_name("input or earlier layer", name, known));
  }

  std::string option_text(const toml::node& value, const std::string& key) const {
    if (const auto flag = value.value_exact<bool>()) return *flag ? "yes" : "no";
    if (const auto whole = value.value_exact<std::int64_t>()) return std::to_string(*whole);
    if (const auto real = value.value_exact<double>()) return fmt::format("{}", *real);
    if (const auto text = value.value_exact<std::string>(); text && !text->empty()) {
      if (text->find(',') == std::string::npos) return *text;
      source_.fail(value, fmt::format("'{}' has a value with a comma", key));
    }
    if (const toml::array* list = value.as_array(); list && !list->empty()) {
      std::vector<std::string> sizes;
      for (const toml::node& size : *list)
        sizes.push_back(std::to_string(source_.whole(size, fmt::format("each of '{}'", key), 0, 1 << 30)));
      return base::join(sizes, "x");
    }
    source_.fail(value, fmt::format("'{}' must be a number, true or false, a text or a list of sizes", key));
  }

  ops::OpPtr make(const std::string& text, const toml::node& node, const std::string& what) const {
    return in_layer(node, what, {}, [&] { return ops::make_op(document_.ops, text); });
  }

  const TomlDocument& document_;
  const TomlSource& source_;
  const ModelRequest& request_;
  Network network_;
  std::uint64_t dropouts_ = 0;
};

}  // namespace

Network build_toml_network(const TomlDocument& document, const ModelRequest& request) {
  return TomlBuilder(document, request).build();
}

}  // namespace trireme::models
