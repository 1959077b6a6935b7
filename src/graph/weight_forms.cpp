#include "graph/weight_forms.h"

namespace trireme::graph {

const float* WeightForms::get(int parameter, const ops::Layout& layout) {
  for (const Form& form : forms_)
    if (form.parameter == parameter && form.layout == layout) return form.memory.floats();
  const tensor::ParameterRange& range = space_->range(parameter);
  tensor::Buffer memory(static_cast<std::size_t>(layout.elements()) * sizeof(float));
  float* place = memory.floats();
  forms_.push_back({parameter, layout, std::move(memory),
                    ops::LayoutCopy(range.layout, weights_ + range.offset, layout, place, threads_)});
  forms_.back().copy.run();
  return place;
}

}  // namespace trireme::graph
