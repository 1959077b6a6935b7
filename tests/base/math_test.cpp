// exp, log, tanh and sigmoid against long double over their whole range, and the same bits on every instruction set.
#include "base/cpu/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"

namespace trireme::base {
namespace {

struct ExpAll {
  TRIREME_INLINE static void run(float* x) { store(x, exp(load(x))); }
};
struct LogAll {
  TRIREME_INLINE static void run(float* x) { store(x, log(load(x))); }
};
struct TanhAll {
  TRIREME_INLINE static void run(float* x) { store(x, tanh(load(x))); }
};
struct SigmoidAll {
  TRIREME_INLINE static void run(float* x) { store(x, sigmoid(load(x))); }
};
struct SumAll {
  TRIREME_INLINE static void run(float* x) { x[0] = sum(load(x)); }
};
struct FmaAll {
  TRIREME_INLINE static void run(float* x) { store(x, fma(load(x), load(x + kLanes), load(x + 2 * kLanes))); }
};

template <class Kernel>
std::vector<float> mapped(std::vector<float> x) {
  x.resize((x.size() + kLanes - 1) / kLanes * kLanes, 1.0f);
  for (std::size_t i = 0; i < x.size(); i += kLanes) dispatch<Kernel>(x.data() + i);
  return x;
}

template <class Kernel>
float one(float x) {
  return mapped<Kernel>({x})[0];
}

// Every `stride`-th float from `low` to `high` (both signs), by their bits: as many in every binade.
std::vector<float> floats_between(float low, float high, std::uint32_t stride) {
  std::vector<float> all;
  const auto ordered = [](float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits : std::int64_t{bits};
  };
  for (std::int64_t place = ordered(low); place <= ordered(high); place += stride) {
    const std::int64_t bits = place < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - place : place;
    const float x = std::bit_cast<float>(static_cast<std::int32_t>(bits));
    if (x == 0 || std::abs(x) >= FLT_MIN) all.push_back(x);
  }
  return all;
}

// The distance from the truth in units of the last place of the truth.
double error_in_ulp(float got, long double truth) {
  const int exponent = std::max(std::ilogb(truth), -126);
  return static_cast<double>(std::abs(static_cast<long double>(got) - truth) / std::ldexp(1.0L, exponent - 23));
}

template <class Kernel, class Truth>
double worst_error(const char* name, const std::vector<float>& x, const Truth& truth) {
  const std::vector<float> y = mapped<Kernel>(x);
  double worst = 0;
  float worst_at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = error_in_ulp(y[i], truth(static_cast<long double>(x[i])));
    if (!(error <= worst)) worst = error, worst_at = x[i];
  }
  ::testing::Test::RecordProperty(name, std::to_string(worst));
  std::printf("  %s: largest error %.3f ulp, at %.9g, of %zu values\n", name, worst, static_cast<double>(worst_at),
              x.size());
  return worst;
}

// The bounds are those measured, rounded up; base/cpu/math.h promises 3.
TEST(Math, ExpIsAccurateOverItsWholeRange) {
  const auto truth = [](long double x) { return std::exp(x); };
  EXPECT_LT(worst_error<ExpAll>("exp", floats_between(-87.33654f, 88.72283f, 1021), truth), 1);
  EXPECT_LT(worst_error<ExpAll>("exp of large", floats_between(1.0f, 88.72283f, 37), truth), 1);
  EXPECT_LT(worst_error<ExpAll>("exp of small", floats_between(-87.33654f, -1.0f, 37), truth), 1);
}

TEST(Math, LogIsAccurateOverItsWholeRange) {
  const auto truth = [](long double x) { return std::log(x); };
  EXPECT_LT(worst_error<LogAll>("log", floats_between(FLT_MIN, FLT_MAX, 1021), truth), 1);
  EXPECT_LT(worst_error<LogAll>("log near 1", floats_between(0.5f, 2.0f, 13), truth), 1);
}

TEST(Math, TanhIsAccurateOverItsWholeRange) {
  const auto truth = [](long double x) { return std::tanh(x); };
  EXPECT_LT(worst_error<TanhAll>("tanh", floats_between(-FLT_MAX, FLT_MAX, 1021), truth), 2.7);
  EXPECT_LT(worst_error<TanhAll>("tanh of 0.01 ... 10", floats_between(0.01f, 10.0f, 13), truth), 2.7);
}

TEST(Math, SigmoidIsAccurateOverItsWholeRange) {
  const auto truth = [](long double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(worst_error<SigmoidAll>("sigmoid", floats_between(-87.33654f, FLT_MAX, 1021), truth), 2.5);
  EXPECT_LT(worst_error<SigmoidAll>("sigmoid of -20 ... 20", floats_between(0.01f, 20.0f, 31), truth), 2.5);
  EXPECT_LT(worst_error<SigmoidAll>("sigmoid of small", floats_between(-20.0f, -0.01f, 31), truth), 2.5);
}

TEST(Math, ExpSpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(one<ExpAll>(0.0f), 1.0f);
  EXPECT_EQ(one<ExpAll>(-0.0f), 1.0f);
  EXPECT_EQ(one<ExpAll>(infinity), infinity);
  EXPECT_EQ(one<ExpAll>(-infinity), 0.0f);
  EXPECT_EQ(one<ExpAll>(FLT_MAX), infinity);
  EXPECT_EQ(one<ExpAll>(-FLT_MAX), 0.0f);
  EXPECT_TRUE(std::isnan(one<ExpAll>(std::nanf(""))));
  // ln(FLT_MAX) lies between these two neighbours.
  EXPECT_LT(one<ExpAll>(88.72283f), infinity);
  EXPECT_EQ(one<ExpAll>(std::nextafter(88.72283f, 100.0f)), infinity);
  // e^x leaves the normal numbers at ln(FLT_MIN): no denormals.
  const float edge = std::log(FLT_MIN);
  EXPECT_GE(one<ExpAll>(std::nextafter(edge, 0.0f)), FLT_MIN);
  EXPECT_EQ(one<ExpAll>(-87.5f), 0.0f);
  EXPECT_EQ(one<ExpAll>(-100.0f), 0.0f);
}

TEST(Math, LogSpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(one<LogAll>(1.0f), 0.0f);
  EXPECT_EQ(one<LogAll>(0.0f), -infinity);
  EXPECT_EQ(one<LogAll>(-0.0f), -infinity);
  EXPECT_EQ(one<LogAll>(infinity), infinity);
  EXPECT_TRUE(std::isnan(one<LogAll>(-1.0f)));
  EXPECT_TRUE(std::isnan(one<LogAll>(-infinity)));
  EXPECT_TRUE(std::isnan(one<LogAll>(std::nanf(""))));
}

TEST(Math, TanhAndSigmoidSpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(one<TanhAll>(0.0f), 0.0f);
  EXPECT_TRUE(std::signbit(one<TanhAll>(-0.0f)));
  EXPECT_EQ(one<TanhAll>(infinity), 1.0f);
  EXPECT_EQ(one<TanhAll>(-infinity), -1.0f);
  EXPECT_EQ(one<TanhAll>(100.0f), 1.0f);
  EXPECT_TRUE(std::isnan(one<TanhAll>(std::nanf(""))));
  EXPECT_EQ(one<SigmoidAll>(0.0f), 0.5f);
  EXPECT_EQ(one<SigmoidAll>(infinity), 1.0f);
  EXPECT_EQ(one<SigmoidAll>(-infinity), 0.0f);
  EXPECT_TRUE(std::isnan(one<SigmoidAll>(std::nanf(""))));
  for (const float x : {0.1f, 0.3f, 0.625f, 2.0f, 8.0f}) {
    EXPECT_EQ(one<TanhAll>(-x), -one<TanhAll>(x)) << x;  // odd
    EXPECT_NEAR(one<SigmoidAll>(-x) + one<SigmoidAll>(x), 1.0f, 1e-6f) << x;
  }
}

TEST(Math, ScalarsAreLanes) {
  for (const float x : {0.1f, 0.2f, 0.7f, 1.0f, 3.5f, 12.25f}) EXPECT_EQ(log1(x), one<LogAll>(x));
}

TEST(Math, CosineOfTurns) {
  double worst = 0;
  for (int i = 0; i < 100'000; ++i) {
    const float turns = static_cast<float>(i) / 100'000.0f;
    const long double truth = std::cos(2 * 3.14159265358979323846264338327950288L * static_cast<long double>(turns));
    worst = std::max(worst, static_cast<double>(std::abs(static_cast<long double>(cos_turns(turns)) - truth)));
  }
  EXPECT_LT(worst, 6.1e-8);  // half a unit in the last place of 1
  EXPECT_EQ(cos_turns(0.0f), 1.0f);
  EXPECT_EQ(cos_turns(0.5f), -1.0f);
  EXPECT_NEAR(cos_turns(0.25f), 0.0f, 1e-7f);
  EXPECT_NEAR(cos_turns(0.75f), 0.0f, 1e-7f);
}

class EveryIsa : public ::testing::Test {
 protected:
  void TearDown() override { set_active_isa(before_); }
  template <class F>
  static std::vector<std::vector<float>> on_each(const F& f) {
    std::vector<std::vector<float>> results;
    for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512}) {
      if (isa > best_isa()) continue;
      set_active_isa(isa);
      results.push_back(f());
    }
    return results;
  }
  static void expect_same_bits(const std::vector<std::vector<float>>& results) {
    for (const auto& result : results)
      for (std::size_t i = 0; i < result.size(); ++i)
        ASSERT_TRUE(std::bit_cast<std::uint32_t>(result[i]) == std::bit_cast<std::uint32_t>(results[0][i]) ||
                    (std::isnan(result[i]) && std::isnan(results[0][i])))
            << "element " << i << ": " << result[i] << " and " << results[0][i];
  }
  const Isa before_ = active_isa();
};

TEST_F(EveryIsa, FunctionsGiveTheSameBits) {
  if (best_isa() == Isa::generic) GTEST_SKIP() << "this CPU has only the generic instruction set";
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x = floats_between(-FLT_MAX, FLT_MAX, 16'381);
  for (const float special : {infinity, -infinity, std::nanf(""), 0.0f, -0.0f, 88.72283f, -87.33654f, 0.625f, FLT_MAX})
    x.push_back(special);
  expect_same_bits(on_each([&] { return mapped<ExpAll>(x); }));
  expect_same_bits(on_each([&] { return mapped<LogAll>(x); }));
  expect_same_bits(on_each([&] { return mapped<TanhAll>(x); }));
  expect_same_bits(on_each([&] { return mapped<SigmoidAll>(x); }));
}

TEST_F(EveryIsa, SumAddsHalvesQuartersEighthsPairs) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 1000);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> x(kLanes);
    for (float& v : x) v = normal(random);
    const auto at = [&](std::size_t i) { return x[i]; };
    float quarter[4];
    for (std::size_t i = 0; i < 4; ++i) quarter[i] = (at(i) + at(i + 8)) + (at(i + 4) + at(i + 12));
    const float expected = (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
    for (const auto& result : on_each([&] { return mapped<SumAll>(x); })) ASSERT_EQ(result[0], expected);
  }
}

TEST_F(EveryIsa, FmaRoundsOnce) {
  // (1 + e)(1 - e) - 1 = -e^2 exactly, which a product rounded first would lose.
  const float e = std::ldexp(1.0f, -13);
  std::vector<float> x(3 * kLanes);
  for (std::size_t i = 0; i < kLanes; ++i) {
    x[i] = 1 + e;
    x[kLanes + i] = 1 - e;
    x[2 * kLanes + i] = -1;
  }
  const auto results = on_each([&] {
    std::vector<float> y = x;
    dispatch<FmaAll>(y.data());
    y.resize(kLanes);
    return y;
  });
  for (const auto& result : results)
    for (const float y : result) EXPECT_EQ(y, -e * e);
}

TEST(Simd, PartsOfALane) {
  float memory[kLanes], out[kLanes];
  for (int i = 0; i < kLanes; ++i) memory[i] = static_cast<float>(i + 1);
  for (int count = 0; count <= kLanes; ++count) {
    const Lanes part = load_part(memory, count);
    for (int i = 0; i < kLanes; ++i) ASSERT_EQ(part[i], i < count ? memory[i] : 0.0f);
    std::fill(out, out + kLanes, -1.0f);
    store_part(out, load(memory), count);
    for (int i = 0; i < kLanes; ++i) ASSERT_EQ(out[i], i < count ? memory[i] : -1.0f);
  }
}

TEST(Simd, InstructionSetsByName) {
  for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512}) EXPECT_EQ(parse_isa(isa_name(isa)), isa);
  EXPECT_EQ(parse_isa("auto"), best_isa());
  EXPECT_THROW(parse_isa("avx51"), Error);
  if (best_isa() != Isa::avx512) {
    EXPECT_THROW(set_active_isa(Isa::avx512), Error);
  }
}

TEST(Simd, DenormalsAreFlushedToZero) {
  const unsigned before = __builtin_ia32_stmxcsr();
  volatile float small = FLT_MIN;
  volatile float half = 0.5f;
  EXPECT_GT(small * half, 0.0f) << "a test of flushing needs a thread that does not flush";
  set_flush_to_zero();
  volatile float product = small * half;                               // a denormal result
  volatile float denormal = std::numeric_limits<float>::denorm_min();  // a denormal operand
  volatile float grown = denormal * 1e20f;
  const float flushed_result = product, flushed_operand = grown;
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(flushed_result, 0.0f);
  EXPECT_EQ(flushed_operand, 0.0f);
}

}  // namespace
}  // namespace trireme::base
