// A multi-layer perceptron, for tables: dense layers with ReLU, each followed by dropout if asked, then the output
// layer.
#include <fmt/core.h>

#include "base/error.h"
#include "models/families.h"

namespace trireme::models {
namespace {

constexpr std::int64_t kWidest = 1 << 20;
constexpr std::size_t kMostLayers = 100;

}  // namespace

MlpOptions read_mlp_options(base::Spec& options) {
  MlpOptions read;
  const std::string sizes = options.word("hidden", "128x64");
  read.hidden.clear();
  for (const std::string& size : base::split(sizes == "none" ? "" : sizes, 'x')) {
    read.hidden.push_back(base::parse_int("model option mlp:hidden", size));
    if (read.hidden.back() < 1 || read.hidden.back() > kWidest)
      base::user_error("model option mlp:hidden has a layer of {}, expected 1 ... {}", size, kWidest);
  }
  if (read.hidden.empty() && sizes != "none")
    base::user_error("model option mlp:hidden is empty; give sizes like 128x64, or none");
  if (read.hidden.size() > kMostLayers)
    base::user_error("model option mlp:hidden has {} layers, expected at most {}", read.hidden.size(), kMostLayers);
  read.dropout = options.number("dropout", 0);
  if (read.dropout < 0 || read.dropout >= 1)
    base::user_error("model option mlp:dropout is {}, expected at least 0 and below 1", read.dropout);
  return read;
}

Value mlp(const MlpOptions& options, LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  Value x = layers.flatten("flatten", inputs[0]);
  std::size_t layer = 1;
  for (const std::int64_t outputs : options.hidden) {
    x = layers.relu(fmt::format("relu{}", layer), layers.dense(fmt::format("fc{}", layer), x, outputs));
    if (options.dropout > 0) x = layers.dropout(fmt::format("dropout{}", layer), x, options.dropout);
    ++layer;
  }
  return layers.dense(fmt::format("fc{}", layer), x, classes);
}

}  // namespace trireme::models
