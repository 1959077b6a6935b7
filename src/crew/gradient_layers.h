// GradientLayers: the trained parameters of a network, grouped into layers in the order in which backward completes
// their gradients, and cut into chunks. Immutable after construction.
//
// It also says where each layer lies in a passing slot: a ring buffer that holds only the last few layers.
// Backward does not write a late gradient: the thread that uses a chunk computes it from the layer's input and its
// output gradient, which stay in the oars' arenas. Late gradients form layers of their own, the late layers; all other
// layers are prompt.
#pragma once

#include <cstdint>
#include <vector>

#include "crew/replica.h"
#include "graph/program.h"
#include "tensor/parameter_space.h"

namespace trireme::crew {

struct GradientLayer {
  std::vector<int> parameters;  // trained parameters without late gradient; empty for a late layer
  std::vector<int> chunks;      // of these parameters; of a late layer: of its late parameters
  int late = -1;                // the late layer with this layer's late parameters; -1: it has none
  // All layers before this index must be used up before this layer is written: they share its place in the ring.
  int emptied_before = 0;
};

class GradientLayers {
 public:
  // The largest chunk, in floats. A chunk of a parameter whose gradient can be late has whole rows, and more of them,
  // because its kernel needs larger pieces.
  static constexpr std::int64_t kChunkFloats = 16 * 1024, kLateFloats = 80 * 1024;

  GradientLayers() = default;
  // `ahead`: a member may write the next layer before other members have finished the current one, so the ring gets
  // room for more layers. `late`: gradients that can be late are late, and need no place in the ring.
  GradientLayers(const tensor::ParameterSpace& space, const graph::Program& program, bool ahead, bool late);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  // The prompt layers in the order in which backward completes them, then the late ones, whose memory nobody waits for.
  const std::vector<GradientLayer>& layers() const { return layers_; }
  int prompt_layers() const { return prompt_layers_; }
  // Chunks of parameters that backward does not reach.
  const std::vector<int>& unreached() const { return unreached_; }
  // Floats of a passing slot, and where a trained parameter starts in it.
  std::int64_t ring_floats() const { return ring_floats_; }
  bool is_late(int parameter) const { return late_[static_cast<std::size_t>(parameter)]; }
  std::int64_t most_chunk_floats() const { return most_chunk_floats_; }
  std::int64_t ring_offset(int parameter) const { return ring_offset_[static_cast<std::size_t>(parameter)]; }

 private:
  void cut_into_chunks(const tensor::ParameterSpace& space, const graph::Program& program);
  void lay_out_ring(const tensor::ParameterSpace& space, bool ahead);

  std::vector<Chunk> chunks_;
  std::vector<GradientLayer> layers_;
  int prompt_layers_ = 0;
  std::vector<int> unreached_;
  std::vector<std::int64_t> ring_offset_;
  std::int64_t ring_floats_ = 0, most_chunk_floats_ = 0;
  std::vector<bool> late_;  // per parameter
};

}  // namespace trireme::crew
