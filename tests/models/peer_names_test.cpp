// The PyTorch modules in peers/pytorch/networks.py have the names, shapes and order of the zoo's parameters. Skipped
// where no Python with PyTorch is found.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "models/zoo.h"

namespace trireme::models {
namespace {

struct Output {
  std::string text;
  int status = -1;
};

Output run(const std::string& command) {
  Output output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> chunk;
  for (std::size_t n; (n = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) output.text.append(chunk.data(), n);
  output.status = pclose(pipe);
  return output;
}

std::string python_with_torch() {
  const char* named = std::getenv("TRIREME_PYTHON");
  std::vector<std::string> candidates = {"python3", "/usr/bin/python3"};
  if (named != nullptr) candidates = {named};
  for (const std::string& python : candidates)
    if (run("'" + python + "' -c 'import torch' 2>/dev/null").status == 0) return python;
  return "";
}

TEST(PeerNames, PytorchAgrees) {
  const std::string python = python_with_torch();
  if (python.empty()) GTEST_SKIP() << "no Python with PyTorch (python3-torch)";
  const Output peer = run("'" + python + "' -W ignore '" + TRIREME_SOURCE_DIR + "/peers/pytorch/networks.py'");
  ASSERT_EQ(peer.status, 0);
  std::ostringstream ours;
  for (const ModelInfo& model : model_list()) {
    ours << "model " << model.name << "\n";
    const graph::Network net = build_model(model.name);
    for (const auto& parameter : net.parameters())
      ours << (parameter.spec.is_statistic() ? "statistic " : "trained ") << parameter.name << " "
           << parameter.spec.shape.text() << "\n";
  }
  // Line by line, so that a difference names its model.
  std::istringstream left(ours.str()), right(peer.text);
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
