#include "base/cpu/add_into.h"

#include "base/cpu/simd.h"

namespace trireme::base {
namespace {

struct AddInto {
  TRIREME_INLINE static void run(float* into, const float* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) into[i] += from[i];
  }
};

}  // namespace

void add_into(float* into, const float* from, std::int64_t count) { dispatch<AddInto>(into, from, count); }

}  // namespace trireme::base
