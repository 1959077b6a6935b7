// A crew allocates nothing once every batch size has been seen.
#include <gtest/gtest.h>

#include "support/core_allocations.h"
#include "support/core_crew_run.h"
#include "support/core_networks.h"

namespace trireme::crew {
namespace {

struct Allocations {
  std::int64_t row = 0, chunks = 0, finish = 0, passing = 0;
};

Allocations allocations_of_a_step(support::CrewRun& run, std::int64_t samples) {
  Allocations result;
  run.load(samples);
  const std::function<void(const Chunk&, const float*)> update = [&run](const Chunk& chunk, const float* gradient) {
    run.crew().weights()[chunk.offset] -= gradient[0];
  };
  support::start_counting_allocations();
  run.compute_loaded();
  result.row = support::stop_counting_allocations();
  support::start_counting_allocations();
  run.crew().for_each_chunk(update);
  result.chunks = support::stop_counting_allocations();
  support::start_counting_allocations();
  run.crew().finish_step();
  result.finish = support::stop_counting_allocations();
  support::start_counting_allocations();
  run.compute_loaded(update);
  result.passing = support::stop_counting_allocations();
  run.crew().finish_step();
  return result;
}

TEST(CrewSteadyState, NothingIsAllocated) {
  for (const graph::Network& net : {support::resnet20(), support::densenet40(), support::dropout_cnn()})
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(net.name() + " on " + std::to_string(threads) + " threads");
      CrewOptions options;
      options.batch = 6;
      options.oars = 4;
      options.threads = threads;
      support::CrewRun run(net, options);
      for (const std::int64_t samples : {6, 2}) allocations_of_a_step(run, samples);
      for (const std::int64_t samples : {6, 2}) {
        const Allocations made = allocations_of_a_step(run, samples);
        EXPECT_EQ(made.row, 0);
        EXPECT_EQ(made.chunks, 0);
        EXPECT_EQ(made.finish, 0);
        EXPECT_EQ(made.passing, 0);
      }
    }
}

}  // namespace
}  // namespace trireme::crew
