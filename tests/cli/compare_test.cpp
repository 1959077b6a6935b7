// `trireme compare`: the same network here and in PyTorch, and networks there that only look the same.
#include "base/error.h"
#include "cli/program.h"
#include "peer/script.h"

namespace trireme::cli_test {
namespace {

class Compare : public Program {
 protected:
  // With PyTorch, or the test is skipped.
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    try {
      python_ = peer::find_python(peer::pytorch(), {});
    } catch (const base::Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Outcome compared(const Words& arguments, const Words& environment = {}) const {
    return run(Words{"compare", "--json", "--python", python_} + arguments, environment);
  }
  // Peers in which one line of a file reads otherwise.
  Words peers_with(const std::string& file, const std::string& line, const std::string& instead) const {
    const fs::path peers = folder() / "peers";
    fs::copy(fs::path(TRIREME_SOURCE_DIR) / "peers", peers, fs::copy_options::recursive);
    std::string text = read(peers / "pytorch" / file);
    const std::size_t at = text.find(line);
    EXPECT_NE(at, std::string::npos) << line;
    write(peers / "pytorch" / file, text.replace(at, line.size(), instead));
    return {"TRIREME_PEERS=" + peers.string()};
  }
  // It fails at this level, and says these words.
  static void expect_failure(const Outcome& outcome, const std::string& level, const Words& sayings) {
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    const Json json = last_json(outcome);
    EXPECT_FALSE(json.at("passed").get<bool>());
    for (const Json& one : json.at("levels")) {
      if (one.at("level") != level) continue;
      EXPECT_FALSE(one.at("passed").get<bool>()) << one;
      for (const std::string& saying : sayings)
        EXPECT_NE(one.at("summary").get<std::string>().find(saying), std::string::npos) << one;
    }
  }

  std::string python_;
};

TEST_F(Compare, TheSameNetworksPass) {
  const std::vector<Words> all{{"--model", "lenet5", "--oars", "3"},
                               {"--model", "mnist-cnn", "--optimizer", "adadelta", "--batch", "5"},
                               {"--model", "resnet20-cifar", "--optimizer", "adam", "--batch", "8"},
                               {"--model", "resnet56v2-cifar", "--batch", "4", "--oars", "1"}};
  for (const Words& arguments : all) {
    const Outcome outcome = compared(arguments + Words{"--steps", "3"});
    EXPECT_EQ(outcome.code, 0) << arguments[1] << ": " << outcome.out << outcome.err;
    const Json json = last_json(outcome);
    EXPECT_TRUE(json.at("passed").get<bool>());
    EXPECT_EQ(json.at("levels").size(), 4u);
    EXPECT_GE(json["levels"][1].at("worst").size(), 4u) << "one of each layer";
    EXPECT_EQ(json["levels"][2].at("worst").size(), 3u) << "one of each step";
  }
}

TEST_F(Compare, AWeightThatIsLoadedWrong) {
  const auto peers = peers_with("compare.py", "                tensor.copy_(given[name])",
                                "                tensor.copy_(given[name])\n"
                                "            own['conv2.weight'].view(-1)[7] += 1e-3");
  expect_failure(compared({"--model", "lenet5", "--steps", "1"}, peers), "start-equal", {"conv2.weight[7]"});
}

TEST_F(Compare, ASumInPlaceOfAMean) {
  const auto peers = peers_with("compare.py", "(loss / samples).backward()", "loss.backward()");
  expect_failure(compared({"--model", "lenet5", "--steps", "2"}, peers), "step-equal",
                 {"gradient.", "step 1", "16 times ours", "sum"});
}

TEST_F(Compare, AnotherMomentumOfBatchNorm) {
  const auto peers = peers_with("compare.py", "self.eps, self.momentum = norm.eps, norm.momentum",
                                "self.eps, self.momentum = norm.eps, 0.9");
  expect_failure(compared({"--model", "resnet20-cifar", "--batch", "8", "--steps", "2"}, peers), "step-equal",
                 {"running_", "step 1", "9 times as far", "momentum"});
}

TEST_F(Compare, AnotherEpsilonOfBatchNorm) {
  const auto peers = peers_with("compare.py", "self.eps, self.momentum = norm.eps, norm.momentum",
                                "self.eps, self.momentum = 1e-3, norm.momentum");
  expect_failure(compared({"--model", "resnet20-cifar", "--batch", "8", "--steps", "1"}, peers), "op-equal",
                 {"bn1", "differs by"});
}

TEST_F(Compare, APaddingThatIsMoved) {
  const auto peers = peers_with("networks.py", "        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))",
                                "        if self.conv1.stride == (2, 2):\n"
                                "            self.conv1.padding = (0, 0)\n"
                                "            x1 = nn.functional.pad(x, (0, 2, 0, 2))\n"
                                "        else:\n"
                                "            x1 = x\n"
                                "        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x1)))))");
  expect_failure(compared({"--model", "resnet20-cifar", "--batch", "8", "--steps", "1"}, peers), "op-equal",
                 {"layer2.0.conv1"});
}

TEST_F(Compare, TwoLayersThatAreSwapped) {
  const auto peers =
      peers_with("networks.py", "torch.relu(self.bn1(self.conv1(x)))))", "self.bn1(torch.relu(self.conv1(x)))))");
  expect_failure(compared({"--model", "resnet20-cifar", "--batch", "8", "--steps", "1"}, peers), "op-equal",
                 {"what reaches layer1.0.bn1"});
}

TEST_F(Compare, DecoupledInPlaceOfCoupledDecay) {
  const auto peers = peers_with("compare.py", "        self.optimizer.step()",
                                "        with torch.no_grad():\n"
                                "            for p in self.net.parameters():\n"
                                "                p.mul_(1 - lr * 0.05)\n"
                                "        for group in self.optimizer.param_groups:\n"
                                "            group['weight_decay'] = 0\n"
                                "        self.optimizer.step()");
  const Words decay{"--optimizer", "sgd:lr=0.01,momentum=0.9,weight-decay=0.05"};
  expect_failure(compared(Words{"--model", "lenet5", "--steps", "4"} + decay, peers), "step-equal",
                 {"weight.", "decay", "decoupled"});
}

TEST_F(Compare, OneLabelInOneBatch) {
  const auto peers = peers_with("compare.py", "        samples = len(batch[\"target\"])",
                                "        samples = len(batch[\"target\"])\n"
                                "        self.number = getattr(self, 'number', 0) + 1\n"
                                "        if self.number == 7:\n"
                                "            batch['target'][3] = (batch['target'][3] + 1) % 10");
  expect_failure(compared({"--model", "lenet5", "--steps", "8"}, peers), "step-equal", {"step 7"});
}

TEST_F(Compare, AnErrorOfThePeerIsTold) {
  const auto peers = peers_with("networks.py", "\"lenet5\": (LeNet5", "\"lenet-5\": (LeNet5");
  expect_sentence(compared({"--model", "lenet5", "--steps", "1"}, peers), 1, {"PyTorch", "there is no model 'lenet5'"});
}

class CompareMistakes : public Program {};

TEST_F(CompareMistakes, AreOneSentence) {
  expect_refused({"compare", "--model", "lenet-5"}, {"lenet5"});
  expect_refused({"compare", "--peer", "pytroch"}, {"pytorch"});
  expect_refused({"compare", "--steps", "0"}, {"--steps"});
  expect_refused({"compare", "--python", "/no/such/python"}, {"/no/such/python"});
}

}  // namespace
}  // namespace trireme::cli_test
