// The rules of parts: each sees a made-up offence and lets the lawful neighbour pass.
#include "structure/parts.h"

#include <gtest/gtest.h>

namespace trireme::structure {
namespace {

const std::set<std::string> kExisting = {"src/base/error.h", "src/tensor/shape.h", "src/ops/core/op.h",
                                         "src/graph/node.h", "src/train/loop.h"};

Offences includes(const std::string& path, const std::string& text) {
  return check_includes({path, text}, design_arrows(), kExisting);
}

TEST(Arrows, AreTransitiveAndOneWay) {
  EXPECT_EQ(reachable(design_arrows(), "base"), (std::set<std::string>{"base"}));
  EXPECT_EQ(reachable(design_arrows(), "graph"), (std::set<std::string>{"base", "observe", "tensor", "ops", "graph"}));
  EXPECT_EQ(reachable(design_arrows(), "main").size(), design_arrows().size()) << "main reaches every part";
  for (const auto& [part, targets] : design_arrows())
    for (const std::string& target : targets)
      EXPECT_FALSE(reachable(design_arrows(), target).contains(part)) << part << " and " << target << " form a circle";
}

TEST(Arrows, AreReadFromCMake) {
  const Arrows arrows = cmake_arrows(
      "project(x)\n"
      "trireme_part(base    DEPENDS LINK fmt::fmt)\n"
      "trireme_part(tensor  DEPENDS base)  # a comment\n"
      "trireme_part(ops     DEPENDS tensor observe LINK DNNL::dnnl)\n"
      "trireme_part(store CONTROL DEPENDS base\n  tensor LINK json::json)\n"
      "# trireme_part(ghost DEPENDS base)\n");
  EXPECT_EQ(
      arrows,
      (Arrows{{"base", {}}, {"tensor", {"base"}}, {"ops", {"tensor", "observe"}}, {"store", {"base", "tensor"}}}));
}

TEST(Includes, WrongDirectionIsSeen) {
  const Offences offences =
      includes("src/tensor/shape.cpp", "#include \"tensor/shape.h\"\n\n#include \"ops/core/op.h\"\n");
  ASSERT_EQ(offences.size(), 1u);
  EXPECT_EQ(offences[0], "src/tensor/shape.cpp:3: includes ops/core/op.h: tensor may not use ops");
  EXPECT_EQ(includes("src/base/a.h", "  #  include \"tensor/shape.h\" // why\n").size(), 1u);
  EXPECT_EQ(includes("src/optim/a.h", "#include \"graph/node.h\"\n").size(), 1u) << "siblings";
  EXPECT_EQ(includes("src/ops/a.h", "#include <graph/node.h>\n").size(), 1u) << "angle brackets hide nothing";
}

TEST(Includes, RightDirectionPasses) {
  EXPECT_TRUE(includes("src/graph/a.cpp", "#include <vector>\n#include \"base/error.h\"\n#include \"ops/core/op.h\"\n")
                  .empty());
  EXPECT_TRUE(includes("src/main.cpp", "#include \"train/loop.h\"\n").empty());
}

TEST(Includes, UnknownPartsPathsAndFilesAreSeen) {
  EXPECT_EQ(includes("src/attic/a.cpp", "").size(), 1u);
  EXPECT_EQ(includes("src/ops/a.cpp", "#include \"op.h\"\n").size(), 1u);
  EXPECT_EQ(includes("src/ops/a.cpp", "#include \"../base/error.h\"\n").size(), 1u);
  EXPECT_EQ(includes("src/ops/a.cpp", "#include \"fmt/core.h\"\n").size(), 1u);
  EXPECT_EQ(includes("src/ops/a.cpp", "#include \"base/gone.h\"\n").size(), 1u);
  EXPECT_EQ(includes("src/ops/a.cpp", "#include <base/error.h>\n").size(), 1u);
}

TEST(Links, AreWhatIsIncluded) {
  const std::vector<SourceFile> files = {
      {"src/base/error.cpp", "#include \"base/error.h\"\n"},
      {"src/tensor/shape.cpp", "#include <vector>\n#include \"tensor/shape.h\"\n#include \"base/error.h\"\n"},
      {"src/ops/core/op.cpp", "#include \"tensor/shape.h\"\n#include \"base/error.h\"\n"}};
  const Arrows included = included_parts(files);
  EXPECT_EQ(included, (Arrows{{"base", {}}, {"tensor", {"base"}}, {"ops", {"base", "tensor"}}}));
  EXPECT_TRUE(check_links({{"base", {}}, {"tensor", {"base"}}, {"ops", {"base", "tensor"}}}, included).empty());
  EXPECT_EQ(check_links({{"tensor", {"base", "observe"}}}, included),
            Offences{"CMakeLists.txt: tensor is linked with observe, of which it includes nothing"});
  EXPECT_EQ(check_links({{"ops", {"tensor"}}}, included),
            Offences{"CMakeLists.txt: ops includes base and is not linked with it"})
      << "also where tensor would bring it along";
  EXPECT_EQ(check_links({{"ghost", {"base"}}}, included).size(), 1u);
}

}  // namespace
}  // namespace trireme::structure
