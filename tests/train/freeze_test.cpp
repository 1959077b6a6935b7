// --freeze: which parameters a list of layers means.
#include "train/experiment/freeze.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "ops/activation/activation.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/norm/batch_norm.h"
#include "support/core_errors.h"

namespace trireme::train {
namespace {

graph::Network small_network() {
  graph::Network net("small");
  auto x = net.input("x", {4});
  for (const char* name : {"stage1.0.fc", "stage1.1.fc", "stage10.fc"})
    x = net.add(name, ops::dense({.outputs = 4}), {x});
  net.finish(net.add("head", ops::dense({.outputs = 2}), {x}), ops::softmax_cross_entropy());
  return net;
}

std::string frozen(const std::string& text) {
  graph::Network net = small_network();
  (void)freeze_layers("--freeze", text, net);
  std::string names;
  for (const graph::ParameterInfo& parameter : net.parameters())
    if (parameter.is_frozen) names += (names.empty() ? "" : " ") + parameter.name;
  return names;
}

TEST(Freeze, NamesPartsAndPatterns) {
  const std::string first = "stage1.0.fc.weight stage1.0.fc.bias", second = "stage1.1.fc.weight stage1.1.fc.bias",
                    third = "stage10.fc.weight stage10.fc.bias";
  EXPECT_EQ(frozen(""), "");
  EXPECT_EQ(frozen("stage1.0.fc"), first);
  EXPECT_EQ(frozen("stage1"), first + " " + second) << "not stage10";
  EXPECT_EQ(frozen("stage1.*"), first + " " + second);
  EXPECT_EQ(frozen("stage1*"), first + " " + second + " " + third);
  EXPECT_EQ(frozen("stage10,stage1.1"), second + " " + third);
  EXPECT_EQ(frozen("all-but:head"), first + " " + second + " " + third);
  EXPECT_EQ(frozen("all-but:head,stage10.fc"), first + " " + second);
  EXPECT_EQ(frozen("head.bias"), "head.bias");
  EXPECT_EQ(frozen("*ge*.fc.bias"), "stage1.0.fc.bias stage1.1.fc.bias stage10.fc.bias");
}

TEST(Freeze, SaysHowMuchItFreezes) {
  graph::Network net = small_network();
  EXPECT_EQ(freeze_layers("--freeze", "all-but:head", net),
            "6 of 8 weights and biases are frozen, 60 of 70 parameters");
}

TEST(Freeze, MistakesAreSentences) {
  const auto refused = [](const std::string& text, const std::string& saying) {
    const std::string sentence = support::sentence(base::ErrorKind::user, [&] { (void)frozen(text); });
    EXPECT_NE(sentence.find(saying), std::string::npos) << text << ": " << sentence;
  };
  refused("stagge1", "did you mean 'stage1'?");
  refused("stage1,had", "'had' matches no layer with weights; did you mean 'head'?");
  refused("stage1,", "''");
  refused("nothing-like-it", "The layers of small are stage1.0.fc, stage1.1.fc, stage10.fc, head");
  refused("*", "nothing of small to train");
  refused("all-but:", "nothing of small to train");
  refused("all-but:haed", "head");
}

TEST(Freeze, AnyTextIsReadOrRefused) {
  const base::CounterRng rng(1, base::Purpose::probe, 0, 0);
  const std::string letters = "**..,,:stage10fchdl-ubi";
  for (std::uint64_t i = 0; i < 20000; ++i) {
    std::string text = i % 3 == 0 ? "all-but:" : "";
    for (std::uint64_t k = 0; k < i % 17; ++k) text += letters[rng.below(17 * i + k, letters.size())];
    try {
      (void)frozen(text);
    } catch (const base::Error& error) {
      ASSERT_EQ(error.kind(), base::ErrorKind::user) << text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace trireme::train
