// The loops of batch norm: SumPass sums per channel, MapPass maps element by element. Thread-safe.
//
// One description covers all layouts. Memory is a number of equal chunks; inside a chunk the channel of element i is a
// function of i modulo a period of `period` times sixteen floats. So per-channel parameters are arrays of one period,
// and sums come back as arrays of one period, which the caller folds:
//   plain            a chunk per (n, c), period 1: all lanes are of one channel
//   blocked by 8, 16 a chunk per (n, block), period 1: lanes are channels (twice, for 8)
//   channels last    one chunk, the whole tensor; the period is the least common multiple of C and 16
//
// Sums run in floats over short runs and are then added to doubles; the order depends on the sizes alone. A small
// struct of pointers (the "terms" of a sum, or a "map") defines a pass; it works on V = Wide or, in tails, float.
#pragma once

#include <algorithm>

#include "ops/vector/wide.h"

namespace trireme::ops {

struct Chunks {
  std::int64_t count = 0;
  std::int64_t stride = 0;  // floats between the starts of chunks
  std::int64_t length = 0;  // floats of a chunk
  std::int64_t period = 0;  // in sixteens; above 1 only when count is 1
};

// Terms: `template <class V> Parameters<V> parameters(at)` loads the parameters of position `at` of the period, and
// `template <class V> void terms(i, parameters, u, q)` gives two values for element i of the memory.
// first += u and second += u * q, one double per position of the period.
template <class Terms>
struct SumPass {
  struct Sums {
    Wide u{}, uq{};
  };

  TRIREME_INLINE static void run(Terms terms, Chunks chunks, double* first, double* second) {
    if (chunks.period == 1)
      narrow(terms, chunks, first, second);
    else
      wide(terms, chunks, first, second);
  }

 private:
  static constexpr std::int64_t kRun = 32;  // the most additions in float before a sum is added to a double

  template <class Parameters>
  TRIREME_INLINE static void add(const Terms& terms, std::int64_t i, const Parameters& p, Sums& sums) {
    Wide u, q;
    terms.terms(i, p, u, q);
    sums.u = sums.u + u;
    sums.uq = sums.uq + u * q;
  }
  TRIREME_INLINE static void flush(Sums& a, Sums& b, Sums& c, Sums& d, double* first, double* second) {
    add_to(first, (a.u + b.u) + (c.u + d.u));
    add_to(second, (a.uq + b.uq) + (c.uq + d.uq));
    a = b = c = d = Sums{};
  }
  TRIREME_INLINE static void flush(const Sums& a, double* first, double* second) {
    add_to(first, a.u);
    add_to(second, a.uq);
  }
  // Fewer than sixteen elements from i on, at positions from `at` on.
  TRIREME_INLINE static void tail(const Terms& terms, std::int64_t i, std::int64_t end, std::int64_t at, double* first,
                                  double* second) {
    for (; i < end; ++i, ++at) {
      float u, q;
      terms.terms(i, terms.template parameters<float>(at), u, q);
      first[at] += static_cast<double>(u);
      second[at] += static_cast<double>(u) * static_cast<double>(q);
    }
  }

  // Period 1: four independent sums hide the latency of additions; they continue across chunks.
  TRIREME_INLINE static void narrow(const Terms& terms, Chunks chunks, double* first, double* second) {
    const auto p = terms.template parameters<Wide>(0);
    Sums a, b, c, d;
    std::int64_t held = 0;
    for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
      std::int64_t i = chunk * chunks.stride;
      const std::int64_t end = i + chunks.length;
      while (end - i >= 4 * kWide) {
        const std::int64_t turns = std::min((end - i) / (4 * kWide), kRun - held);
        for (std::int64_t turn = 0; turn < turns; ++turn, i += 4 * kWide) {
          add(terms, i, p, a);
          add(terms, i + kWide, p, b);
          add(terms, i + 2 * kWide, p, c);
          add(terms, i + 3 * kWide, p, d);
        }
        held += turns;
        if (held == kRun) {
          flush(a, b, c, d, first, second);
          held = 0;
        }
      }
      if (end - i >= kWide) add(terms, i, p, a), i += kWide;
      if (end - i >= kWide) add(terms, i, p, b), i += kWide;
      if (end - i >= kWide) add(terms, i, p, c), i += kWide;
      tail(terms, i, end, 0, first, second);
      if (++held >= kRun) {
        flush(a, b, c, d, first, second);
        held = 0;
      }
    }
    flush(a, b, c, d, first, second);
  }

  // Rows of one period. A tile of kRun rows stays in cache while it is summed in strips of four vectors, the last strip
  // with the one to three that remain.
  TRIREME_INLINE static void wide(const Terms& terms, Chunks chunks, double* first, double* second) {
    const std::int64_t row = chunks.period * kWide;
    const std::int64_t rows = chunks.length / row;
    for (std::int64_t top = 0; top < rows; top += kRun) {
      const std::int64_t from = top * row;
      const std::int64_t to = std::min(top + kRun, rows) * row;
      std::int64_t at = 0;
      for (; at + 4 * kWide <= row; at += 4 * kWide) strip<4>(terms, from, to, row, at, first + at, second + at);
      const std::int64_t rest = (row - at) / kWide;
      if (rest == 3) strip<3>(terms, from, to, row, at, first + at, second + at);
      if (rest == 2) strip<2>(terms, from, to, row, at, first + at, second + at);
      if (rest == 1) strip_of_one(terms, from, to, row, at, first + at, second + at);
    }
    std::int64_t i = rows * row, at = 0;
    for (; chunks.length - i >= kWide; i += kWide, at += kWide) {
      Sums a;
      add(terms, i, terms.template parameters<Wide>(at), a);
      flush(a, first + at, second + at);
    }
    tail(terms, i, chunks.length, at, first, second);
  }
  template <int kCount>
  TRIREME_INLINE static void strip(const Terms& terms, std::int64_t from, std::int64_t to, std::int64_t row,
                                   std::int64_t at, double* first, double* second) {
    const auto p = terms.template parameters<Wide>(at);
    const auto q = terms.template parameters<Wide>(at + kWide);
    const auto r = terms.template parameters<Wide>(at + (kCount > 2 ? 2 * kWide : 0));
    const auto s = terms.template parameters<Wide>(at + (kCount > 3 ? 3 * kWide : 0));
    Sums a, b, c, d;
    for (std::int64_t i = from + at; i < to; i += row) {
      add(terms, i, p, a);
      add(terms, i + kWide, q, b);
      if constexpr (kCount > 2) add(terms, i + 2 * kWide, r, c);
      if constexpr (kCount > 3) add(terms, i + 3 * kWide, s, d);
    }
    flush(a, first, second);
    flush(b, first + kWide, second + kWide);
    if constexpr (kCount > 2) flush(c, first + 2 * kWide, second + 2 * kWide);
    if constexpr (kCount > 3) flush(d, first + 3 * kWide, second + 3 * kWide);
  }
  TRIREME_INLINE static void strip_of_one(const Terms& terms, std::int64_t from, std::int64_t to, std::int64_t row,
                                          std::int64_t at, double* first, double* second) {
    const auto p = terms.template parameters<Wide>(at);
    Sums a, b, c, d;
    std::int64_t i = from + at;
    for (; i + 3 * row < to; i += 4 * row) {
      add(terms, i, p, a);
      add(terms, i + row, p, b);
      add(terms, i + 2 * row, p, c);
      add(terms, i + 3 * row, p, d);
    }
    for (; i < to; i += row) add(terms, i, p, a);
    flush(a, b, c, d, first, second);
  }
};

// Map: parameters() as above, and `template <class V> void map(i, parameters)` for element i of the memory.
template <class Map>
struct MapPass {
  TRIREME_INLINE static void run(Map map, Chunks chunks) {
    const std::int64_t row = chunks.period * kWide;
    const auto p = map.template parameters<Wide>(0);
    for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
      std::int64_t i = chunk * chunks.stride, at = 0;
      const std::int64_t end = i + chunks.length;
      if (chunks.period == 1) {
        for (; end - i >= kWide; i += kWide) map.template map<Wide>(i, p);
      } else {
        for (; end - i >= row; i += row)
          for (std::int64_t k = 0; k < row; k += kWide) map.template map<Wide>(i + k, map.template parameters<Wide>(k));
        for (; end - i >= kWide; i += kWide, at += kWide) map.template map<Wide>(i, map.template parameters<Wide>(at));
      }
      for (; i < end; ++i, ++at) map.template map<float>(i, map.template parameters<float>(at));
    }
  }
};

// The sums of the distances from the origin and of their squares.
struct StatisticsTerms {
  const float* x;
  const float* origin;

  template <class V>
  TRIREME_INLINE V parameters(std::int64_t at) const {
    return load<V>(origin + at);
  }
  template <class V>
  TRIREME_INLINE void terms(std::int64_t i, V from, V& u, V& q) const {
    u = q = load<V>(x + i) - from;
  }
};

// y = x * a + b, then + more, then max(., 0).
template <bool kRelu, bool kAdd>
struct ForwardMap {
  const float* x;
  const float* more;
  float* y;
  const float *a, *b;

  template <class V>
  struct Parameters {
    V a, b;
  };
  template <class V>
  TRIREME_INLINE Parameters<V> parameters(std::int64_t at) const {
    return {load<V>(a + at), load<V>(b + at)};
  }
  template <class V>
  TRIREME_INLINE void map(std::int64_t i, const Parameters<V>& p) const {
    V value = load<V>(x + i) * p.a + p.b;
    if constexpr (kAdd) value = value + load<V>(more + i);
    if constexpr (kRelu) value = positive_part(value);
    store(y + i, value);
  }
};

// How backward finds the elements that a folded-in ReLU set to 0: there is no ReLU, by computing its input x * a + b
// again, or from the output.
enum class Mask { none, computed, output };

// u: the gradient of the normalised value; q = x - mean. kWrite: u is also stored to `masked`.
template <Mask kMask, bool kWrite>
struct GradientTerms {
  const float* x;
  const float* diff_y;
  const float* y;
  float* masked;
  const float *mean, *a, *b;

  template <class V>
  struct Parameters {
    V mean, a, b;
  };
  template <class V>
  TRIREME_INLINE Parameters<V> parameters(std::int64_t at) const {
    return {load<V>(mean + at), load<V>(a + at), load<V>(b + at)};
  }
  template <class V>
  TRIREME_INLINE void terms(std::int64_t i, const Parameters<V>& p, V& u, V& q) const {
    const V value = load<V>(x + i);
    u = load<V>(diff_y + i);
    if constexpr (kMask == Mask::computed) u = where_positive(value * p.a + p.b, u);
    if constexpr (kMask == Mask::output) u = where_positive(load<V>(y + i), u);
    if constexpr (kWrite) store(masked + i, u);
    q = value - p.mean;
  }
};

// diff_x = a * diff_y + slope * (x - mean) + level.
template <Mask kMask>
struct BackwardMap {
  const float* x;
  const float* diff_y;
  const float* y;
  float* diff_x;
  const float *mean, *a, *b, *slope, *level;

  template <class V>
  struct Parameters {
    V mean, a, b, slope, level;
  };
  template <class V>
  TRIREME_INLINE Parameters<V> parameters(std::int64_t at) const {
    return {load<V>(mean + at), load<V>(a + at), load<V>(b + at), load<V>(slope + at), load<V>(level + at)};
  }
  template <class V>
  TRIREME_INLINE void map(std::int64_t i, const Parameters<V>& p) const {
    const V value = load<V>(x + i);
    V u = load<V>(diff_y + i);
    if constexpr (kMask == Mask::computed) u = where_positive(value * p.a + p.b, u);
    if constexpr (kMask == Mask::output) u = where_positive(load<V>(y + i), u);
    store(diff_x + i, p.a * u + (p.slope * (value - p.mean) + p.level));
  }
};

}  // namespace trireme::ops
