// Scratch: working memory of a stage for the length of one fetch, taken from a pool of the calling thread and given
// back, so that the steady state allocates nothing. Stages nest (a stage fetches from the one it wraps while it holds
// its own scratch), hence a pool and not one buffer per thread.
#pragma once

#include <cstddef>
#include <vector>

namespace trireme::data {

class Scratch {
 public:
  explicit Scratch(std::size_t floats);  // content is unspecified
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  float* data() { return memory_.data(); }

 private:
  std::vector<float> memory_;
};

}  // namespace trireme::data
