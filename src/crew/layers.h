// Layers: the trained parameters of a network grouped as backward finishes them, cut into chunks, and where each layer
// lies in a passing slot, which is a ring that holds only the last few of them.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/program.h"
#include "tensor/parameter_space.h"

namespace trireme::crew {

// A piece of one trained parameter, sized to stay in cache. The list depends on the network and its kernels' layouts
// alone, never on threads.
struct Chunk {
  int index = 0;
  int parameter = 0;
  std::int64_t offset = 0;  // floats in the space
  std::int64_t count = 0;
};

struct Layer {
  std::vector<int> parameters;  // trained ones
  std::vector<int> chunks;
  // A passing slot must have been emptied of all layers before this one (an index, or 0) when the layer is written.
  int emptied_before = 0;
};

class Layers {
 public:
  // The largest number of floats a chunk has.
  static constexpr std::int64_t kChunkFloats = 16 * 1024;

  Layers() = default;
  // `ahead`: a member may write a layer before others have finished the one before, so the ring gets room for more.
  Layers(const tensor::ParameterSpace& space, const graph::Program& program, bool ahead);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  // In the order in which backward finishes them.
  const std::vector<Layer>& layers() const { return layers_; }
  // Chunks of parameters that no gradient reaches.
  const std::vector<int>& unreached() const { return unreached_; }
  // Floats of a passing slot, and where a trained parameter starts in it.
  std::int64_t ring_floats() const { return ring_floats_; }
  std::int64_t ring_offset(int parameter) const { return ring_offset_[static_cast<std::size_t>(parameter)]; }

 private:
  void cut_into_chunks(const tensor::ParameterSpace& space);
  void lay_out_ring(const tensor::ParameterSpace& space, bool ahead);

  std::vector<Chunk> chunks_;
  std::vector<Layer> layers_;
  std::vector<int> unreached_;
  std::vector<std::int64_t> ring_offset_;
  std::int64_t ring_floats_ = 0;
};

}  // namespace trireme::crew
