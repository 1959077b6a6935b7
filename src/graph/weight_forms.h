// WeightForms: copies of parameters in layouts that kernels want beside the live layout (for example oneDNN's gradient
// of the data). Refreshed once per step, after the update; all oars and Programs share them.
// One caller at a time, except refresh().
#pragma once

#include <vector>

#include "ops/core/reorder.h"
#include "tensor/buffer.h"
#include "tensor/parameter_space.h"

namespace trireme::graph {

class WeightForms {
 public:
  WeightForms(const tensor::ParameterSpace& space, const float* weights, int threads)
      : space_(&space), weights_(weights), threads_(threads) {}

  // The parameter in that layout. The first request makes the copy.
  ops::ConstView get(int parameter, const ops::Layout& layout);
  int size() const { return static_cast<int>(forms_.size()); }
  int parameter(int form) const { return forms_[static_cast<std::size_t>(form)].parameter; }
  std::int64_t floats(int form) const { return forms_[static_cast<std::size_t>(form)].layout.elements(); }
  // Copies the live weights into the form. Threads may refresh different forms at the same time.
  void refresh(int form) const { forms_[static_cast<std::size_t>(form)].copy.run(); }
  void refresh_all() const {
    for (int form = 0; form < size(); ++form) refresh(form);
  }

 private:
  struct Form {
    int parameter;
    ops::Layout layout;
    tensor::Buffer memory;
    ops::LayoutCopy copy;
  };
  const tensor::ParameterSpace* space_;
  const float* weights_;
  int threads_;
  std::vector<Form> forms_;
};

}  // namespace trireme::graph
