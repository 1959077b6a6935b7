// LayerBuilder: builds a Network with the zoo's usual layers: square kernels of the input's rank, and a separate random
// stream per dropout. Lives while one network is built; one thread at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/network.h"

namespace trireme::models {

using graph::Value;

struct Conv {
  std::int64_t channels = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool bias = true;
};

struct Pool {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
};

class LayerBuilder {
 public:
  explicit LayerBuilder(graph::Network& net) : net_(net) {}
  graph::Network& net() { return net_; }
  tensor::Shape shape(Value x) const { return net_.shape(x); }
  std::int64_t channels(Value x) const { return net_.shape(x)[0]; }

  Value conv(const std::string& name, Value x, const Conv& options);
  Value dense(const std::string& name, Value x, std::int64_t outputs);
  Value batch_norm(const std::string& name, Value x);
  Value relu(const std::string& name, Value x);
  Value tanh(const std::string& name, Value x);
  Value max_pool(const std::string& name, Value x, const Pool& options = {});
  Value average_pool(const std::string& name, Value x, const Pool& options = {});
  Value adaptive_average_pool(const std::string& name, Value x, std::int64_t output);
  Value global_average_pool(const std::string& name, Value x);
  Value dropout(const std::string& name, Value x, double rate);
  Value flatten(const std::string& name, Value x);
  Value add(const std::string& name, Value a, Value b);
  Value concat(const std::string& name, const std::vector<Value>& parts);

 private:
  // `value` repeated for each spatial dimension of x.
  std::vector<std::int64_t> spatial(Value x, std::int64_t value) const;

  graph::Network& net_;
  std::uint64_t dropouts_ = 0;
};

}  // namespace trireme::models
