// Scratch: working memory of a stage during one fetch(). It comes from a pool of the calling thread and returns there,
// so the steady state allocates nothing. A pool instead of one buffer per thread, because stages nest: a stage fetches
// from the one it wraps while it holds its own scratch.
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
