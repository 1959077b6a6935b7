#include "tensor/view.h"

#include "base/error.h"

namespace trireme::tensor {

void throw_wrong_type(ElementType found, ElementType wanted) {
  base::throw_error(base::ErrorKind::internal,
                    fmt::format("a kernel wants elements of type {}, its argument holds {} (number {})",
                                element_name(wanted), element_name(found), static_cast<int>(found)));
}

}  // namespace trireme::tensor
