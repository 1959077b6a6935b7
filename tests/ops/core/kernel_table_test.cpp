// The kernel table: what it reads, what it refuses, and that a convolution follows it.
#include "ops/core/kernel_table.h"

#include <gtest/gtest.h>

#include "ops/conv/conv.h"
#include "support/core_errors.h"

namespace trireme::ops {
namespace {

const KernelChoices kChoices{"conv 16x8x8 to 16", {"winograd", "direct"}};

TEST(KernelTable, ARowDecidesElseTheFirstChoice) {
  const KernelTable table = KernelTable::parse("# for people\n\n avx2 | conv 16x8x8 to 16 | direct \r\n", "a file");
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.pick(base::Isa::avx2, kChoices), "direct");
  EXPECT_EQ(table.pick(base::Isa::avx512, kChoices), "winograd") << "a row is for its instruction set";
  EXPECT_EQ(KernelTable().pick(base::Isa::avx2, kChoices), "winograd");
}

TEST(KernelTable, TextAndHashComeBack) {
  KernelTable table;
  table.choose(base::Isa::avx512, "b", "direct");
  table.choose(base::Isa::avx2, "a", "winograd");
  const KernelTable again = KernelTable::parse("# another order\n" + table.text(), "a file");
  EXPECT_EQ(again.text(), table.text());
  EXPECT_EQ(again.sha256(), table.sha256());
  table.choose(base::Isa::avx2, "a", "direct");
  EXPECT_NE(again.sha256(), table.sha256());
}

TEST(KernelTable, MistakesAreNamed) {
  const auto refuse = [](const std::string& text) {
    return support::sentence(base::ErrorKind::user, [&] { KernelTable::parse(text, "my.table"); });
  };
  EXPECT_TRUE(support::contains(refuse("avx512 | conv"), "my.table, line 1"));
  EXPECT_TRUE(support::contains(refuse("\nsse9 | conv | direct"), "line 2"));
  KernelTable table;
  table.choose(base::Isa::avx2, kChoices.layer, "magic");
  const std::string text =
      support::sentence(base::ErrorKind::user, [&] { (void)table.pick(base::Isa::avx2, kChoices); });
  EXPECT_TRUE(support::contains(text, "magic") && support::contains(text, "winograd or direct")) << text;
}

TEST(KernelTable, AConvolutionFollowsIt) {
  const OpPtr op = conv({.channels = 32, .kernel = {3, 3}, .padding = {1, 1}});
  const std::vector<Shape> shapes{{8, 32, 16, 16}};
  const KernelChoices choices = op->choices(shapes);
  ASSERT_GT(choices.algorithms.size(), 1u);
  for (const std::string& algorithm : choices.algorithms) {
    KernelTable table;
    table.choose(base::active_isa(), choices.layer, algorithm);
    KernelRequest request;
    request.src = {Layout::plain(shapes[0])};
    request.diff_src = {true};
    request.table = &table;
    const std::string made = op->compile(request)->implementation();
    EXPECT_EQ(made.find("winograd") != std::string::npos, algorithm == "winograd") << made;
  }
}

}  // namespace
}  // namespace trireme::ops
