#include "crew/gradient_layers.h"

#include <algorithm>

#include "base/index.h"

namespace trireme::crew {
namespace {

using base::at;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::int64_t kLine = tensor::kAlignment / sizeof(float);
std::int64_t whole_lines(std::int64_t floats) { return divide_up(floats, kLine) * kLine; }

}  // namespace

GradientLayers::GradientLayers(const tensor::ParameterSpace& space, const graph::Program& program, bool ahead,
                               bool late) {
  std::vector<bool> reached(at(space.size()), false);
  for (int p = 0; p < space.size(); ++p) late_.push_back(late && program.late_task(p) >= 0);
  std::vector<std::vector<int>> parameters;  // per layer, the late ones too
  for (const graph::Segment& segment : program.backward_segments()) {
    if (segment.parameters.empty()) continue;
    parameters.emplace_back();
    layers_.emplace_back();
    for (const int p : segment.parameters) {
      if (space.range(p).kind != tensor::ParameterKind::trained) continue;
      parameters.back().push_back(p);
      reached[at(p)] = true;
      if (!is_late(p)) layers_.back().parameters.push_back(p);
    }
  }
  cut_into_chunks(space, program);
  std::vector<std::vector<int>> chunks_of(at(space.size()));
  for (const Chunk& chunk : chunks_) {
    chunks_of[at(chunk.parameter)].push_back(chunk.index);
    if (!reached[at(chunk.parameter)]) unreached_.push_back(chunk.index);
  }
  prompt_layers_ = static_cast<int>(layers_.size());
  for (std::size_t k = 0; k < parameters.size(); ++k)
    for (const int p : parameters[k]) {
      if (is_late(p) && layers_[k].late < 0) {
        layers_[k].late = static_cast<int>(layers_.size());
        layers_.emplace_back();
      }
      auto& chunks = layers_[is_late(p) ? at(layers_[k].late) : k].chunks;
      chunks.insert(chunks.end(), chunks_of[at(p)].begin(), chunks_of[at(p)].end());
    }
  lay_out_ring(space, ahead);
}

void GradientLayers::cut_into_chunks(const tensor::ParameterSpace& space, const graph::Program& program) {
  for (const int p : space.memory_order()) {
    const auto& range = space.range(p);
    if (range.kind != tensor::ParameterKind::trained) continue;
    std::int64_t most = kChunkFloats;
    if (program.late_task(p) >= 0) {
      const std::int64_t rows = range.layout.shape[0], row = range.floats() / rows;
      const std::int64_t pieces = divide_up(rows, std::max<std::int64_t>(kLateFloats / row, 1));
      most = divide_up(rows, pieces) * row;  // pieces of equal size, so that threads get equal shares
    }
    most_chunk_floats_ = std::max(most_chunk_floats_, most);
    for (std::int64_t done = 0; done < range.floats(); done += most)
      chunks_.push_back(
          {static_cast<int>(chunks_.size()), p, range.offset + done, std::min(most, range.floats() - done)});
  }
}

// The ring holds the largest layer. With `ahead` it holds twice that, but at most half of the whole gradient.
void GradientLayers::lay_out_ring(const tensor::ParameterSpace& space, bool ahead) {
  std::vector<std::int64_t> sizes;
  for (const GradientLayer& layer : layers_) {
    std::int64_t floats = 0;
    for (const int p : layer.parameters) floats += whole_lines(space.range(p).floats());
    sizes.push_back(floats);
    ring_floats_ = std::max(ring_floats_, floats);
  }
  if (ahead) ring_floats_ = std::max(ring_floats_, std::min(2 * ring_floats_, whole_lines(space.trained_floats() / 2)));
  ring_offset_.assign(at(space.size()), 0);
  std::vector<base::Range> places;
  std::int64_t next = 0;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    if (next + sizes[k] > ring_floats_) next = 0;
    const base::Range place{next, next + sizes[k]};
    for (std::size_t before = 0; before < k; ++before)
      if (places[before].begin < place.end && place.begin < places[before].end)
        layers_[k].emptied_before = static_cast<int>(before) + 1;
    places.push_back(place);
    for (const int p : layers_[k].parameters) {
      ring_offset_[at(p)] = next;
      next += whole_lines(space.range(p).floats());
    }
  }
}

}  // namespace trireme::crew
