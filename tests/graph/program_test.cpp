// Programs of different oar sizes share one set of weights; kernels have fingerprints.
#include "graph/program.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <map>

#include "graph/fingerprint.h"
#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::graph {
namespace {

std::map<std::string, std::uint64_t> prints(const Network& net, const ProgramOptions& options) {
  std::map<std::string, std::uint64_t> all;
  for (const KernelPrint& print : fingerprint(Program(net, options, {}))) {
    EXPECT_FALSE(all.contains(print.kernel)) << "a kernel is printed twice: " << print.kernel;
    all[print.kernel] = print.hash;
  }
  return all;
}

TEST(Program, LayoutsFixedByAnotherProgramAreKept) {
  for (const Network& unfused : support::small_networks()) {
    const Network net = fuse(unfused);
    const Program large(net, {16, true, 1}, {});
    for (const std::int64_t samples : {1, 2, 15, 64})
      for (const bool training : {true, false}) {
        const Program other(net, {samples, training, 1}, large.parameter_layouts());
        EXPECT_EQ(other.parameter_layouts(), large.parameter_layouts()) << net.name() << " " << samples;
      }
  }
}

TEST(Program, InferenceHasNoBackward) {
  const Program program(support::small_cnn(), {2, false, 1}, {});
  EXPECT_TRUE(program.plan().backward.empty());
}

TEST(Program, BranchesThatLeadNowhereAreLeftOut) {
  const Program program(support::two_inputs(), {2, true, 1}, {});
  for (const PlanTask& task : program.plan().tasks) EXPECT_FALSE(task.name.starts_with("lost")) << task.name;
  EXPECT_EQ(program.parameter_layouts().size(), support::two_inputs().parameters().size());
}

TEST(Program, PassesAreNamedAndTimed) {
  const Program program(support::small_cnn(), {2, true, 1}, {});
  std::vector<std::string> names;
  for (const PassTime& pass : program.pass_times()) {
    names.push_back(pass.name);
    EXPECT_GE(pass.seconds, 0);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"layout", "autodiff", "cost", "memory"}));
}

TEST(Fingerprint, IsTheSameTwice) {
  for (const Network& net : support::small_networks()) {
    const auto first = prints(net, {3, true, 1});
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, prints(net, {3, true, 1})) << net.name();
  }
}

TEST(Fingerprint, DiffersForAnotherShape) {
  const auto three = prints(support::small_cnn(), {3, true, 1}), four = prints(support::small_cnn(), {4, true, 1});
  for (const auto& [kernel, hash] : three) {
    EXPECT_FALSE(four.contains(kernel)) << kernel;
    for (const auto& [other, other_hash] : four) EXPECT_NE(hash, other_hash) << kernel << " and " << other;
  }
}

TEST(Fingerprint, DoesNotDependOnTheCallersThreadCount) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = prints(fuse(support::small_residual()), {4, true, 1});
  for (const int threads : {2, 16}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(prints(fuse(support::small_residual()), {4, true, 1}), one) << threads;
    EXPECT_EQ(omp_get_max_threads(), threads) << "the gate gives the setting back";
  }
  omp_set_num_threads(before);
}

TEST(Fingerprint, KernelsThatDifferInMoreThanShapeAreAllPrinted) {
  // Maximum and average pooling, batch norm with and without a folded ReLU, convolution likewise: same shapes.
  Network net("alike");
  Value x = net.input("x", {16, 8, 8});
  x = net.add("conv1", support::conv3(16), {x});
  x = net.add("conv2", support::conv3(16), {x});
  x = net.add("conv3", support::conv3(16), {x});
  x = net.add("relu3", ops::relu(), {x});
  x = net.add("bn1", ops::batch_norm(), {x});
  x = net.add("bn2", ops::batch_norm(), {x});
  x = net.add("relu", ops::relu(), {x});
  const Value most = net.add("max", ops::max_pool({.kernel = {2, 2}}), {x});
  const Value mean = net.add("mean", ops::average_pool({.kernel = {2, 2}}), {x});
  support::classify(net, net.add("add", ops::add(), {most, mean}));
  const auto all = prints(fuse(net), {2, true, 1});
  const auto count = [&](const std::string& start) {
    return std::count_if(all.begin(), all.end(), [&](const auto& print) { return print.first.starts_with(start); });
  };
  EXPECT_EQ(count("pool"), 2);
  EXPECT_EQ(count("batch norm"), 2);
  EXPECT_EQ(count("conv"), 3);  // the first wants no gradient of its input, the third has a ReLU
}

TEST(Fingerprint, RunsEveryKernelOfTheLargeNetworks) {
  for (const Network& net : {fuse(support::resnet20()), fuse(support::densenet40())}) {
    const auto all = prints(net, {4, true, 1});
    EXPECT_GE(all.size(), 10u);
    for (const auto& [kernel, hash] : all) EXPECT_NE(hash, 0u) << kernel;
  }
}

}  // namespace
}  // namespace trireme::graph
