// `trireme compare`: the same network here and in PyTorch, and networks there that only look the same.
#include "base/cpu/cores.h"
#include "cli/compare/compared.h"

namespace trireme::cli_test {
namespace {

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
    EXPECT_EQ(json.at("levels").size(), 5u);
    EXPECT_GE(json["levels"][1].at("rows").size(), 12u) << "of each layer forward and gradients, and mostly backward";
    EXPECT_EQ(json["levels"][2].at("rows").size(), 5u) << "one of each update";
    EXPECT_EQ(json["levels"][3].at("rows").size(), 3u) << "one of each step";
    EXPECT_EQ(json.at("batches_sha256").size(), 3u);
  }
}

// PyTorch's side is built from the description.
TEST_F(Compare, NetworksOfFilesPass) {
  write(folder() / "two.toml", documented_network());
  write(folder() / "v2.json", run({"model", "export", "resnet56v2-cifar", "--format", "json"}).out);
  write(folder() / "dense.toml", run({"model", "export", "densenet40-12"}).out);
  write(folder() / "spectra.toml", run({"model", "export", "redshift-cnn"}).out);
  for (const char* file : {"two.toml", "v2.json", "dense.toml", "spectra.toml"}) {
    const Outcome outcome = compared({"--model", file, "--batch", "8", "--oars", "2", "--steps", "2"});
    EXPECT_EQ(outcome.code, 0) << file << ": " << outcome.out << outcome.err;
    EXPECT_TRUE(last_json(outcome).at("passed").get<bool>()) << file;
  }
}

TEST_F(Compare, AnotherActivationInADescribedNetwork) {
  write(folder() / "two.toml", documented_network());
  const auto peers = peers_with("described.py", "\"tanh\": tanh", "\"tanh\": torch.sigmoid");
  expect_failure(compared({"--model", "two.toml", "--batch", "8", "--steps", "1"}, peers), "op-equal", {"dense"});
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
  const auto peers = peers_with("networks.py", "        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))",
                                "        if self.conv1.stride == (2, 2):\n"
                                "            self.conv1.padding = (0, 0)\n"
                                "            x1 = nn.functional.pad(x, (0, 2, 0, 2))\n"
                                "        else:\n"
                                "            x1 = x\n"
                                "        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x1)))))");
  expect_failure(compared({"--model", "resnet20-cifar", "--batch", "8", "--steps", "1"}, peers), "op-equal",
                 {"layer2.0.conv1"});
}

TEST_F(Compare, TwoLayersThatAreSwapped) {
  const auto peers = peers_with("networks.py", "relu(self.bn1(self.conv1(x)))))", "self.bn1(relu(self.conv1(x)))))");
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
                 {"slot.momentum.", "decay", "decoupled"});
}

TEST_F(Compare, OneLabelInOneBatch) {
  const auto peers = peers_with("compare.py", "        before, answers = ",
                                "        self.number = getattr(self, 'number', 0) + 1\n"
                                "        if self.number == 7:\n"
                                "            batch['target'][3] = (batch['target'][3] + 1) % 10\n"
                                "        before, answers = ");
  expect_failure(compared({"--model", "lenet5", "--steps", "8"}, peers), "step-equal", {"step 7"});
}

TEST_F(Compare, ALearningRateInsideMomentum) {
  const auto peers = peers_with("compare.py", "        self.optimizer.step()",
                                "        with torch.no_grad():\n"
                                "            for p in self.net.parameters():\n"
                                "                p.grad.mul_(lr)\n"
                                "        for group in self.optimizer.param_groups:\n"
                                "            group['lr'] = 1\n"
                                "        self.optimizer.step()");
  expect_failure(compared({"--model", "lenet5", "--steps", "2"}, peers), "step-equal",
                 {"slot.momentum.", "0.01 times ours", "inside momentum"});
}

TEST_F(Compare, ABatchThatArrivesWithOtherValues) {
  const auto peers = peers_with("../common/comparing.py", "tensors.sha256(tensors.read(request[\"batch\"]))",
                                "tensors.sha256({k: v + 1e-7 for k, v in tensors.read(request['batch']).items()})");
  expect_failure(compared({"--model", "lenet5", "--steps", "1"}, peers), "start-equal", {"batch 1"});
}

TEST_F(Compare, WithAndWithoutWinograd) {
  const Words common{"--model", "resnet20-cifar", "--batch", "8", "--steps", "2", "--winograd"};
  const Json with = last_json(compared(common + Words{"yes"})), without = last_json(compared(common + Words{"no"}));
  EXPECT_TRUE(with.at("passed").get<bool>()) << with;
  EXPECT_TRUE(without.at("passed").get<bool>()) << without;
  const auto summary = [](const Json& json) { return json["levels"][1].at("summary").get<std::string>(); };
  EXPECT_NE(summary(with).find("Winograd"), std::string::npos) << summary(with);
  EXPECT_EQ(summary(without).find("Winograd"), std::string::npos) << summary(without);
  EXPECT_EQ(with.at("start_sha256"), without.at("start_sha256"));
  EXPECT_NE(with.at("weights_sha256"), without.at("weights_sha256")) << "they round otherwise";
}

TEST_F(Compare, ACertificateIsCheckedAgain) {
  const std::string file = (folder() / "lenet5.json").string();
  const Words settings{"--model", "lenet5", "--steps", "2", "--augment", "flip", "--seed", "7"};
  EXPECT_EQ(compared(settings + Words{"--certificate", file}).code, 0);
  expect_refused(Words{"compare", "--python", python_, "--certificate", file} + settings, {file, "already"});
  const Outcome again = run({"compare", "--python", python_, "--check", file});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  for (const char* holds : {"seal", "first batches are the same", "after all steps are the same", "step-equal passes"})
    EXPECT_NE(again.out.find(holds), std::string::npos) << again.out;
  // Without the peer our side is still checked.
  const Outcome alone = run({"compare", "--python", "/no/such/python", "--check", file});
  EXPECT_EQ(alone.code, 0) << alone.out << alone.err;
  EXPECT_NE(alone.out.find("PyTorch was not run again"), std::string::npos) << alone.out;
  EXPECT_NE(alone.out.find("after all steps are the same"), std::string::npos) << alone.out;
  // A peer that is no longer the same.
  const auto peers = peers_with("compare.py", "(loss / samples).backward()", "loss.backward()");
  const Outcome other = run({"compare", "--python", python_, "--check", file}, peers);
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.out.find("step-equal fails, and passed then"), std::string::npos) << other.out;
  // One that was improved by hand.
  std::string text = read(file);
  text.replace(text.find("\"seed\": \"7\""), 11, "\"seed\": \"8\"");
  write(file, text);
  expect_refused({"compare", "--check", file}, {file, "changed"});
}

TEST_F(Compare, WholeRunsLearnTheSame) {
  const Words settings{"--model",
                       "lenet5",
                       "--steps",
                       "1",
                       "--runs",
                       "3",
                       "--epochs",
                       "4",
                       "--batch",
                       "20",
                       "--margin",
                       "10",
                       "--train-samples",
                       "400",
                       "--test-samples",
                       "100",
                       "--workers",
                       "2",
                       "--strategy",
                       "ps:mode=async",
                       "--target-accuracy",
                       "40"};
  const Outcome outcome = compared(settings);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Json level = last_json(outcome).at("levels").at(5);
  EXPECT_EQ(level.at("level"), "convergence-equal");
  EXPECT_NE(level.at("summary").get<std::string>().find("3 runs each"), std::string::npos) << level;
}

TEST_F(Compare, WhatPytorchLacksIsTheUsersMistake) {
  expect_refused(
      {"compare", "--python", python_, "--model", "lenet5", "--optimizer", "sgd:lr=0.1,weight-decay=0.1,decoupled=yes"},
      {"PyTorch has no sgd with decoupled decay"});
}

TEST_F(Compare, TrainingIsMeasuredWhereItIsEqual) {
  const Words bench{"bench",     "train", "--json", "--model", "lenet5",   "--batch", "4",
                    "--repeats", "1",     "--peer", "pytorch", "--python", python_};
  const Json json = last_json(run(bench + Words{"--world", "1"}));
  const Json& one = json.at("results").at(0);
  EXPECT_EQ(one.at("peer"), "pytorch");
  EXPECT_GT(one.at("theirs").at("forward_ms").get<double>(), 0);
  EXPECT_DOUBLE_EQ(one.at("ratio").get<double>(), one.at("peer_ms").get<double>() / one.at("ours_ms").get<double>());
  if (base::plan_cores().usable >= 2) {
    const Json two = last_json(run(bench + Words{"--world", "2"}));
    EXPECT_EQ(two.at("results").at(0).at("batch"), 8);
    EXPECT_GT(two["results"][0].at("peer_ms").get<double>(), 0);
  }
  const auto peers = peers_with("networks.py", "tanh(self.conv1", "relu(self.conv1");
  expect_sentence(run(bench + Words{"--world", "1"}, peers), 1, {"lenet5", "does not compute the same", "op-equal"});
}

TEST_F(Compare, AnErrorOfThePeerIsTold) {
  const auto peers = peers_with("networks.py", "\"lenet5\": (LeNet5", "\"lenet-5\": (LeNet5");
  expect_sentence(compared({"--model", "lenet5", "--steps", "1"}, peers), 1, {"PyTorch", "there is no model 'lenet5'"});
}

}  // namespace
}  // namespace trireme::cli_test
