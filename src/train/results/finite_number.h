// finite_number: a number as JSON. NaN and infinity have no JSON form; null stands for them.
// Thread-safe.
#pragma once

#include <cmath>

namespace trireme::train {

template <class Json>
Json finite_number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace trireme::train
