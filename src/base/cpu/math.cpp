#include "base/cpu/math.h"

#include "base/rng.h"

namespace trireme::base {
namespace {

// One-lane use goes through the same code as sixteen, so the bits agree; speed does not matter here.
struct LogOne {
  TRIREME_INLINE static void run(float* x) { *x = log(splat(*x))[0]; }
};

}  // namespace

float log1(float x) {
  dispatch<LogOne>(&x);
  return x;
}

float cos_turns(float turns) {
  // Folded to an eighth of a turn in double, then Taylor series; only + - * are used, so bits are the same everywhere.
  double t = static_cast<double>(turns);
  if (t > 0.5) t = 1.0 - t;
  const bool negative = t > 0.25;
  if (negative) t = 0.5 - t;
  const double a = t * 6.283185307179586476925287;
  const double z = a * a;
  double term = 1.0, sum = 1.0;
  for (int k = 1; k <= 10; ++k) {
    term = -term * z / static_cast<double>((2 * k - 1) * (2 * k));
    sum += term;
  }
  return static_cast<float>(negative ? -sum : sum);
}

float CounterRng::normal(std::uint64_t position) const {
  const float u = 1.0f - uniform(2 * position);  // in (0, 1]
  const float radius = __builtin_sqrtf(-2.0f * log1(u));
  return radius * cos_turns(uniform(2 * position + 1));
}

}  // namespace trireme::base
