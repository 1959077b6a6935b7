#include "graph/weight_forms.h"

namespace trireme::graph {

ops::ConstView WeightForms::get(int parameter, const ops::Layout& layout) {
  for (const Form& form : forms_)
    if (form.parameter == parameter && form.layout == layout) return {form.memory.data(), layout.type};
  const tensor::ParameterRange& range = space_->range(parameter);
  tensor::Buffer memory(layout.bytes());
  const ops::View place(memory.data(), layout.type);
  forms_.push_back({parameter, layout, std::move(memory),
                    ops::LayoutCopy(range.layout, weights_ + range.offset, layout, place, threads_)});
  forms_.back().copy.run();
  return place;
}

}  // namespace trireme::graph
