#include "graph/weight_forms.h"

namespace trireme::graph {

const float* WeightForms::get(int parameter, const ops::KernelPlan::Derived& wanted) {
  const ops::Layout& layout = wanted.layout;
  const std::int64_t from = wanted.part ? wanted.part->offset : 0;
  for (const Form& form : forms_)
    if (form.parameter == parameter && form.layout == layout && form.from == from) return form.memory.floats();
  const tensor::ParameterRange& range = space_->range(parameter);
  tensor::Buffer memory(static_cast<std::size_t>(layout.elements()) * sizeof(float));
  float* place = memory.floats();
  forms_.push_back({parameter, layout, from, std::move(memory),
                    ops::LayoutCopy(wanted.part ? wanted.part->layout : range.layout, weights_ + range.offset + from,
                                    layout, place, threads_)});
  forms_.back().copy.run();
  return place;
}

}  // namespace trireme::graph
