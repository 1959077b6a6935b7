#include "data/stages/scratch.h"

#include <utility>

namespace trireme::data {
namespace {

std::vector<std::vector<float>>& pool() {
  thread_local std::vector<std::vector<float>> vectors;
  return vectors;
}

}  // namespace

Scratch::Scratch(std::size_t floats) {
  auto& vectors = pool();
  if (!vectors.empty()) {
    memory_ = std::move(vectors.back());
    vectors.pop_back();
  }
  if (memory_.size() < floats) memory_.resize(floats);
}

Scratch::~Scratch() { pool().push_back(std::move(memory_)); }

}  // namespace trireme::data
