#include <algorithm>

#include "base/hash.h"
#include "base/index.h"
#include "compare/sides/sides.h"

namespace trireme::compare {
namespace {

using base::at;

store::NamedTensor copy(const std::string& name, const tensor::Shape& shape, const float* values) {
  return {name, shape, {values, values + shape.count()}};
}

// The mask of a dropout: its output for an input of ones.
store::NamedTensor mask_of(const graph::Node& node, const train::Experiment& e, const data::Batch& batch) {
  ops::Reference r;
  const tensor::Shape shape = node.shape.with_batch(batch.samples);
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

std::string sha256_of(const Feed& feed) {
  std::vector<const store::NamedTensor*> sorted;
  for (const store::NamedTensor& one : feed.tensors) sorted.push_back(&one);
  std::ranges::sort(sorted, {}, [](const store::NamedTensor* one) { return one->name; });
  base::Sha256 hash;
  for (const store::NamedTensor* one : sorted) hash.add(std::as_bytes(std::span(one->values)));
  return hash.finish();
}

Feed make_feed(const train::Experiment& e, const data::Batch& batch) {
  Feed feed;
  const auto shape_of = [&](int node) { return e.network.nodes()[at(node)].shape.with_batch(batch.samples); };
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
