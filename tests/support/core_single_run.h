// One Program on one thread with its own memory: what an oar needs, for tests of graphs.
#pragma once

#include <cstring>

#include "base/cpu/simd.h"
#include "graph/fusion.h"
#include "graph/program.h"
#include "support/core_reference.h"

namespace trireme::support {

inline tensor::ParameterSpace space_of(const graph::Network& net, const std::vector<tensor::Layout>& layouts) {
  std::vector<tensor::ParameterSpace::Entry> entries;
  for (std::size_t p = 0; p < net.parameters().size(); ++p) {
    const auto& parameter = net.parameters()[p];
    const auto kind = parameter.spec.is_statistic() ? tensor::ParameterKind::statistic : tensor::ParameterKind::trained;
    entries.push_back({parameter.name, kind, parameter.spec.shape, layouts[p]});
  }
  return tensor::ParameterSpace(entries);
}

class SingleRun {
 public:
  SingleRun(const graph::Network& net, std::int64_t samples, bool training = true)
      : net_(net),
        program_(net_, {samples, training, 1}, {}),
        space_(space_of(net_, program_.parameter_layouts())),
        arena_(program_.arena_bytes()),
        weights_(floats_bytes()),
        gradient_(floats_bytes()),
        forms_(space_, weights_.floats(), 1) {
    instance_ = std::make_unique<graph::Instance>(
        program_, space_, arena_.data(), weights_.floats(), forms_, training ? 1 : 0,
        [this](int, int parameter) { return gradient_.floats() + space_.range(parameter).offset; });
    set_parameters(parameter_values(net_));
  }

  const graph::Network& net() const { return net_; }
  const graph::Program& program() const { return program_; }
  const tensor::ParameterSpace& space() const { return space_; }
  const graph::Instance& instance() const { return *instance_; }
  const tensor::Buffer& arena() const { return arena_; }
  const tensor::Buffer& gradient() const { return gradient_; }
  std::int64_t samples() const { return program_.options().samples; }

  void set_parameters(const Plain& values) {
    put_parameters(space_, values, weights_.floats());
    forms_.refresh_all();
  }

  // Fills inputs and target with the numbers of reference_batch(net, samples, stream).
  void fill(std::uint64_t stream = 0) {
    const Plain inputs = input_values(net_, samples(), stream);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      std::memcpy(instance_->input(static_cast<int>(i)), inputs[i].data(), inputs[i].size() * sizeof(float));
    const std::vector<float> target = target_values(net_, samples(), stream);
    std::memcpy(instance_->target(), target.data(), target.size() * sizeof(float));
    indices_.resize(static_cast<std::size_t>(samples()));
    std::iota(indices_.begin(), indices_.end(), std::int64_t{100});
  }

  // Forward, and backward when training; the loss summed over samples.
  ops::OarRun run() {
    ops::OarRun oar;
    oar.sample_indices = indices_;
    oar.loss_scale = static_cast<float>(1.0 / static_cast<double>(samples()));
    base::set_flush_to_zero();
    instance_->forward(oar);
    for (const graph::Segment& segment : program_.backward_segments()) instance_->backward(segment, oar);
    return oar;
  }

  Plain gradients() const { return get_parameters(space_, gradient_.floats()); }

 private:
  std::size_t floats_bytes() const { return static_cast<std::size_t>(space_.floats()) * sizeof(float); }

  graph::Network net_;
  graph::Program program_;
  tensor::ParameterSpace space_;
  tensor::Buffer arena_, weights_, gradient_;
  graph::WeightForms forms_;
  std::unique_ptr<graph::Instance> instance_;
  std::vector<std::int64_t> indices_;
};

// The largest distance between two sets of numbers, relative to the largest number of each parameter (or `floor`).
template <class A, class B>
double largest_distance(const A& a, const B& b, double floor = 1e-3) {
  double worst = a.size() == b.size() ? 0 : 1e30;
  for (std::size_t p = 0; p < a.size() && p < b.size(); ++p) {
    double size = floor, distance = a[p].size() == b[p].size() ? 0 : 1e30;
    for (std::size_t i = 0; i < a[p].size() && i < b[p].size(); ++i) {
      const double x = static_cast<double>(a[p][i]), y = static_cast<double>(b[p][i]);
      size = std::max(size, std::abs(y));
      distance = std::max(distance, x == y ? 0 : std::abs(x - y));
      if (std::isnan(x) || std::isnan(y)) distance = 1e30;
    }
    worst = std::max(worst, distance / size);
  }
  return worst;
}

}  // namespace trireme::support
