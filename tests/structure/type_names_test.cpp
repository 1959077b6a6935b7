// The rule of type names sees made-up offences and lets everything else pass.
#include "structure/type_names.h"

#include <gtest/gtest.h>

namespace trireme::structure {
namespace {

std::vector<std::string> types(const std::string& text) { return types_of({"src/ops/a.h", text}); }

TEST(TypeNames, DefinitionsAtNamespaceScopeAreRead) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(types("namespace a::b {\nclass A {};\nstruct B : A { int x; };\nenum class C : int { c };\n}\n"),
            (Names{"A", "B", "C"}));
  EXPECT_EQ(types("namespace a { namespace { union U {}; } using V = std::vector<int>; }\nenum W { w };\n"),
            (Names{"U", "V", "W"}));
  EXPECT_EQ(types("template <class T, template <class> class U>\nstruct S {};\n"), Names{"S"});
  EXPECT_EQ(types("class [[nodiscard]] N {};\nstruct alignas(64) M final : N {};\n"), (Names{"N", "M"}));
  EXPECT_EQ(types("extern \"C\" {\nstruct E {};\n}\n"), Names{"E"});
}

TEST(TypeNames, WhatIsInsideOfOthersOrOnlyDeclaredIsNot) {
  EXPECT_TRUE(
      types("class A;\nstruct B;\nenum class C : int;\nstruct D* make(struct E e) { return nullptr; }\n").empty());
  EXPECT_EQ(types("class A { struct B {}; using C = int; enum { d }; };\n"), std::vector<std::string>{"A"});
  EXPECT_TRUE(types("enum { a };\nenum : int { b };\nstruct A::B {};\ntemplate <>\nstruct hash<A> {};\n").empty());
  EXPECT_TRUE(types("inline int f() { struct L {}; using M = int; return int{}; }\n").empty());
  EXPECT_TRUE(types("using a::B;\nusing namespace c;\n// struct D {};\n#define E struct F { \\\n  int x; }\n").empty());
  EXPECT_TRUE(types("template <class T>\nclass Later;\nconst char* text = \"struct A {\";\n").empty());
}

TEST(TypeNames, OneNameInTwoPartsIsSeen) {
  const SourceFile graph{"src/graph/plan.h", "namespace trireme::graph { struct Plan {}; }\n"};
  const SourceFile ops{"src/ops/conv/plan.h", "namespace trireme::ops::winograd { class Plan { int x; }; }\n"};
  EXPECT_EQ(check_type_names({graph, ops}),
            Offences{"Plan: defined in headers of several parts: src/graph/plan.h, src/ops/conv/plan.h; give each its "
                     "own name"});
  const SourceFile alias{"src/comm/place.h", "namespace trireme::comm { using Plan = int; }\n"};
  EXPECT_EQ(check_type_names({graph, alias}).size(), 1u);
}

TEST(TypeNames, OneNameInOnePartOrInSourcesPasses) {
  const SourceFile header{"src/graph/plan.h", "struct Plan {};\n"}, same{"src/graph/memory.h", "struct Plan {};\n"};
  const SourceFile source{"src/ops/plan.cpp", "struct Plan {};\n"}, declared{"src/ops/plan.h", "struct Plan;\n"};
  EXPECT_TRUE(check_type_names({header, same, source, declared}).empty());
}

}  // namespace
}  // namespace trireme::structure
