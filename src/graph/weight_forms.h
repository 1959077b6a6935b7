// Weight forms: parameters kept a second time in a layout that some kernel wants beside the live one (oneDNN's gradient
// to the data, for one). Refreshed once per step, after the update, and shared by all oars and Programs.
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

  // The parameter in that layout; made on the first request.
  ops::ConstView get(int parameter, const ops::Layout& layout);
  int size() const { return static_cast<int>(forms_.size()); }
  int parameter(int form) const { return forms_[static_cast<std::size_t>(form)].parameter; }
  std::int64_t floats(int form) const { return forms_[static_cast<std::size_t>(form)].layout.elements(); }
  // Brings one form up to date; different forms may be refreshed by different threads at once.
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
