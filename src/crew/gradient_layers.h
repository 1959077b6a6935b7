// GradientLayers: the trained parameters of a network grouped as backward finishes them, cut into chunks, and where
// each layer lies in a passing slot, which is a ring that holds only the last few of them.
#pragma once

#include <cstdint>
#include <vector>

#include "crew/replica.h"
#include "graph/program.h"
#include "tensor/parameter_space.h"

namespace trireme::crew {

struct GradientLayer {
  std::vector<int> parameters;  // trained ones, those that are late left out
  std::vector<int> chunks;      // of those; of a late layer, of late ones
  int late = -1;                // the late layer of the rest of its parameters
  // A passing slot must have been emptied of all layers before this one (an index, or 0) when the layer is written.
  int emptied_before = 0;
};

class GradientLayers {
 public:
  // The number of floats a chunk has at most; one of a parameter whose gradient can be made late is some whole rows,
  // for which its kernel needs more than that.
  static constexpr std::int64_t kChunkFloats = 16 * 1024, kLateFloats = 80 * 1024;

  GradientLayers() = default;
  // `ahead`: a member may write a layer before others have finished the one before, so the ring gets room for more.
  // `late`: gradients that can be made late are, and need no place in the ring.
  GradientLayers(const tensor::ParameterSpace& space, const graph::Program& program, bool ahead, bool late);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  // In the order in which backward finishes them; then the late ones, for which nobody needs to hurry.
  const std::vector<GradientLayer>& layers() const { return layers_; }
  int prompt_layers() const { return prompt_layers_; }
  // Chunks of parameters that no gradient reaches.
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
