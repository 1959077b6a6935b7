#include "structure/public_headers.h"

#include <gtest/gtest.h>

namespace trireme::structure {
namespace {

const std::vector<SourceFile> kFiles = {
    {"include/trireme/network.h", "// Networks.\n//   an example\n#include \"graph/network.h\"\n#include <vector>\n"},
    {"src/graph/network.h", "#include \"ops/op.h\"\n"},
    {"src/ops/op.h", "#include <string>\n"},
    {"src/train/helm.h", "#include \"graph/network.h\"\n"}};

TEST(PublicHeaders, WhatIsBehindThemIsFollowed) {
  EXPECT_EQ(headers_behind_public_ones(kFiles), (std::set<std::string>{"graph/network.h", "ops/op.h"}));
}

TEST(PublicHeaders, TheListNamesExactlyThese) {
  EXPECT_TRUE(check_public_headers(kFiles, "graph/network.h\nops/op.h\n").empty());
  const Offences missing = check_public_headers(kFiles, "graph/network.h\n");
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0],
            "cmake/public_headers.txt: ops/op.h is missing: a public header includes it; is there a way without?");
  EXPECT_EQ(check_public_headers(kFiles, "graph/network.h\nops/op.h\ntrain/helm.h\n").size(), 1u);
}

TEST(PublicHeaders, HaveAnExampleAndAreNotUsedInside) {
  EXPECT_TRUE(check_public_use(kFiles[0]).empty());
  EXPECT_EQ(check_public_use({"include/trireme/op.h", "// Ops.\n#pragma once\n//   late\n"}).size(), 1u);
  EXPECT_EQ(check_public_use({"src/ops/a.cpp", "#include <trireme/op.h>\n"}).size(), 1u);
  EXPECT_TRUE(check_public_use({"src/main.cpp", "#include <trireme/program.h>\n"}).empty());
}

}  // namespace
}  // namespace trireme::structure
