// A compiled network allocates nothing while it runs.
#include <gtest/gtest.h>

#include <memory>

#include "support/core_allocations.h"
#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::graph {
namespace {

TEST(SteadyState, TheCounterCounts) {
  support::start_counting_allocations();
  const auto one = std::make_unique<int>(1);
  const std::vector<int> two(10);
  EXPECT_EQ(support::stop_counting_allocations(), 2);
  const auto three = std::make_unique<int>(1);
  EXPECT_EQ(support::stop_counting_allocations(), 2);
}

std::int64_t allocations_of_a_step(support::SingleRun& single) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(single.samples()), 1);
  const auto step = [&] {
    ops::OarRun oar;
    oar.sample_indices = indices;
    single.instance().forward(oar);
    for (const graph::Segment& segment : single.program().backward_segments()) single.instance().backward(segment, oar);
  };
  single.fill();
  step();
  single.fill();
  support::start_counting_allocations();
  step();
  return support::stop_counting_allocations();
}

TEST(SteadyState, NothingIsAllocated) {
  std::vector<Network> nets = support::small_networks();
  nets.push_back(support::resnet20());
  nets.push_back(support::densenet40());
  for (const Network& net : nets)
    for (const bool training : {true, false}) {
      support::SingleRun single(fuse(net), 2, training);
      EXPECT_EQ(allocations_of_a_step(single), 0) << net.name() << (training ? " training" : " inference");
    }
}

TEST(SteadyState, RefreshingWeightFormsAllocatesNothing) {
  const Network net = fuse(support::resnet20());
  const Program program(net, {4, true, 1}, {});
  const tensor::ParameterSpace space = support::space_of(net, program.parameter_layouts());
  const tensor::Buffer weights(static_cast<std::size_t>(space.floats()) * sizeof(float));
  WeightForms forms(space, weights.floats(), 1);
  for (const PlanTask& task : program.plan().tasks)
    for (const auto& derived : task.kernel->plan().derived)
      forms.get(task.parameters[static_cast<std::size_t>(derived.parameter)], derived.layout);
  forms.refresh_all();
  support::start_counting_allocations();
  forms.refresh_all();
  EXPECT_EQ(support::stop_counting_allocations(), 0);
}

}  // namespace
}  // namespace trireme::graph
