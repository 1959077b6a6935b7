#include "ops/core/op.h"

#include "base/error.h"

namespace trireme::ops {

std::vector<Shape> KernelRequest::shapes() const {
  std::vector<Shape> all;
  for (const Layout& layout : src) all.push_back(layout.shape);
  return all;
}

void Kernel::late_gradient(const KernelArgs&, base::Range, std::byte*, float*) const {
  base::check(false, "kernel '{}' has no late gradient", implementation());
}

Cost Op::cost(std::span<const Shape> src) const {
  const auto out = static_cast<double>(output(src).count());
  double in = 0;
  for (const Shape& shape : src) in += static_cast<double>(shape.count());
  return {out, sizeof(float) * (in + out)};
}

void Op::reference_forward(Reference&) const { base::check(false, "op '{}' has no reference implementation", kind()); }
void Op::reference_backward(Reference&) const { base::check(false, "op '{}' has no reference implementation", kind()); }

}  // namespace trireme::ops
