#include "graph/description/network_json.h"

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text/nearest.h"
#include "graph/description/op_options_json.h"

namespace trireme::graph {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::int64_t kMostOars = 1 << 16;

const Node& node_at(const Network& network, int index) { return network.nodes()[static_cast<std::size_t>(index)]; }

double penalty_of(const Network& network, int node) {
  for (const ParameterInfo& parameter : network.parameters())
    if (parameter.node == node && parameter.l2 != 0) return parameter.l2;
  return 0;
}

OrderedJson node_json(const Network& network, int index) {
  const Node& node = node_at(network, index);
  OrderedJson json{{"name", node.name}, {"op", node.op->kind()}};
  if (OrderedJson options = options_json(*node.op); !options.empty()) json["options"] = std::move(options);
  for (const int input : node.inputs) json["inputs"].push_back(node_at(network, input).name);
  json["shape"] = node.shape.sizes();
  if (const double l2 = penalty_of(network, index); l2 != 0) json["l2"] = l2;
  return json;
}

// A list with one element per line.
std::string lines_of(const std::vector<OrderedJson>& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) text += (i ? ",\n    " : "\n    ") + list[i].dump();
  return text + "\n  ]";
}

// Reads values and names the place of a mistake.
class Reader {
 public:
  Reader(const ops::OpRegistry& ops, const std::string& file) : ops_(ops), file_(file) {}

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& sentence) const {
    base::user_error("{} at {}: {}", file_, place.empty() ? "/" : place, sentence);
  }

  // Runs f; user errors get the place in front.
  template <class F>
  auto at(const std::string& place, const F& f) const {
    try {
      return f();
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::user) throw;
      fail(place, error.what());
    }
  }

  void check_keys(const OrderedJson& object, const std::string& place, const std::vector<std::string>& known) const {
    for (const auto& [key, value] : object.items())
      if (std::ranges::find(known, key) == known.end()) fail(place, base::unknown_name("key", key, known));
  }

  const OrderedJson& member(const OrderedJson& object, const std::string& place, const std::string& key) const {
    const auto found = object.find(key);
    if (found == object.end()) fail(place, fmt::format("'{}' is missing", key));
    return *found;
  }

  std::string text_of(const OrderedJson& object, const std::string& place, const std::string& key) const {
    const OrderedJson& value = member(object, place, key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      fail(place + "/" + key, "expected a text that is not empty");
    return value.get<std::string>();
  }

  std::int64_t whole(const OrderedJson& object, const std::string& place, const std::string& key, std::int64_t least,
                     std::int64_t most) const {
    const OrderedJson& value = member(object, place, key);
    if (!value.is_number_integer() || value < least || value > most)
      fail(place + "/" + key, fmt::format("expected a whole number from {} to {}", least, most));
    return value.get<std::int64_t>();
  }

  Shape shape_of(const OrderedJson& object, const std::string& place) const {
    std::vector<std::int64_t> sizes;
    const OrderedJson& value = member(object, place, "shape");
    if (!value.is_array() || value.empty()) fail(place + "/shape", "expected a list of sizes such as [3, 32, 32]");
    for (const OrderedJson& size : value) {
      if (!size.is_number_integer() || size < 1 || size > kMostValues)
        fail(place + "/shape", "expected a list of sizes of 1 or more");
      sizes.push_back(size.get<std::int64_t>());
    }
    return Shape(std::move(sizes));
  }

  template <class Read>
  void each(const OrderedJson& object, const std::string& key, const Read& read) const {
    const OrderedJson& list = member(object, "", key);
    if (!list.is_array() || list.empty()) fail("/" + key, "expected a list that is not empty");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string place = fmt::format("/{}/{}", key, i);
      if (!list[i].is_object()) fail(place, "expected an object");
      read(list[i], place);
    }
  }

  void read_input(const OrderedJson& json, const std::string& place, Network& network) {
    check_keys(json, place, {"name", "shape"});
    const std::string name = text_of(json, place, "name");
    const Shape shape = shape_of(json, place);
    values_[name] = at(place, [&] { return network.input(name, shape); });
  }

  void read_node(const OrderedJson& json, const std::string& place, Network& network) {
    check_keys(json, place, {"name", "op", "options", "inputs", "shape", "l2"});
    const std::string name = text_of(json, place, "name");
    const ops::OpPtr op = read_op(json, place);
    if (op->is_loss()) fail(place + "/op", fmt::format("'{}' is a loss; name it as \"loss\"", op->kind()));
    std::vector<Value> inputs;
    const OrderedJson& names = member(json, place, "inputs");
    if (!names.is_array() || names.empty()) fail(place + "/inputs", "expected a list of names");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string input_place = fmt::format("{}/inputs/{}", place, i);
      if (!names[i].is_string()) fail(input_place, "expected the name of an input or of an earlier node");
      inputs.push_back(value_of(names[i].get<std::string>(), input_place));
    }
    const Value value = at(place, [&] { return network.add(name, op, inputs); });
    if (json.contains("shape"))
      if (const Shape shape = shape_of(json, place); shape != network.shape(value))
        fail(place + "/shape", fmt::format("'{}' has the shape {} here, not {}: is the file of another version, or was "
                                           "it edited?",
                                           name, network.shape(value).text(), shape.text()));
    if (json.contains("l2")) {
      if (!json["l2"].is_number() || !(json["l2"].get<double>() >= 0)) fail(place + "/l2", "expected 0 or more");
      network.l2_penalty(value, json["l2"].get<double>());
    }
    values_[name] = value;
  }

  ops::OpPtr read_op(const OrderedJson& json, const std::string& place) const {
    std::string text = text_of(json, place, "op");
    if (text.find_first_of(":,=") != std::string::npos)
      fail(place + "/op", "expected the name of an op; its options go into \"options\"");
    const auto options = json.find("options");
    if (options != json.end()) {
      if (!options->is_object()) fail(place + "/options", "expected an object");
      char separator = ':';
      for (const auto& [key, value] : options->items()) {
        const std::string value_place = place + "/options/" + key;
        if (key.empty() || key.find_first_of(":,=") != std::string::npos) fail(value_place, "no op has such an option");
        text += separator + key + "=" + option_text(value, file_ + " at " + value_place);
        separator = ',';
      }
    }
    return at(place, [&] { return ops::make_op(ops_, text); });
  }

  Value value_of(const std::string& name, const std::string& place) const {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [other, value] : values_) known.push_back(other);
    fail(place, base::unknown_name("value", name, known));
  }

 public:
  Network read(const std::string& text) {
    const OrderedJson json = OrderedJson::parse(text, nullptr, false);
    if (!json.is_object()) base::user_error("{} is no description of a network: expected a JSON object", file_);
    const std::int64_t format = whole(json, "", "format", 1, 1 << 30);
    if (format > kNetworkFormat)
      base::user_error("{} has format {}, but this program reads up to format {}; use a newer one", file_, format,
                       kNetworkFormat);
    check_keys(json, "", {"format", "name", "initialiser", "oar_limit", "inputs", "nodes", "prediction", "loss"});
    Network network(text_of(json, "", "name"));
    if (json.contains("initialiser")) network.set_initialiser(text_of(json, "", "initialiser"));
    if (json.contains("oar_limit")) network.set_oar_limit(static_cast<int>(whole(json, "", "oar_limit", 1, kMostOars)));
    each(json, "inputs",
         [&](const OrderedJson& input, const std::string& place) { read_input(input, place, network); });
    each(json, "nodes", [&](const OrderedJson& node, const std::string& place) { read_node(node, place, network); });
    const Value prediction = value_of(text_of(json, "", "prediction"), "/prediction");
    const OrderedJson& loss = member(json, "", "loss");
    if (!loss.is_object()) fail("/loss", "expected an object with 'op'");
    check_keys(loss, "/loss", {"op", "options"});
    const ops::OpPtr op = read_op(loss, "/loss");
    if (!op->is_loss()) fail("/loss/op", fmt::format("'{}' is no loss", op->kind()));
    at("/loss", [&] { network.finish(prediction, op); });
    return network;
  }

 private:
  const ops::OpRegistry& ops_;
  const std::string& file_;
  std::map<std::string, Value> values_;
};

}  // namespace

std::string network_json(const Network& network) {
  base::check(network.loss() >= 0, "network '{}' is not complete", network.name());
  std::vector<OrderedJson> inputs, nodes;
  for (const int input : network.inputs())
    inputs.push_back({{"name", node_at(network, input).name}, {"shape", node_at(network, input).shape.sizes()}});
  for (int i = 0; i < static_cast<int>(network.nodes().size()); ++i)
    if (node_at(network, i).op && i != network.loss()) nodes.push_back(node_json(network, i));
  const ops::Op& op = *node_at(network, network.loss()).op;
  OrderedJson loss{{"op", op.kind()}};
  if (OrderedJson options = options_json(op); !options.empty()) loss["options"] = std::move(options);
  std::string text =
      fmt::format("{{\n  \"format\": {},\n  \"name\": {},\n", kNetworkFormat, OrderedJson(network.name()).dump());
  if (!network.initialiser().empty())
    text += fmt::format("  \"initialiser\": {},\n", OrderedJson(network.initialiser()).dump());
  text += fmt::format("  \"oar_limit\": {},\n  \"inputs\": {},\n  \"nodes\": {},\n", network.oar_limit(),
                      lines_of(inputs), lines_of(nodes));
  return text + fmt::format("  \"prediction\": {},\n  \"loss\": {}\n}}\n",
                            OrderedJson(node_at(network, network.prediction()).name).dump(), loss.dump());
}

Network network_from_json(const ops::OpRegistry& ops, const std::string& text, const std::string& file) {
  return Reader(ops, file).read(text);
}

}  // namespace trireme::graph
