// Small faults planted in PyTorch's side, each found by the level that it belongs to and named; and settings with which
// correct code once failed.
#include <map>

#include "cli/compare/compared.h"

namespace trireme::cli_test {
namespace {

struct Fault {
  std::string name;
  std::string file, line, instead;  // of peers/pytorch
  std::string level;
  Words sayings;
  Words options;  // of compare, but for the model
  Words models;
};

const Words kAll{"lenet5", "mnist-cnn", "resnet20-cifar", "resnet56v2-cifar", "resnet110-cifar"};
const Words kNorms{"resnet20-cifar", "resnet56v2-cifar", "resnet110-cifar"};
const Words kDecay{"--optimizer", "sgd:lr=0.1,momentum=0.9,weight-decay=1e-4"};
constexpr const char* kBeforeGradients = "        gradients = {\"gradient.\" + name";

Fault in_gradients(const std::string& name, const std::string& change, const std::string& level, const Words& sayings,
                   const Words& models) {
  return {name,
          "compare.py",
          kBeforeGradients,
          "        for _, p in self.trained():\n            " + change + "\n" + kBeforeGradients,
          level,
          sayings,
          {},
          models};
}

const std::vector<Fault> kFaults{
    {"DecayIgnored",
     "compare.py",
     "    makers = {",
     "    given['weight_decay'] = 0\n    makers = {",
     "update-equal",
     {"decay and penalty alone"},
     kDecay,
     kAll},
    {"DecayNotOnBiasesAndNorms",
     "compare.py",
     "    return makers[rule](parameters, **given)",
     "    decay = given['weight_decay']\n"
     "    return makers[rule]([{'params': [p], 'weight_decay': decay * (p.dim() > 1)} for p in parameters], **given)",
     "update-equal",
     {"decay and penalty alone"},
     kDecay,
     kAll},
    {"PenaltyMissing",
     "compare.py",
     "            penalty.backward()",
     "            pass",
     "update-equal",
     {".weight", "decay and penalty alone"},
     {},
     {"resnet56v2-cifar"}},
    {"PenaltyDoubled",
     "compare.py",
     "            penalty.backward()",
     "            (2 * penalty).backward()",
     "update-equal",
     {".weight", "decay and penalty alone"},
     {},
     {"resnet56v2-cifar"}},
    {"LossTimes1001Thousandths",
     "compare.py",
     "(loss / samples).backward()",
     "(1.001 * loss / samples).backward()",
     "op-equal",
     {"gradient that reaches", "in the loss"},
     {},
     kAll},
    {"EpsilonOfAdam",
     "compare.py",
     "    makers = {",
     "    given['eps'] = 1e-7\n    makers = {",
     "update-equal",
     {"weight.", "after update"},
     {"--optimizer", "adam"},
     kAll},
    {"EpsilonOfNorms",
     "compare.py",
     "self.eps, self.momentum = norm.eps, norm.momentum",
     "self.eps, self.momentum = 1.1e-5, norm.momentum",
     "op-equal",
     {"bn", "differs by"},
     {},
     kNorms},
    {"PooledFeatures",
     "networks.py",
     "nn.functional.adaptive_avg_pool2d(x, 1)",
     "1.0001 * nn.functional.adaptive_avg_pool2d(x, 1)",
     "op-equal",
     {"what reaches fc"},
     {},
     kNorms},
    {"ChannelsInReverse",
     "networks.py",
     "    def forward(self, x):\n        x = self.maxpool(",
     "    def forward(self, x):\n        x = x.flip(1)\n        x = self.maxpool(",
     "op-equal",
     {"what reaches conv1", "BGR"},
     {},
     {"resnet20-cifar"}},
    in_gradients("NoisyGradients", "p.grad += 0.1 * p.grad.square().mean().sqrt() * torch.randn_like(p)", "step-equal",
                 {"does not repeat itself", "gradient.", "step 1"}, kAll),
    in_gradients("GradientsTimes1000", "p.grad *= 1000", "step-equal", {"gradient.", "times ours: another factor"},
                 kNorms),
    {"RandomLabels",
     "compare.py",
     "        samples = len(batch[\"target\"])",
     "        samples = len(batch[\"target\"])\n"
     "        batch = {**batch, 'target': torch.where(torch.rand(batch['target'].shape) < 0.2,\n"
     "                                                (batch['target'] + 1) % 10, batch['target'])}",
     "step-equal",
     {"does not repeat itself"},
     {"--batch", "16"},
     kAll},
    {"EvaluationModeForgotten",
     "compare.py",
     "        self.net.eval()",
     "        pass",
     "step-equal",
     {"output"},
     {"--oars", "1"},
     {"mnist-cnn"}},
    {"AnotherRateOfDropout",
     "networks.py",
     "self.dropout1 = nn.Dropout(0.25)",
     "self.dropout1 = nn.Dropout(0.3)",
     "start-equal",
     {"dropout1"},
     {},
     {"mnist-cnn"}},
    {"AnotherSchedule",
     "schedules.py",
     "float(options.get(\"min\", 0))",
     "float(options.get(\"min\", 1e-5))",
     "start-equal",
     {"learning rate of step"},
     {"--schedule", "cosine", "--steps", "5"},
     {"lenet5"}},
    {"AnotherClipping",
     "compare.py",
     "clip_grad_norm_(list(self.net.parameters()), max_norm)",
     "clip_grad_norm_(list(self.net.parameters()), 1.001 * max_norm)",
     "update-equal",
     {"clipped gradients"},
     {},
     {"lenet5"}},
};

class PlantedFaults : public Compare, public testing::WithParamInterface<Fault> {};

TEST_P(PlantedFaults, AreFoundAndNamed) {
  const Fault& fault = GetParam();
  const Words peers = peers_with(fault.file, fault.line, fault.instead);
  for (const std::string& model : fault.models) {
    SCOPED_TRACE(model);
    Words arguments{"--model", model, "--levels", fault.level};
    const auto add_default = [&](const std::string& option, const std::string& value) {
      if (std::ranges::find(fault.options, option) == fault.options.end()) arguments = arguments + Words{option, value};
    };
    add_default("--batch", model == "resnet110-cifar" ? "4" : "8");
    add_default("--steps", "1");
    expect_failure(compared(arguments + fault.options, peers), fault.level, fault.sayings);
  }
}

INSTANTIATE_TEST_SUITE_P(Compare, PlantedFaults, testing::ValuesIn(kFaults),
                         [](const auto& one) { return one.param.name; });

TEST_F(Compare, CorrectCodeThatOnceFailed) {
  const std::vector<Words> all{// A unit that is zero but for rounding, behind a max-pool.
                               {"--model", "redshift-cnn", "--steps", "1", "--seed", "105"},
                               {"--model", "mnist-cnn", "--steps", "2", "--batch", "17", "--oars", "3", "--seed",
                                "988231", "--optimizer", "sgd:lr=0.1,weight-decay=1e-4", "--init", "he"},
                               // Regions of zeros under a convolution without bias, on transformed tiles.
                               {"--model", "mnist-cnn", "--steps", "1", "--batch", "21", "--oars", "1", "--seed",
                                "816839", "--init", "he", "--augment", "cutout"},
                               // A gradient that is zero but for rounding, whose sign Adam takes.
                               {"--model", "resnet20-cifar", "--steps", "2", "--batch", "14", "--oars", "1", "--seed",
                                "468286", "--optimizer", "adam", "--schedule", "step:1=0.001"}};
  for (const Words& arguments : all) {
    const Outcome outcome = compared(arguments + Words{"--levels", "op-equal,step-equal"});
    EXPECT_EQ(outcome.code, 0) << arguments[1] << ": " << outcome.out << outcome.err;
  }
}

TEST_F(Compare, ALossThatIsNotFiniteEndsWithAVerdict) {
  const Outcome outcome = compared({"--model", "mnist-cnn", "--steps", "6", "--batch", "8", "--optimizer",
                                    "sgd:lr=1e30", "--levels", "step-equal,same-bits"});
  const Json json = last_json(outcome);
  EXPECT_NE(json["levels"][1].at("summary").get<std::string>().find("not finite"), std::string::npos) << json;
  EXPECT_EQ(json["levels"].size(), 2u) << "whole runs would end without a verdict";
  EXPECT_NE(json.at("not_compared").dump().find("same-bits"), std::string::npos) << json;
}

}  // namespace
}  // namespace trireme::cli_test
