#include <algorithm>

#include "compare/sides.h"

namespace trireme::compare {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

store::NamedTensor copy(const std::string& name, const tensor::Shape& shape, const float* values) {
  return {name, shape, {values, values + shape.count()}};
}

// What a dropout makes of ones.
store::NamedTensor mask_of(const graph::Node& node, const train::Experiment& e, const data::Batch& batch) {
  ops::Reference r;
  const tensor::Shape shape = with_samples(batch.samples, node.shape);
  r.shapes = {shape};
  r.src = {std::vector<double>(at(shape.count()), 1.0)};
  r.dst.resize(at(shape.count()));
  r.run.seed = e.seed;
  r.run.epoch = static_cast<std::uint64_t>(batch.epoch);
  r.run.sample_indices = batch.indices;
  node.op->reference_forward(r);
  store::NamedTensor mask{"mask." + node.name, shape, std::vector<float>(r.dst.size())};
  std::ranges::transform(r.dst, mask.values.begin(), [](double value) { return static_cast<float>(value); });
  return mask;
}

}  // namespace

tensor::Shape with_samples(std::int64_t samples, const tensor::Shape& one) {
  std::vector<std::int64_t> sizes{samples};
  sizes.insert(sizes.end(), one.sizes().begin(), one.sizes().end());
  return tensor::Shape(sizes);
}

Feed make_feed(const train::Experiment& e, const data::Batch& batch) {
  Feed feed;
  const auto shape_of = [&](int node) { return with_samples(batch.samples, e.network.nodes()[at(node)].shape); };
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    feed.tensors.push_back(
        copy("input." + std::to_string(i), shape_of(e.network.inputs()[i]), batch.inputs[i].floats()));
  feed.tensors.push_back(copy("target", shape_of(e.network.target()), batch.target.floats()));
  for (const graph::Node& node : e.network.nodes())
    if (node.op && node.op->kind() == "dropout") feed.tensors.push_back(mask_of(node, e, batch));
  for (int oar = 0; oar < e.oars; ++oar) feed.oars.push_back(base::oar_samples(oar, e.oars, batch.samples));
  return feed;
}

}  // namespace trireme::compare
