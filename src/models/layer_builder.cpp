#include "models/layer_builder.h"

#include <algorithm>

#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/conv/conv.h"
#include "ops/dense/dense.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"

namespace trireme::models {

std::vector<std::int64_t> LayerBuilder::spatial(Value x, std::int64_t value) const {
  return std::vector<std::int64_t>(static_cast<std::size_t>(std::max(net_.shape(x).rank() - 1, 0)), value);
}

Value LayerBuilder::conv(const std::string& name, Value x, const Conv& options) {
  return net_.add(name,
                  ops::conv({.channels = options.channels,
                             .kernel = spatial(x, options.kernel),
                             .stride = spatial(x, options.stride),
                             .padding = spatial(x, options.padding),
                             .bias = options.bias}),
                  {x});
}

Value LayerBuilder::dense(const std::string& name, Value x, std::int64_t outputs) {
  return net_.add(name, ops::dense({.outputs = outputs}), {x});
}

Value LayerBuilder::batch_norm(const std::string& name, Value x) { return net_.add(name, ops::batch_norm(), {x}); }

Value LayerBuilder::relu(const std::string& name, Value x) { return net_.add(name, ops::relu(), {x}); }

Value LayerBuilder::tanh(const std::string& name, Value x) { return net_.add(name, ops::tanh(), {x}); }

Value LayerBuilder::max_pool(const std::string& name, Value x, const Pool& options) {
  return net_.add(name,
                  ops::max_pool({.kernel = spatial(x, options.kernel),
                                 .stride = spatial(x, options.stride),
                                 .padding = spatial(x, options.padding)}),
                  {x});
}

Value LayerBuilder::average_pool(const std::string& name, Value x, const Pool& options) {
  return net_.add(name,
                  ops::average_pool({.kernel = spatial(x, options.kernel),
                                     .stride = spatial(x, options.stride),
                                     .padding = spatial(x, options.padding)}),
                  {x});
}

Value LayerBuilder::adaptive_average_pool(const std::string& name, Value x, std::int64_t output) {
  return net_.add(name, ops::adaptive_average_pool(spatial(x, output)), {x});
}

Value LayerBuilder::global_average_pool(const std::string& name, Value x) {
  return net_.add(name, ops::global_average_pool(), {x});
}

Value LayerBuilder::dropout(const std::string& name, Value x, double rate) {
  return net_.add(name, ops::dropout(rate, dropouts_++), {x});
}

Value LayerBuilder::flatten(const std::string& name, Value x) { return net_.add(name, ops::flatten(), {x}); }

Value LayerBuilder::add(const std::string& name, Value a, Value b) { return net_.add(name, ops::add(), {a, b}); }

Value LayerBuilder::concat(const std::string& name, const std::vector<Value>& parts) {
  return net_.add(name, ops::concat(), parts);
}

}  // namespace trireme::models
