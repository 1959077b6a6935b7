// The PyTorch modules in peers/pytorch/networks.py have the names, shapes and order of the zoo's parameters.
#include <gtest/gtest.h>

#include <sstream>

#include "models/zoo.h"
#include "support/peer_python.h"

namespace trireme::models {
namespace {

const ModelRegistry kZoo = builtin_models();

TEST(PeerNames, PytorchAgrees) {
  const std::string python = test::find_python("torch");
  if (python.empty()) return test::without_peer("no Python with PyTorch (python3-torch)");
  const test::Finished peer =
      test::run_process({python, "-W", "ignore", std::string(TRIREME_SOURCE_DIR) + "/peers/pytorch/networks.py"});
  ASSERT_EQ(peer.exit_code, 0) << peer.err;
  std::ostringstream ours;
  for (const ModelRow& model : kZoo.rows()) {
    ours << "model " << model.name << "\n";
    const graph::Network net = build_model(model.name);
    for (const auto& parameter : net.parameters())
      ours << (parameter.spec.is_statistic() ? "statistic " : "trained ") << parameter.name << " "
           << parameter.spec.shape.text() << "\n";
  }
  // Line by line, so that a difference names its model.
  std::istringstream left(ours.str()), right(peer.out);
  std::string our_line, peer_line, model;
  while (std::getline(left, our_line)) {
    if (our_line.starts_with("model ")) model = our_line;
    ASSERT_TRUE(std::getline(right, peer_line)) << model << ": PyTorch has nothing for " << our_line;
    ASSERT_EQ(our_line, peer_line) << model;
  }
  EXPECT_FALSE(std::getline(right, peer_line)) << "PyTorch has more: " << peer_line;
}

}  // namespace
}  // namespace trireme::models
