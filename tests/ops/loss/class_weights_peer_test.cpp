// Class weights against PyTorch: cross_entropy(weight=w, reduction="sum") / n. PyTorch's "mean" divides by the batch's
// sum of weights instead of n, see docs/using.md.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/system/files.h"
#include "ops/loss/weighted_loss.h"
#include "support/peer_python.h"
#include "support/temporary_folder.h"

namespace trireme::ops {
namespace {

constexpr const char* kScript = R"(
import json, sys, torch
given = json.load(open(sys.argv[1]))
x = torch.tensor(given["prediction"]).reshape(-1, len(given["weights"])).requires_grad_()
t = torch.tensor(given["labels"]).long()
loss = torch.nn.functional.cross_entropy(x, t, weight=torch.tensor(given["weights"]), reduction="sum")
(loss / len(t)).backward()
json.dump({"loss": loss.item(), "gradient": x.grad.flatten().tolist()}, open(sys.argv[2], "w"))
)";

TEST(ClassWeightsOfTheLoss, AreThoseOfPyTorch) {
  const std::string python = test::find_python("torch");
  if (python.empty()) return test::without_peer("neither python3 nor /usr/bin/python3 imports torch");
  const test::TemporaryFolder folder;
  const WeightedLoss given;
  const auto in = (folder.path() / "in.json").string(), out = (folder.path() / "out.json").string();
  base::write_text_atomically(
      in,
      nlohmann::json{{"prediction", given.prediction}, {"labels", given.labels}, {"weights", given.weights}}.dump());
  ASSERT_EQ(test::run_process({python, "-c", kScript, in, out}).exit_code, 0);
  const auto torch = nlohmann::json::parse(base::read_text(out));
  const WeightedLoss::Result got = given.run(given.weights);
  EXPECT_NEAR(got.loss, torch["loss"].get<double>(), 1e-4);
  for (std::size_t i = 0; i < got.gradient.size(); ++i)
    EXPECT_NEAR(got.gradient[i], torch["gradient"][i].get<double>(), 1e-7) << i;
}

}  // namespace
}  // namespace trireme::ops
