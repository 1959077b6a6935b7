#include "comm/collective/elementwise.h"

#include "base/cpu/add_into.h"
#include "base/cpu/simd.h"

namespace trireme::comm {
namespace {

struct MaxInto {
  TRIREME_INLINE static void run(float* into, const float* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
  }
};

struct Scale {
  TRIREME_INLINE static void run(float* values, float factor, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
  }
};

}  // namespace

void combine_into(Combine how, float* into, const float* from, std::int64_t count) {
  switch (how) {
    case Combine::sum: return base::add_into(into, from, count);
    case Combine::max: return base::dispatch<MaxInto>(into, from, count);
  }
}

void scale(float* values, float factor, std::int64_t count) { base::dispatch<Scale>(values, factor, count); }

}  // namespace trireme::comm
