// The table: one row per case. The functions above it derive from an op's options what the checks need, so that a row
// is the op and its input.
#include <fmt/core.h>

#include <algorithm>

#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/cases/bounds.h"
#include "ops/conv/conv.h"
#include "ops/conv/norm_conv/norm_conv.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"
#include "support/op_swish.h"

namespace trireme::optest {
namespace {

using Sizes = std::vector<std::int64_t>;

std::string list(const Sizes& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += fmt::format("{}{}", text.empty() ? "" : ", ", size);
  return "[" + text + "]";
}
double product(const Sizes& sizes) {
  double result = 1;
  for (const std::int64_t size : sizes) result *= static_cast<double>(size);
  return result;
}
std::string marks(std::initializer_list<std::pair<const char*, bool>> all) {
  std::string text;
  for (const auto& [mark, set] : all)
    if (set) text += std::string(" ") + mark;
  return text;
}

OpCase conv(const Shape& src, ops::ConvOptions o) {
  OpCase c{.op = ops::conv(o), .shapes = {src}};
  o.stride.resize(o.kernel.size(), 1);
  o.padding.resize(o.kernel.size(), 0);
  const auto groups = static_cast<double>(o.groups);
  const Shape out = c.op->output(c.shapes);
  c.bound = linear({.dst = static_cast<double>(src[1]) / groups * product(o.kernel) + 1,
                    .diff_src = static_cast<double>(o.channels) / groups * product(o.kernel),
                    .diff_weights = static_cast<double>(out[0] * out.count_from(2))});
  c.name = fmt::format("conv {} -> {}, kernel {}, stride {}, padding {}, groups {}{}", src.text(), o.channels,
                       list(o.kernel), list(o.stride), list(o.padding), o.groups,
                       marks({{"bias", o.bias}, {"relu", o.relu}}));
  c.torch = fmt::format(R"("op": "conv", "stride": {}, "padding": {}, "groups": {}, "relu": {})", list(o.stride),
                        list(o.padding), o.groups, o.relu);
  if (o.relu) {
    o.relu = false;
    c.before_relu = ops::conv(o);
  }
  return c;
}

// The same by Winograd's algorithm, whatever would be chosen.
OpCase winograd(const Shape& src, ops::ConvOptions o) {
  o.kernel = {3, 3};
  o.algorithm = ops::ConvAlgorithm::winograd;
  o.padding.resize(2, 0);
  OpCase c = conv(src, o);
  c.name = "winograd " + c.name;
  c.bound = winograd_bound(o.padding[0], o.padding[1]);
  return c;
}

OpCase dense(const Shape& src, ops::DenseOptions o) {
  OpCase c{.name = fmt::format("dense {} -> {}{}", src.text(), o.outputs, marks({{"bias", o.bias}, {"relu", o.relu}})),
           .op = ops::dense(o),
           .shapes = {src},
           .bound = linear({.dst = static_cast<double>(src[1] + 1),
                            .diff_src = static_cast<double>(o.outputs),
                            .diff_weights = static_cast<double>(src[0])}),
           .torch = fmt::format(R"("op": "dense", "relu": {})", o.relu)};
  if (o.relu) {
    o.relu = false;
    c.before_relu = ops::dense(o);
  }
  return c;
}

OpCase pool(const Shape& src, ops::PoolKind kind, ops::PoolOptions o) {
  const bool max = kind == ops::PoolKind::max;
  OpCase c{.op = max ? ops::max_pool(o) : ops::average_pool(o), .shapes = {src}};
  if (o.stride.empty()) o.stride = o.kernel;
  o.padding.resize(o.kernel.size(), 0);
  double overlap = 1;  // windows over one input
  for (std::size_t d = 0; d < o.kernel.size(); ++d)
    overlap *= static_cast<double>((o.kernel[d] + o.stride[d] - 1) / o.stride[d]);
  c.bound = max ? choosing(overlap) : linear({.dst = product(o.kernel) + 1, .diff_src = overlap + 1});
  if (max) c.values = {Values::distinct};
  c.name =
      fmt::format("{} pool {}, window {}, stride {}, padding {}{}", max ? "max" : "average", src.text(), list(o.kernel),
                  list(o.stride), list(o.padding), marks({{"uncounted", !o.count_padding}, {"relu", o.relu}}));
  c.torch =
      fmt::format(R"("op": "{}_pool", "kernel": {}, "stride": {}, "padding": {}, "count_padding": {}, "relu": {})",
                  max ? "max" : "average", list(o.kernel), list(o.stride), list(o.padding), o.count_padding, o.relu);
  if (o.relu) {
    o.relu = false;
    c.before_relu = ops::max_pool(o);
  }
  return c;
}
OpCase max_pool(const Shape& src, const ops::PoolOptions& o) { return pool(src, ops::PoolKind::max, o); }
OpCase average_pool(const Shape& src, const ops::PoolOptions& o) { return pool(src, ops::PoolKind::average, o); }

OpCase adaptive(const Shape& src, const Sizes& out, OpPtr op) {
  double window = 1, overlap = 1;
  for (std::size_t d = 0; d < out.size(); ++d) {
    const std::int64_t in = src[static_cast<int>(d) + 2];
    window *= static_cast<double>(in / out[d] + 2);
    overlap *= static_cast<double>(out[d] / in + 2);
  }
  return {.name = fmt::format("{} {} -> {}", op->kind(), src.text(), list(out)),
          .op = std::move(op),
          .shapes = {src},
          .bound = linear({.dst = window + 1, .diff_src = overlap + 1}),
          .torch = fmt::format(R"("op": "adaptive_average_pool", "out": {})", list(out))};
}
OpCase adaptive(const Shape& src, const Sizes& out) { return adaptive(src, out, ops::adaptive_average_pool(out)); }
OpCase global(const Shape& src) {
  return adaptive(src, Sizes(static_cast<std::size_t>(src.rank() - 2), 1), ops::global_average_pool());
}

OpCase global_max(const Shape& src) {
  Sizes window;
  for (int d = 2; d < src.rank(); ++d) window.push_back(src[d]);
  OpCase c = pool(src, ops::PoolKind::max, {.kernel = window});
  c.name = "global " + c.name;
  c.op = ops::global_max_pool();
  return c;
}

OpCase batch_norm(const Shape& src, ops::BatchNormOptions o = {}) {
  // torch refuses statistics of a single value.
  const bool torch_can = src[0] * src.count_from(2) > 1;
  OpCase c{
      .name =
          fmt::format("batch norm {}, epsilon {}{}", src.text(), o.epsilon, marks({{"add", o.add}, {"relu", o.relu}})),
      .op = ops::batch_norm(o),
      .shapes = std::vector<Shape>(o.add ? 2 : 1, src),
      .bound = batch_norm_bound(o.epsilon),
      .values = {Values::shifted},
      .torch = torch_can ? fmt::format(R"("op": "batch_norm", "epsilon": {}, "relu": {})", o.epsilon, o.relu) : ""};
  if (o.relu) {
    o.relu = false;
    c.before_relu = ops::batch_norm(o);
  }
  return c;
}

OpCase norm_conv(const Shape& src, std::int64_t channels) {
  const ops::BatchNormOptions norm{.relu = true};
  const ops::ConvOptions conv{.channels = channels, .kernel = {1, 1}, .bias = false};
  return {.name = fmt::format("batch norm {}, relu, conv -> {}", src.text(), channels),
          .op = ops::norm_conv(norm, ops::conv(conv)),
          .shapes = {src},
          .bound = norm_conv_bound(norm.epsilon, ops::batch_norm(norm), ops::conv(conv)),
          .values = {Values::shifted}};
}

OpCase simple(OpPtr op, const std::vector<Shape>& src, BoundRule bound, Values values = Values::spread) {
  std::string name{op->kind()};
  for (const Shape& shape : src) name += " " + shape.text();
  const std::string torch = fmt::format(R"("op": "{}")", op->kind());
  return {
      .name = name, .op = std::move(op), .shapes = src, .bound = std::move(bound), .values = {values}, .torch = torch};
}

OpCase dropout(const Shape& src, double rate, std::uint64_t stream) {
  OpCase c = simple(ops::dropout(rate, stream), {src}, linear({.dst = 2, .diff_src = 2}));
  c.name += fmt::format(", rate {}", rate);
  c.torch.clear();  // torch draws other numbers
  return c;
}

OpCase loss(OpPtr op, std::int64_t samples, std::int64_t count) {
  const Shape prediction{samples, count};
  const Shape target = op->output(std::vector<Shape>{prediction});
  const bool softmax = op->kind() == "softmax_cross_entropy", sigmoid = op->kind() == "sigmoid_cross_entropy";
  OpCase c = simple(std::move(op), {prediction, target},
                    softmax   ? softmax_bound()
                    : sigmoid ? sigmoid_loss_bound()
                              : squared_error_bound());
  c.values = {Values::logits, softmax ? Values::classes : sigmoid ? Values::labels : Values::logits};
  return c;
}
OpCase softmax(std::int64_t n, std::int64_t k) { return loss(ops::softmax_cross_entropy(), n, k); }
OpCase sigmoid_loss(std::int64_t n, std::int64_t k) { return loss(ops::sigmoid_cross_entropy(), n, k); }
OpCase squared(std::int64_t n, std::int64_t k) { return loss(ops::squared_error(), n, k); }

OpCase relu(const Shape& src) { return simple(ops::relu(), {src}, choosing(0), Values::nonzero); }
// tanh and sigmoid are right to 3 units in the last place (6 u); their gradients come from that.
OpCase tanh(const Shape& src) { return simple(ops::tanh(), {src}, elementwise(6, 16), Values::logits); }
OpCase sigmoid(const Shape& src) { return simple(ops::sigmoid(), {src}, elementwise(6, 16), Values::logits); }
OpCase add(const Shape& src) { return simple(ops::add(), {src, src}, linear({.dst = 1})); }
OpCase concat(const std::vector<Shape>& src) { return simple(ops::concat(), src, linear({})); }
OpCase flatten(const Shape& src) { return simple(ops::flatten(), {src}, linear({})); }
OpCase swish(const Shape& src) { return simple(own_op::swish(), {src}, elementwise(8, 32), Values::logits); }

std::vector<OpCase> make_cases() {
  return {
      conv({5, 3, 9, 9}, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}}),
      conv({2, 16, 7, 7}, {.channels = 32, .kernel = {1, 1}, .bias = false}),
      conv({13, 4, 8, 8}, {.channels = 6, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}),
      conv({2, 1, 12, 12}, {.channels = 12, .kernel = {5, 5}}),
      conv({1, 3, 23, 23}, {.channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}, .bias = false}),
      conv({5, 6, 9, 7}, {.channels = 17, .kernel = {3, 1}, .padding = {1, 0}}),
      conv({2, 12, 6, 8}, {.channels = 16, .kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}}),
      conv({1, 4, 5, 6}, {.channels = 3, .kernel = {2, 4}, .padding = {2, 1}}),
      conv({5, 16, 8, 8}, {.channels = 32, .kernel = {1, 1}, .stride = {2, 2}, .bias = false}),
      conv({5, 16, 6, 6}, {.channels = 32, .kernel = {3, 3}, .padding = {1, 1}, .groups = 2}),
      conv({5, 12, 5, 5}, {.channels = 6, .kernel = {3, 3}, .groups = 2, .bias = false}),
      conv({2, 32, 5, 5}, {.channels = 32, .kernel = {3, 3}, .padding = {1, 1}, .groups = 32}),
      conv({2, 17, 6, 6}, {.channels = 17, .kernel = {3, 3}, .padding = {1, 1}, .groups = 17, .bias = false}),
      conv({2, 6, 7, 7}, {.channels = 12, .kernel = {3, 3}, .stride = {2, 2}, .groups = 6, .relu = true}),
      conv({2, 64, 5, 5}, {.channels = 64, .kernel = {3, 3}, .padding = {1, 1}, .bias = false, .relu = true}),
      conv({13, 17, 5, 5}, {.channels = 17, .kernel = {3, 3}, .padding = {1, 1}, .relu = true}),
      conv({2, 32, 6, 6}, {.channels = 1, .kernel = {3, 3}, .padding = {1, 1}, .relu = true}),
      conv({13, 32, 1, 1}, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}}),
      conv({1, 1, 1, 1}, {.channels = 1, .kernel = {3, 3}, .padding = {1, 1}}),
      conv({2, 64, 1, 1}, {.channels = 4, .kernel = {1, 1}, .relu = true}),
      conv({2, 3, 20, 29}, {.channels = 6, .kernel = {5, 5}}),
      conv({1, 1, 9, 16}, {.channels = 3, .kernel = {3, 3}, .padding = {1, 1}, .bias = false, .relu = true}),
      conv({7, 32, 2, 2}, {.channels = 64, .kernel = {3, 3}, .padding = {1, 1}, .relu = true}),
      conv({2, 48, 1, 1}, {.channels = 128, .kernel = {1, 1}, .bias = false}),
      conv({5, 1, 32}, {.channels = 16, .kernel = {8}}),
      conv({2, 16, 20}, {.channels = 32, .kernel = {8}, .relu = true}),
      conv({13, 4, 31}, {.channels = 17, .kernel = {3}, .stride = {2}, .padding = {1}}),
      conv({1, 3, 9}, {.channels = 6, .kernel = {5}, .stride = {2}, .padding = {2}, .bias = false}),
      conv({2, 16, 12}, {.channels = 16, .kernel = {3}, .padding = {1}, .groups = 16}),
      conv({2, 12, 1}, {.channels = 3, .kernel = {3}, .padding = {1}}),

      winograd({2, 16, 8, 8}, {.channels = 16, .padding = {1, 1}}),
      winograd({1, 16, 1, 1}, {.channels = 32, .padding = {1, 1}, .bias = false}),
      winograd({5, 32, 3, 3}, {.channels = 16, .padding = {1, 1}}),
      winograd({3, 48, 5, 7}, {.channels = 16, .padding = {1, 1}, .relu = true}),
      winograd({2, 16, 9, 6}, {.channels = 48, .bias = false}),
      winograd({1, 32, 3, 14}, {.channels = 32, .relu = true}),
      winograd({2, 16, 6, 10}, {.channels = 32, .padding = {2, 0}}),
      winograd({1, 16, 13, 12}, {.channels = 16, .padding = {0, 2}, .relu = true}),
      winograd({2, 16, 2, 5}, {.channels = 16, .padding = {3, 2}}),
      winograd({2, 48, 9, 7}, {.channels = 12, .padding = {1, 1}, .bias = false}),
      winograd({3, 16, 6, 6}, {.channels = 33, .padding = {1, 1}, .bias = false, .relu = true}),
      winograd({3, 16, 34, 29}, {.channels = 16, .padding = {1, 1}, .relu = true}),
      winograd({1, 144, 5, 4}, {.channels = 80, .padding = {1, 1}, .bias = false}),
      winograd({7, 80, 4, 4}, {.channels = 144, .padding = {1, 1}, .relu = true}),

      dense({1, 1}, {.outputs = 1}),
      dense({2, 17}, {.outputs = 1, .bias = false}),
      dense({13, 64}, {.outputs = 10}),
      dense({5, 800}, {.outputs = 17}),
      dense({2, 30}, {.outputs = 800}),
      dense({13, 100}, {.outputs = 84, .relu = true}),
      dense({5, 1}, {.outputs = 16, .bias = false, .relu = true}),
      dense({1, 1025}, {.outputs = 3}),                  // one element in the second block
      dense({13, 1024}, {.outputs = 67, .relu = true}),  // copied blocks, three outputs left over
      dense({21, 2079}, {.outputs = 130}),               // three blocks of odd width, terms in three
      dense({97, 33}, {.outputs = 15}),                  // more samples than one block has
      dense({42, 48}, {.outputs = 64, .bias = false, .relu = true}),

      max_pool({2, 16, 8, 8}, {.kernel = {2, 2}}),
      max_pool({5, 3, 9, 9}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}),
      max_pool({1, 17, 7, 5}, {.kernel = {2, 2}}),
      max_pool({13, 4, 6, 5}, {.kernel = {2, 3}, .stride = {1, 2}, .padding = {0, 1}}),
      max_pool({2, 64, 1, 1}, {.kernel = {1, 1}}),
      max_pool({3, 16, 6, 6}, {.kernel = {2, 2}, .relu = true}),
      max_pool({5, 17, 9, 7}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .relu = true}),
      max_pool({2, 12, 9}, {.kernel = {2}, .relu = true}),
      max_pool({2, 12, 9}, {.kernel = {2}}),
      max_pool({5, 1, 16}, {.kernel = {3}, .stride = {2}, .padding = {1}}),
      average_pool({2, 16, 8, 8}, {.kernel = {2, 2}}),
      average_pool({5, 3, 9, 9}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}),
      average_pool({5, 3, 9, 9}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .count_padding = false}),
      average_pool({1, 17, 7, 5}, {.kernel = {2, 2}}),
      average_pool({13, 4, 6, 5}, {.kernel = {2, 3}, .stride = {1, 2}, .padding = {0, 1}, .count_padding = false}),
      average_pool({2, 12, 9}, {.kernel = {2}}),
      average_pool({5, 1, 16}, {.kernel = {3}, .stride = {2}, .padding = {1}, .count_padding = false}),
      global({13, 32, 7, 7}),
      global_max({5, 17, 7, 6}),
      global_max({2, 16, 33}),
      global({2, 17, 5}),
      global({1, 64, 1, 1}),
      adaptive({2, 3, 7, 7}, {3, 3}),
      adaptive({5, 17, 4, 4}, {6, 6}),
      adaptive({2, 1, 5, 3}, {2, 7}),
      adaptive({1, 16, 9}, {4}),
      adaptive({13, 6, 3}, {8}),

      batch_norm({13, 10}),
      batch_norm({2, 17}),
      batch_norm({5, 33}, {.relu = true}),
      batch_norm({1, 6}),
      batch_norm({5, 12, 11}),
      batch_norm({2, 16, 40}, {.epsilon = 1e-3, .relu = true}),
      batch_norm({5, 3, 7, 7}),
      batch_norm({2, 16, 9, 9}, {.relu = true}),
      batch_norm({13, 17, 3, 3}, {.add = true}),
      batch_norm({2, 64, 6, 6}, {.relu = true, .add = true}),
      batch_norm({1, 1, 5, 5}, {.relu = true, .add = true}),
      batch_norm({13, 32, 1, 1}, {.relu = true}),
      batch_norm({5, 4, 2, 3}, {.relu = true, .add = true}),
      batch_norm({2, 6, 33, 31}),

      norm_conv({2, 36, 7, 9}, 48),
      norm_conv({13, 24, 3, 3}, 16),
      norm_conv({1, 17, 9, 8}, 12),
      norm_conv({2, 108, 3, 2}, 60),
      norm_conv({5, 1, 2, 2}, 1),
      norm_conv({3, 70, 1, 1}, 33),

      relu({1, 1}),
      relu({5, 17}),
      relu({2, 3, 5, 5}),
      relu({13, 16, 9}),
      tanh({1, 1}),
      tanh({5, 17}),
      tanh({2, 3, 5, 5}),
      tanh({13, 16, 9}),
      sigmoid({1, 1}),
      sigmoid({5, 17}),
      sigmoid({2, 3, 5, 5}),
      sigmoid({13, 16, 9}),
      swish({5, 17}),
      swish({2, 3, 5, 5}),

      dropout({13, 100}, 0.5, 1),
      dropout({5, 17, 3, 3}, 0.25, 2),
      dropout({2, 16, 8}, 0.9, 3),
      dropout({1, 6, 2, 2}, 0, 4),
      dropout({2, 24, 5, 7}, 0.1, 5),
      dropout({3, 33, 17}, 0.3, 6),

      add({1, 1}),
      add({5, 17}),
      add({2, 16, 5, 5}),
      add({13, 3, 7}),
      concat({{5, 3}, {5, 14}}),
      concat({{2, 16, 4, 4}, {2, 32, 4, 4}}),
      concat({{5, 3, 3, 5}, {5, 17, 3, 5}, {5, 1, 3, 5}}),
      concat({{13, 12, 6}, {13, 4, 6}}),
      concat({{1, 8, 2, 2}, {1, 8, 2, 2}, {1, 24, 2, 2}}),
      flatten({5, 3, 4, 5}),
      flatten({1, 16, 7}),
      flatten({2, 9}),

      softmax(1, 1),
      softmax(13, 10),
      softmax(5, 17),
      softmax(2, 800),
      sigmoid_loss(13, 1),
      sigmoid_loss(1, 10),
      sigmoid_loss(5, 17),
      sigmoid_loss(2, 800),
      squared(13, 1),
      squared(1, 10),
      squared(5, 17),
      squared(2, 800),
  };
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = make_cases();
  return cases;
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const OpCase& c : op_cases())
    if (std::find(names.begin(), names.end(), c.family()) == names.end()) names.push_back(c.family());
  return names;
}

bool runs_in_onednn(const std::string& family) {
  return family == "conv" || family == "max_pool" || family == "average_pool";
}

}  // namespace trireme::optest
