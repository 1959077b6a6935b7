// What an update rule captures of the step that is watched.
#include "strategy/common/update_capture.h"

#include <gtest/gtest.h>

#include "optim/optimizer.h"
#include "strategy/common/optimizer_state.h"

namespace trireme::strategy {
namespace {

TEST(UpdateCapture, KeepsGradientsAndChangesOfItsStepOnly) {
  OptimizerState state(optim::make_optimizer("sgd:lr=0.5"), {16, 48});
  EXPECT_EQ(state.captured(), nullptr) << "nothing is kept before anybody asks";
  state.watch(2);
  std::vector<float> weights(32, 1.0f), gradients(32, 2.0f);
  const auto step = [&](std::int64_t number, std::int64_t offset, std::int64_t count) {
    optim::StepScalars scalars;
    scalars.step = number;
    scalars.lr = 0.5;
    state.update(offset, count, weights.data() + (offset - 16), gradients.data(), scalars, 0);
  };
  step(1, 16, 32);
  EXPECT_TRUE(state.captured()->ranges().empty());
  step(2, 32, 8);
  step(2, 16, 8);
  step(2, 24, 4);
  EXPECT_EQ(state.captured()->ranges(), (std::vector<base::Range>{{16, 28}, {32, 40}}))
      << "in order, as few as possible";
  EXPECT_EQ(state.captured()->gradients({24, 28})[3], 2.0f);
  EXPECT_EQ(state.captured()->updates({32, 40})[0], -1.0f) << "- lr * gradient";
  EXPECT_EQ(weights[0], -1.0f) << "two steps of -1 from 1";
  step(3, 16, 32);
  EXPECT_EQ(state.captured()->ranges().size(), 2u);
  state.watch(0);
  EXPECT_TRUE(state.captured()->ranges().empty());
}

}  // namespace
}  // namespace trireme::strategy
