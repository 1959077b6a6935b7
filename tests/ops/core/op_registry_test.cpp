// Ops by name: text makes an op, an op tells its text, and the two agree.
#include "ops/core/op_registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/cases/case_data.h"
#include "ops/conv/conv.h"
#include "ops/pool/pool.h"
#include "support/core_errors.h"
#include "support/same_op.h"

namespace trireme::ops {
namespace {

const OpRegistry kOps = builtin_ops();

struct Example {
  std::string text;
  std::vector<Shape> src;
  Shape dst;
  std::string canonical{};  // where it differs from the text
};

// Several of each row. The expected shapes follow from the rules in docs/ops.md.
std::vector<Example> examples() {
  const Shape image{2, 4, 9, 8}, line{2, 4, 9}, flat{3, 20};
  return {
      {"conv:channels=6,kernel=3x3", {image}, {2, 6, 7, 6}},
      {"conv:channels=6,kernel=3x2,stride=2,padding=1,groups=2,bias=no,relu=yes", {image}, {2, 6, 5, 5}},
      {"conv:channels=6,kernel=3x2,stride=2x1,padding=1x0", {image}, {2, 6, 5, 7}},
      {"conv:channels=6,kernel=3,padding=1", {line}, {2, 6, 9}},
      {"conv:channels=8,kernel=3x3,padding=1,algorithm=winograd", {image}, {2, 8, 9, 8}},
      {"conv:channels=8,kernel=3x3,algorithm=direct", {image}, {2, 8, 7, 6}},
      {"conv:relu=no,padding=0x0,bias=yes,stride=1x1,kernel=1x1,groups=1,channels=8,algorithm=auto",
       {image},
       {2, 8, 9, 8},
       "conv:channels=8,kernel=1x1"},
      {"dense:outputs=10", {flat}, {3, 10}},
      {"dense:outputs=10,bias=no", {flat}, {3, 10}},
      {"dense:outputs=10,bias=no,relu=yes", {flat}, {3, 10}},
      {"dense:outputs=7,bias=true,relu", {flat}, {3, 7}, "dense:outputs=7,relu=yes"},
      {"batch_norm", {image}, image},
      {"batch_norm:epsilon=0.001,momentum=0.01", {flat}, flat},
      {"batch_norm:momentum=0.30000000000000004", {line}, line},
      {"batch_norm:epsilon=0.00001,relu=yes,add=yes", {image, image}, image, "batch_norm:relu=yes,add=yes"},
      {"relu", {image}, image},
      {"tanh", {flat}, flat},
      {"sigmoid", {line}, line},
      {"max_pool:kernel=2x2", {image}, {2, 4, 4, 4}},
      {"max_pool:kernel=3x3,stride=2,padding=1", {image}, {2, 4, 5, 4}},
      {"max_pool:kernel=2,relu=yes", {line}, {2, 4, 4}},
      {"max_pool:kernel=3x2,stride=kernel", {image}, {2, 4, 3, 4}, "max_pool:kernel=3x2"},
      {"max_pool:kernel=3x2,stride=3x2", {image}, {2, 4, 3, 4}, "max_pool:kernel=3x2"},
      {"max_pool:kernel=all", {image}, {2, 4, 1, 1}},
      {"max_pool:kernel=all,relu=yes", {line}, {2, 4, 1}},
      {"average_pool:kernel=2x2,stride=1x2", {image}, {2, 4, 8, 4}},
      {"average_pool:kernel=3x3,padding=1x0,count_padding=no", {image}, {2, 4, 3, 2}},
      {"average_pool:kernel=all", {image}, {2, 4, 1, 1}},
      {"adaptive_average_pool:output=6x3", {image}, {2, 4, 6, 3}},
      {"adaptive_average_pool:output=2", {line}, {2, 4, 2}},
      {"dropout:rate=0.5,stream=0", {flat}, flat},
      {"dropout:rate=0.1,stream=12", {image}, image},
      {"dropout:stream=3,rate=0", {image}, image, "dropout:rate=0,stream=3"},
      {"flatten", {image}, {2, 288}},
      {"add", {image, image}, image},
      {"concat", {image, {2, 1, 9, 8}, image}, {2, 9, 9, 8}},
      {"softmax_cross_entropy", {flat, {3, 1}}, {3, 1}},
      {"sigmoid_cross_entropy", {flat, flat}, {3, 1}},
      {"squared_error", {flat, flat}, {3, 1}},
  };
}

TEST(OpRegistry, TextMakesAnOpThatTellsItsText) {
  std::set<std::string> seen;
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.text);
    const OpPtr op = make_op(kOps, example.text);
    seen.emplace(op->kind());
    EXPECT_EQ(op_text(*op), example.canonical.empty() ? example.text : example.canonical);
    EXPECT_EQ(op->output(example.src), example.dst);
    support::expect_same_op(*op, *make_op(kOps, op_text(*op)), example.src);
  }
  for (const OpRow& row : kOps.rows()) EXPECT_TRUE(seen.contains(row.name)) << row.name << " has no example";
}

TEST(OpRegistry, RowsAreComplete) {
  for (const OpRow& row : kOps.rows()) {
    EXPECT_FALSE(row.summary.empty()) << row.name;
    for (const base::SpecOption& option : row.options) EXPECT_FALSE(option.help.empty()) << row.name << option.key;
  }
}

// An example of each row with any option left out that the table gives a default for, and with that default.
TEST(OpRegistry, TheTableNamesTheDefaults) {
  for (const Example& example : examples()) {
    const OpRow& row = kOps.get(base::Spec("op", example.text).name());
    const std::string options = make_op(kOps, example.text)->options_text();
    for (const base::SpecOption& option : row.options) {
      if (example.text.find(option.key + "=") != std::string::npos || example.text.ends_with(option.key)) continue;
      if (example.text.find("kernel=all") != std::string::npos) continue;  // takes no stride and no padding
      SCOPED_TRACE(example.text + " with " + option.key + "=" + option.values);
      ASSERT_FALSE(option.values[0] >= 'A' && option.values[0] <= 'Z');
      const std::string first = option.values.substr(0, option.values.find('|'));
      const char* separator = example.text.find(':') == std::string::npos ? ":" : ",";
      EXPECT_EQ(make_op(kOps, example.text + separator + option.key + "=" + first)->options_text(), options);
    }
  }
}

// Every op of the table of cases, folded-in ReLUs included: one made of its text computes the same numbers.
TEST(OpRegistry, AnOpMadeOfATextComputesTheSame) {
  int compared = 0;
  for (const optest::OpCase& c : optest::op_cases()) {
    if (kOps.find(c.op->kind()) == nullptr) continue;  // a user's own op, and what the fusion pass makes
    SCOPED_TRACE(c.name);
    optest::OpCase again = c;
    again.op = make_op(kOps, op_text(*c.op));
    support::expect_same_op(*c.op, *again.op, c.shapes);
    const optest::CaseData expected = optest::make_data(c, true), found = optest::make_data(again, true);
    EXPECT_EQ(found.exact.dst, expected.exact.dst);
    EXPECT_EQ(found.exact.diff_src, expected.exact.diff_src);
    EXPECT_EQ(found.exact.diff_weights, expected.exact.diff_weights);
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(OpRegistry, OpsOfTheBuilderHaveATextToo) {
  EXPECT_EQ(op_text(*conv({.channels = 8, .kernel = {3, 3}, .padding = {1, 1}})),
            "conv:channels=8,kernel=3x3,padding=1");
  EXPECT_EQ(op_text(*global_average_pool()), "average_pool:kernel=all");
  EXPECT_EQ(op_text(*conv({.channels = 8, .kernel = {3}})->with_relu()), "conv:channels=8,kernel=3,relu=yes");
}

TEST(OpRegistry, MistakesAreOneSentence) {
  const std::pair<const char*, std::vector<std::string>> mistakes[] = {
      {"convv:channels=8", {"'convv'", "did you mean 'conv'"}},
      {"conv:chanels=8,kernel=3", {"'chanels'", "did you mean 'channels'", "'conv'"}},
      {"conv:kernel=3", {"'conv'", "needs", "'channels'"}},
      {"conv:channels=8", {"'conv'", "needs", "'kernel'"}},
      {"conv:channels=,kernel=3", {"'channels'"}},
      {"conv:channels=many,kernel=3", {"conv:channels", "'many'", "whole number"}},
      {"conv:channels=99999999999,kernel=3", {"conv:channels", "99999999999", "at most"}},
      {"conv:channels=8,kernel=3x", {"conv:kernel", "'3x'", "3x3"}},
      {"conv:channels=8,kernel=3*3", {"conv:kernel", "'3*3'", "3x3"}},
      {"conv:channels=8,kernel=99999999999999999999", {"conv:kernel", "99999999999999999999"}},
      {"conv:channels=8,kernel=3x3x3", {"1 or 2 kernel sizes", "3"}},
      {"conv:channels=8,kernel=3x3,stride=1x1x1", {"2, 3 and 2"}},
      {"conv:channels=8,kernel=3x3,padding=-1", {"padding -1"}},
      {"conv:channels=8,kernel=3x3,bias=perhaps", {"conv:bias", "'perhaps'", "yes or no"}},
      {"conv:channels=8,kernel=3x3,algorithm=fft", {"'fft'", "auto, direct or winograd"}},
      {"conv:channels=8,channels=9,kernel=3", {"'channels' twice"}},
      {"dense", {"'dense'", "'outputs'"}},
      {"dense:outputs=0", {"at least one output", "0"}},
      {"batch_norm:epsilon=0", {"epsilon above 0"}},
      {"max_pool:stride=2", {"'max_pool'", "'kernel'"}},
      {"max_pool:kernel=all,stride=2", {"'max_pool'", "no stride"}},
      {"average_pool:kernel=all,padding=1", {"'average_pool'", "no padding"}},
      {"max_pool:kernel=2x2,count_padding=no", {"'count_padding'", "'max_pool'"}},
      {"adaptive_average_pool", {"'output'"}},
      {"dropout:stream=1", {"'rate'"}},
      {"dropout:rate=0.5", {"'stream'"}},
      {"dropout:rate=1,stream=1", {"below 1"}},
      {"dropout:rate=0.5,stream=-1", {"dropout:stream", "-1"}},
      {"relu:slope=0.1", {"'relu'", "no options", "'slope'"}},
      {"", {"''"}},
  };
  for (const auto& [text, parts] : mistakes) {
    const std::string said = support::sentence(base::ErrorKind::user, [&] { make_op(kOps, text); });
    for (const std::string& part : parts) EXPECT_TRUE(support::contains(said, part)) << text << ": " << said;
  }
}

// A row that a program adds is one like the others.
TEST(OpRegistry, AProgramAddsItsOwn) {
  OpRegistry registry = builtin_ops();
  registry.add({.name = "conv1x1",
                .summary = "a convolution without neighbours",
                .options = {{"channels", "8", "output channels"}},
                .make = [](base::Spec& spec) {
                  return conv({.channels = spec.integer("channels", 8), .kernel = {1, 1}});
                }});
  EXPECT_EQ(op_text(*make_op(registry, "conv1x1:channels=4")), "conv:channels=4,kernel=1x1");
  const std::string said = support::sentence(base::ErrorKind::user, [&] { make_op(registry, "conv1x1:chanels=4"); });
  EXPECT_TRUE(support::contains(said, "did you mean 'channels'")) << said;
}

}  // namespace
}  // namespace trireme::ops
