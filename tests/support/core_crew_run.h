// A Crew with the tests' numbers as weights and batches, and plain gradient descent.
#pragma once

#include <memory>

#include "crew/crew.h"
#include "support/core_reference.h"

namespace trireme::support {

class CrewRun {
 public:
  CrewRun(const graph::Network& net, const crew::CrewOptions& options) : net_(net), crew_(net, options) {
    set_parameters(parameter_values(net_));
  }

  crew::Crew& crew() { return crew_; }
  const graph::Network& net() const { return net_; }
  void set_parameters(const Plain& values) {
    put_parameters(crew_.space(), values, crew_.weights());
    crew_.refresh_weight_forms();
  }

  // Forward, backward and the sum over oars of the batch reference_batch(net, samples, stream).
  crew::ComputeReport compute(std::int64_t samples, std::uint64_t stream = 0) {
    load(samples, stream);
    return compute_loaded();
  }
  void load(std::int64_t samples, std::uint64_t stream = 0) {
    inputs_ = input_values(net_, samples, stream);
    target_ = target_values(net_, samples, stream);
    indices_.resize(static_cast<std::size_t>(samples));
    std::iota(indices_.begin(), indices_.end(), std::int64_t{100});
    view_.samples = samples;
    view_.inputs.clear();
    for (const auto& input : inputs_) view_.inputs.push_back(input.data());
    view_.target = target_.data();
    view_.indices = indices_;
  }
  const crew::BatchView& view() const { return view_; }
  void spoil_input(float value) { inputs_[0][0] = value; }
  crew::ComputeReport compute_loaded() { return crew_.compute(view_, {}); }
  crew::ComputeReport compute_loaded(crew::Crew::TakeGradient take) { return crew_.compute(view_, {}, take); }

  // The same of some oars; `add` gets every chunk's partials.
  crew::ComputeReport compute_share(std::int64_t samples, const crew::Share& share, crew::Crew::TakePartials add) {
    load(samples);
    return crew_.compute(view_, {}, share, add);
  }

  // Moves every weight against its gradient.
  void update(float rate = 0.05f) {
    crew_.for_each_chunk([this, rate](const crew::Chunk& chunk, const float* gradient) {
      float* weights = crew_.weights() + chunk.offset;
      for (std::int64_t i = 0; i < chunk.count; ++i) weights[i] -= rate * gradient[i];
    });
  }
  // The same, each layer as soon as its gradient is there.
  crew::ComputeReport step_passing(std::int64_t samples, std::uint64_t stream = 0, float rate = 0.05f) {
    load(samples, stream);
    const crew::ComputeReport report = compute_loaded([this, rate](const crew::Chunk& chunk, const float* gradient) {
      float* weights = crew_.weights() + chunk.offset;
      for (std::int64_t i = 0; i < chunk.count; ++i) weights[i] -= rate * gradient[i];
    });
    crew_.finish_step();
    return report;
  }
  crew::ComputeReport step(std::int64_t samples, std::uint64_t stream = 0) {
    const crew::ComputeReport report = compute(samples, stream);
    update();
    crew_.finish_step();
    return report;
  }

  Plain weights() { return get_parameters(crew_.space(), crew_.weights()); }
  // After update().
  Plain gradients() { return get_parameters(crew_.space(), crew_.gradient()); }
  std::string hash() { return crew_.space().sha256(crew_.weights()); }

 private:
  graph::Network net_;
  crew::Crew crew_;
  Plain inputs_;
  std::vector<float> target_;
  std::vector<std::int64_t> indices_;
  crew::BatchView view_;
};

}  // namespace trireme::support
