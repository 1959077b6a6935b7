// Models by text: names, options, and what is said when they are wrong.
#include "models/find_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace trireme::models {
namespace {

const ModelRegistry kAll = builtin_models();

template <class F>
void expect_refused(const F& call, const std::string& why) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << why;
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::user) << error.what();
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

std::int64_t count_of(const std::string& text, const std::string& kind) {
  const graph::Network net = build_model(find_model(kAll, text));
  return std::ranges::count_if(net.nodes(),
                               [&](const graph::Node& node) { return node.op && node.op->kind() == kind; });
}

TEST(FindModel, ReadsOptions) {
  EXPECT_EQ(find_model(kAll, "lenet5").name, "lenet5");
  EXPECT_EQ(find_model(kAll, "mlp").name, "mlp");
  EXPECT_EQ(find_model(kAll, "mlp:").name, "mlp");
  EXPECT_EQ(find_model(kAll, "mlp:hidden=256,128,dropout=.1").name, "mlp:hidden=256x128,dropout=.1");
  EXPECT_EQ(build_model(find_model(kAll, "mlp:hidden=5,4")).name(), "mlp:hidden=5x4") << "a peer is told this name";
  EXPECT_EQ(count_of("mlp", "dense"), 3);
  EXPECT_EQ(count_of("mlp", "relu"), 2);
  EXPECT_EQ(count_of("mlp", "dropout"), 0);
  EXPECT_EQ(count_of("mlp:hidden=9x8x7,dropout=0.5", "dropout"), 3);
  EXPECT_EQ(count_of("mlp:hidden=none,dropout=0.5", "dropout"), 0);
}

TEST(FindModel, KnowsNamesWithOptions) {
  EXPECT_TRUE(knows_model(kAll, "mlp:hidden=3"));
  EXPECT_TRUE(knows_model(kAll, "resnet18"));
  EXPECT_FALSE(knows_model(kAll, "mlq:hidden=3"));
  EXPECT_TRUE(is_in_zoo("mlp:hidden=3"));
  EXPECT_EQ(model_name("mlp:hidden=3"), "mlp");
}

TEST(FindModel, RefusesWhatIsWrong) {
  const auto refused = [](const std::string& text, const std::string& why) {
    expect_refused([&] { (void)build_model(find_model(kAll, text)); }, why);
  };
  refused("mpl:hidden=3", "did you mean 'mlp'");
  refused("mlp:hiden=3", "did you mean 'hidden'");
  refused("lenet5:hidden=3", "takes no options");
  refused("mlp:hidden=3x", "a whole number was expected");
  refused("mlp:hidden=0", "expected 1 ...");
  refused("mlp:hidden=", "is empty");
  refused("mlp:hidden=-3", "expected 1 ...");
  refused("mlp:hidden=3,hidden=4", "twice");
  refused("mlp:dropout=1", "below 1");
  refused("mlp:5", "mlp");
}

TEST(FindModel, AnyShapeIsOneInput) {
  expect_refused([] { (void)build_model("mlp", {.inputs = {{1, 2}, {1, 3}}}); }, "takes one input of any shape");
}

}  // namespace
}  // namespace trireme::models
