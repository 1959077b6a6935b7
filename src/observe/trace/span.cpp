#include "observe/trace/span.h"

#include <span>

#include "base/hash.h"

namespace trireme::observe {

std::uint64_t arrow_number(SpanKind of, std::int64_t step, int from, int to, std::int64_t what) {
  const std::array<std::int64_t, 5> all{static_cast<std::int64_t>(of), step, from, to, what};
  return base::xxh3(std::as_bytes(std::span(all))) | 1;  // never 0
}

}  // namespace trireme::observe
