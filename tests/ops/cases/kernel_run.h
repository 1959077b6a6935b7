// Runs a case's kernel as a Program does, and checks on the way what every kernel promises: all results written, the
// padding of layouts zero, gradients in the asked slot only, nothing read that the plan says is not needed.
#pragma once

#include "ops/cases/case_data.h"

namespace trireme::optest {

struct KernelSetup {
  std::vector<tensor::Layout> offered;  // of src
  std::vector<tensor::Layout> fixed_weights{};
  bool training = true;
  int slot = 0;                      // of two
  bool in_place = false;             // where the plan allows it
  std::int64_t room = 0;             // for a concat
  const std::byte* known = nullptr;  // an earlier kernel's workspace
  std::int64_t known_channels = 0;
  float add_to = 0;  // when not 0, diff_src[0] holds it everywhere and is added to
};

// Results in plain order.
struct KernelResult {
  std::vector<float> dst;
  std::vector<std::vector<float>> diff_src, diff_weights;
  double loss = 0, correct = 0;
  std::vector<std::byte> workspace;  // after forward
  std::vector<tensor::Layout> weight_layouts;
};

// Reports broken promises as test failures.
KernelResult run_kernel(const OpCase& c, const CaseData& data, const KernelSetup& setup);

// The layouts in which a case's inputs are offered, each with its name.
struct Offer {
  std::string name;
  std::vector<tensor::Layout> layouts;
};
std::vector<Offer> offers(const OpCase& c);

// Fails where a result is further from the exact one than `allowance` times its bound.
void expect_within(const std::string& what, const std::vector<double>& exact, const std::vector<float>& got,
                   const std::vector<double>& bound, double allowance = 1);
// Fails where two results differ in a bit.
void expect_same_bits(const std::string& what, const KernelResult& a, const KernelResult& b);

}  // namespace trireme::optest
