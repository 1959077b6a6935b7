// Every update rule against a plain double implementation of its published formula; and the same bits for any
// instruction set and any split.
#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "base/cpu/simd.h"
#include "base/error.h"

namespace trireme::optim {
namespace {

// Values in [-1, 1), by a plain linear congruence.
std::vector<float> some_values(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<std::int32_t>(seed)) / 2147483648.0f;
  }
  return values;
}

struct Scalar {
  double w, s0, s1;
};

struct Case {
  const char* spec;
  std::function<void(Scalar&, double g, int step)> reference;
  int slots;
};

void reference_sgd(Scalar& x, double g, double lr, double momentum, bool nesterov, double decay, double shrink) {
  const double d = g + decay * x.w;
  x.s0 = momentum * x.s0 + d;
  x.w = x.w * shrink - lr * (momentum == 0 ? d : nesterov ? d + momentum * x.s0 : x.s0);
}

void reference_adam(Scalar& x, double g, int step, double lr, double decay, double shrink) {
  const double d = g + decay * x.w;
  x.s0 = 0.9 * x.s0 + 0.1 * d;
  x.s1 = 0.999 * x.s1 + 0.001 * d * d;
  const double mean = x.s0 / (1 - std::pow(0.9, step)), square = x.s1 / (1 - std::pow(0.999, step));
  x.w = x.w * shrink - lr * mean / (std::sqrt(square) + 1e-8);
}

void reference_adagrad(Scalar& x, double g, double lr, double shrink) {
  x.s0 += g * g;
  x.w = x.w * shrink - lr * g / (std::sqrt(x.s0) + 1e-10);
}

void reference_adadelta(Scalar& x, double g, double lr, double rho, double decay) {
  const double d = g + decay * x.w;
  x.s0 = rho * x.s0 + (1 - rho) * d * d;
  const double u = std::sqrt(x.s1 + 1e-6) / std::sqrt(x.s0 + 1e-6) * d;
  x.s1 = rho * x.s1 + (1 - rho) * u * u;
  x.w -= lr * u;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"sgd:lr=0.1", [](Scalar& x, double g, int) { reference_sgd(x, g, 0.1, 0, false, 0, 1); }, 0},
      {"sgd:lr=0.1,weight-decay=0.02", [](Scalar& x, double g, int) { reference_sgd(x, g, 0.1, 0, false, 0.02, 1); },
       0},
      {"sgd:lr=0.1,weight-decay=0.02,decoupled=yes",
       [](Scalar& x, double g, int) { reference_sgd(x, g, 0.1, 0, false, 0, 1 - 0.1 * 0.02); }, 0},
      {"momentum:lr=0.1,weight-decay=5e-4",
       [](Scalar& x, double g, int) { reference_sgd(x, g, 0.1, 0.9, false, 5e-4, 1); }, 1},
      {"sgd:lr=0.05,momentum=0.8", [](Scalar& x, double g, int) { reference_sgd(x, g, 0.05, 0.8, false, 0, 1); }, 1},
      {"nesterov:lr=0.1,weight-decay=5e-4",
       [](Scalar& x, double g, int) { reference_sgd(x, g, 0.1, 0.9, true, 5e-4, 1); }, 1},
      {"adagrad", [](Scalar& x, double g, int) { reference_adagrad(x, g, 0.01, 1); }, 1},
      {"adagrad:lr=0.1,weight-decay=0.1,decoupled=yes",
       [](Scalar& x, double g, int) { reference_adagrad(x, g, 0.1, 0.99); }, 1},
      {"adadelta", [](Scalar& x, double g, int) { reference_adadelta(x, g, 1.0, 0.95, 0); }, 2},
      {"adadelta:lr=0.5,rho=0.9,weight-decay=0.01",
       [](Scalar& x, double g, int) { reference_adadelta(x, g, 0.5, 0.9, 0.01); }, 2},
      {"adam", [](Scalar& x, double g, int step) { reference_adam(x, g, step, 1e-3, 0, 1); }, 2},
      {"adam:lr=0.01,weight-decay=0.1", [](Scalar& x, double g, int step) { reference_adam(x, g, step, 0.01, 0.1, 1); },
       2},
      {"adamw:lr=0.1", [](Scalar& x, double g, int step) { reference_adam(x, g, step, 0.1, 0, 1 - 0.1 * 0.01); }, 2},
  };
  return all;
}

// Weights and state after some steps. `cuts` are where each step's range is split into separate calls.
struct Result {
  std::vector<float> weights, state[2];
};

Result train(const Optimizer& optimizer, std::size_t count, int steps, const std::vector<std::size_t>& cuts = {},
             double clip = 1, float l2 = 0) {
  Result r{some_values(count, 7), {std::vector<float>(count), std::vector<float>(count)}};
  for (int step = 1; step <= steps; ++step) {
    const std::vector<float> gradient = some_values(count, 100u + static_cast<std::uint32_t>(step));
    StepScalars scalars{.step = step, .lr = optimizer.lr(), .clip = clip};
    optimizer.prepare(scalars);
    std::size_t begin = 0;
    std::vector<std::size_t> ends = cuts;
    ends.push_back(count);
    for (const std::size_t end : ends) {
      float* const state[2] = {r.state[0].data() + begin, r.state[1].data() + begin};
      optimizer.update(r.weights.data() + begin, gradient.data() + begin,
                       std::span(state, static_cast<std::size_t>(optimizer.slots())),
                       static_cast<std::int64_t>(end - begin), scalars, l2);
      begin = end;
    }
  }
  return r;
}

void expect_same_bits(const Result& a, const Result& b, const std::string& what) {
  const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  };
  EXPECT_TRUE(same(a.weights, b.weights)) << what;
  EXPECT_TRUE(same(a.state[0], b.state[0])) << what;
  EXPECT_TRUE(same(a.state[1], b.state[1])) << what;
}

TEST(Optimizer, FollowsItsFormula) {
  constexpr int kSteps = 20;
  for (const Case& c : cases()) {
    const auto optimizer = make_optimizer(c.spec);
    EXPECT_EQ(optimizer->slots(), c.slots) << c.spec;
    EXPECT_EQ(optimizer->slot_names().size(), static_cast<std::size_t>(c.slots)) << c.spec;
    for (const std::size_t count : {0u, 1u, 15u, 16u, 17u, 1003u}) {
      const Result got = train(*optimizer, count, kSteps);
      const std::vector<float> start = some_values(count, 7);
      std::vector<Scalar> expected(count);
      for (std::size_t i = 0; i < count; ++i) expected[i].w = static_cast<double>(start[i]);
      for (int step = 1; step <= kSteps; ++step) {
        const std::vector<float> gradient = some_values(count, 100u + static_cast<std::uint32_t>(step));
        for (std::size_t i = 0; i < count; ++i) c.reference(expected[i], static_cast<double>(gradient[i]), step);
      }
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_NEAR(static_cast<double>(got.weights[i]), expected[i].w, 1e-5) << c.spec << " element " << i;
    }
  }
}

TEST(Optimizer, ClipScalesTheGradientAndL2AddsToDecay) {
  // One step of plain descent in closed form: w - lr (clip g + (decay + l2) w).
  const auto optimizer = make_optimizer("sgd:lr=0.5,weight-decay=0.25");
  float w = 2, g = 4;
  optimizer->update(&w, &g, {}, 1, {.step = 1, .lr = 0.5, .clip = 0.5}, 0.125f);
  EXPECT_EQ(w, 2 - 0.5f * (2 + 0.375f * 2));
  // Decoupled, l2 still goes through the gradient: w (1 - lr decay) - lr (g + l2 w).
  const auto decoupled = make_optimizer("sgd:lr=0.5,weight-decay=0.25,decoupled=yes");
  w = 2;
  decoupled->update(&w, &g, {}, 1, {.step = 1, .lr = 0.5}, 0.125f);
  EXPECT_EQ(w, 2 * 0.875f - 0.5f * (4 + 0.25f));
}

TEST(Optimizer, TheStepsRateIsUsedNotTheOptimizers) {
  const auto optimizer = make_optimizer("sgd:lr=0.5");
  float w = 1, g = 1;
  optimizer->update(&w, &g, {}, 1, {.step = 1, .lr = 0.25}, 0);
  EXPECT_EQ(w, 0.75f);
}

TEST(Optimizer, SameBitsOnEveryInstructionSet) {
  const base::Isa before = base::active_isa();
  for (const Case& c : cases()) {
    const auto optimizer = make_optimizer(c.spec);
    base::set_active_isa(base::Isa::generic);
    const Result generic = train(*optimizer, 1003, 5, {}, 0.37, 1e-3f);
    for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
      if (isa > base::best_isa()) continue;
      base::set_active_isa(isa);
      expect_same_bits(generic, train(*optimizer, 1003, 5, {}, 0.37, 1e-3f),
                       std::string(c.spec) + " on " + std::string(base::isa_name(isa)));
    }
  }
  base::set_active_isa(before);
}

TEST(Optimizer, SameBitsForAnySplit) {
  for (const Case& c : cases()) {
    const auto optimizer = make_optimizer(c.spec);
    const Result whole = train(*optimizer, 517, 5);
    expect_same_bits(whole, train(*optimizer, 517, 5, {1, 18, 18, 100, 511}), c.spec);
    std::vector<std::size_t> singles;
    for (std::size_t i = 1; i < 517; ++i) singles.push_back(i);
    expect_same_bits(whole, train(*optimizer, 517, 5, singles), c.spec);
  }
}

TEST(Optimizer, PaddingStaysZero) {
  for (const Case& c : cases()) {
    const auto optimizer = make_optimizer(c.spec);
    std::vector<float> w(33), g(33), s0(33), s1(33);
    float* const state[2] = {s0.data(), s1.data()};
    for (int step = 1; step <= 3; ++step) {
      StepScalars scalars{.step = step, .lr = optimizer->lr()};
      optimizer->prepare(scalars);
      optimizer->update(w.data(), g.data(), std::span(state, static_cast<std::size_t>(optimizer->slots())), 33, scalars,
                        0.1f);
    }
    const std::vector<std::uint32_t> zero_bits(33, 0);
    EXPECT_EQ(std::memcmp(w.data(), zero_bits.data(), 33 * 4), 0) << c.spec;
    EXPECT_EQ(std::memcmp(s0.data(), zero_bits.data(), 33 * 4), 0) << c.spec;
    EXPECT_EQ(std::memcmp(s1.data(), zero_bits.data(), 33 * 4), 0) << c.spec;
  }
}

TEST(Optimizer, AdamsCorrections) {
  const auto adam = make_optimizer("adam:beta1=0.5,beta2=0.75");
  StepScalars scalars{.step = 3};
  adam->prepare(scalars);
  EXPECT_EQ(scalars.correction1, 1 - 0.125);
  EXPECT_EQ(scalars.correction2, 1 - 0.421875);
  scalars.step = 1'000'000'000'000;
  adam->prepare(scalars);
  EXPECT_EQ(scalars.correction1, 1);
  EXPECT_EQ(scalars.correction2, 1);
}

TEST(Optimizer, TextReadsBack) {
  const OptimizerRegistry optimizers = builtin_optimizers();
  for (const OptimizerRow& info : optimizers.rows()) {
    const std::string full = make_optimizer(info.name)->text();
    EXPECT_EQ(make_optimizer(full)->text(), full);
    EXPECT_FALSE(info.summary.empty());
  }
  EXPECT_EQ(make_optimizer("nesterov:lr=0.1,weight-decay=5e-4")->text(),
            "sgd:lr=0.1,momentum=0.9,nesterov=yes,weight-decay=0.0005,decoupled=no");
  EXPECT_EQ(make_optimizer("adamw")->text(),
            "adam:lr=0.001,beta1=0.9,beta2=0.999,eps=1e-08,weight-decay=0.01,decoupled=yes");
}

TEST(Optimizer, WrongSpecificationsAreUserErrors) {
  for (const char* spec : {"", "sdg", "sgd:lr=-1", "sgd:lr=x", "sgd:lr=nan", "sgd:momentum=1", "sgd:nesterov=yes",
                           "sgd:beta1=0.9", "adam:beta2=1.5", "adam:eps=0", "adagrad:eps=-1", "sgd:weight-decay=-1",
                           "adadelta:rho=1", "sgd:decoupled=maybe", "sgd:lr=1,lr=2"}) {
    try {
      (void)make_optimizer(spec);
      ADD_FAILURE() << "'" << spec << "' was accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::user) << spec;
    }
  }
}

TEST(Optimizer, AWrongNumberOfSlotsIsAnInvariant) {
  const auto optimizer = make_optimizer("adam");
  float w = 0, g = 0;
  EXPECT_THROW(optimizer->update(&w, &g, {}, 1, {}, 0), base::Error);
}

}  // namespace
}  // namespace trireme::optim
