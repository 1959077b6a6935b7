#include <algorithm>

#include "base/index.h"
#include "compare/sides/sides.h"
#include "store/parameters_io.h"
#include "train/run_folder/start_weights.h"

namespace trireme::compare {
namespace {

using base::at;

crew::CrewOptions with_threads(const train::Experiment& experiment, int threads) {
  crew::CrewOptions options = experiment.crew_options;
  options.threads = threads;
  options.cpus.clear();
  return options;
}

}  // namespace

OurSide::OurSide(const train::Experiment& experiment, const std::string& optimizer, const std::string& style,
                 int threads)
    : experiment_(experiment),
      optimizer_(optim::make_optimizer(optimizer)),
      crew_(experiment.network, with_threads(experiment, threads)),
      updater_(crew_, optimizer_, 0) {
  train::fill_fresh_weights(crew_, style, experiment.seed);
  updater_.ensure_state();
}

Tensors OurSide::weights() const {
  return store::export_parameters(crew_.space(), {crew_.weights(), at(crew_.space().floats())});
}

Tensors OurSide::slots() {
  strategy::OptimizerState& state = updater_.state();
  Tensors all;
  for (int slot = 0; slot < state.slots(); ++slot)
    for (store::NamedTensor& one : store::export_parameters(
             crew_.space(), state.slot(slot), "slot." + state.slot_name(slot) + ".", store::Parameters::trained))
      all.push_back(std::move(one));
  return all;
}

std::string OurSide::weights_sha256() const { return crew_.space().sha256(crew_.weights()); }

Found OurSide::step(const data::Batch& batch, double lr) {
  crew::BatchView view;
  view.samples = batch.samples;
  for (const tensor::Buffer& input : batch.inputs) view.inputs.push_back(input.floats());
  view.target = batch.target.floats();
  view.indices = batch.indices;
  const crew::RandomSeed random{experiment_.seed, static_cast<std::uint64_t>(batch.epoch)};
  const optim::StepScalars scalars = updater_.scalars(++steps_, lr);
  Found found;
  found.loss = crew_.compute(view, random).loss / static_cast<double>(batch.samples);
  found.tensors = store::export_parameters(crew_.space(), {crew_.gradient(), at(crew_.space().trained_floats())},
                                           "gradient.", store::Parameters::trained);
  crew_.for_each_chunk(
      [&](const crew::Chunk& chunk, const float* gradient) { updater_.update(chunk, gradient, scalars); });
  crew_.finish_step();
  found.penalty = updater_.penalty();
  add_state(found.tensors);
  return found;
}

void OurSide::add_state(Tensors& to) {
  for (store::NamedTensor& one : slots()) to.push_back(std::move(one));
  for (store::NamedTensor& one : weights()) {
    one.name = "weight." + one.name;
    to.push_back(std::move(one));
  }
}

void OurSide::take(const Tensors& state) {
  const store::SafetensorsFile file{"the given state", state, {}};
  store::import_parameters(crew_.space(), {crew_.weights(), at(crew_.space().floats())}, file, "weight.");
  strategy::OptimizerState& optimizer = updater_.state();
  for (int slot = 0; slot < optimizer.slots(); ++slot)
    store::import_parameters(crew_.space(), optimizer.slot(slot), file, "slot." + optimizer.slot_name(slot) + ".",
                             store::Parameters::trained);
  crew_.refresh_weight_forms();
}

Found OurSide::update(const Tensors& gradients, double lr, double max_norm) {
  tensor::Buffer buffer(at(crew_.space().trained_floats()) * sizeof(float));
  store::import_parameters(crew_.space(), {buffer.floats(), at(crew_.space().trained_floats())},
                           {"the given gradients", gradients, {}}, "gradient.", store::Parameters::trained);
  optim::StepScalars scalars = updater_.scalars(++steps_, lr);
  if (max_norm > 0) strategy::Updater(crew_, optimizer_, max_norm).clip(buffer.floats(), scalars);
  crew_.for_each_chunk(
      buffer.floats(), {0, static_cast<std::int64_t>(crew_.chunks().size())},
      [&](const crew::Chunk& chunk, const float* gradient) { updater_.update(chunk, gradient, scalars); });
  Found found;
  found.penalty = updater_.penalty();
  add_state(found.tensors);
  return found;
}

store::NamedTensor OurSide::evaluate(const data::Batch& batch) {
  store::NamedTensor output{"output", {}, {}};
  const auto fill = [&](std::int64_t first, std::int64_t samples, std::span<float* const> inputs, float* target) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::int64_t own = experiment_.network.nodes()[at(experiment_.network.inputs()[i])].shape.count();
      std::copy_n(batch.inputs[i].floats() + first * own, samples * own, inputs[i]);
    }
    const std::int64_t own = experiment_.network.nodes()[at(experiment_.network.target())].shape.count();
    std::copy_n(batch.target.floats() + first * own, samples * own, target);
  };
  const std::int64_t classes = experiment_.network.nodes()[at(experiment_.network.prediction())].shape.count();
  output.shape = tensor::Shape({batch.samples, classes});
  output.values.resize(at(batch.samples * classes));
  crew_.evaluate(batch.samples, fill, [&](std::int64_t first, std::int64_t samples, const float* prediction) {
    std::copy_n(prediction, samples * classes, output.values.begin() + first * classes);
  });
  return output;
}

}  // namespace trireme::compare
