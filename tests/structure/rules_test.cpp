// The rules themselves: each sees a made-up offence and lets the lawful neighbour pass.
#include "structure/rules.h"

#include <gtest/gtest.h>

namespace trireme::structure {
namespace {

TEST(LibraryHeaders, OneDnnAndOpenMpStayBehindTheGate) {
  for (const char* header : {"<dnnl.hpp>", "<oneapi/dnnl/dnnl.h>", "\"dnnl.h\"", "<omp.h>"}) {
    const std::string text = std::string("#include ") + header + "\n";
    EXPECT_EQ(check_library_headers({"src/ops/conv/conv.cpp", text}).size(), 1u) << header;
    EXPECT_TRUE(check_library_headers({"src/ops/core/onednn_conv.cpp", text}).empty()) << header;
  }
}

TEST(LibraryHeaders, HeavyHeadersStayOutOfHeaders) {
  EXPECT_EQ(check_library_headers({"src/store/a.h", "#include <nlohmann/json.hpp>\n"}).size(), 1u);
  EXPECT_TRUE(check_library_headers({"src/store/a.h", "#include <nlohmann/json_fwd.hpp>\n"}).empty());
  EXPECT_EQ(check_library_headers({"src/base/system/log.h", "#include <spdlog/spdlog.h>\n"}).size(), 1u);
  EXPECT_TRUE(check_library_headers({"src/store/a.cpp", "#include <nlohmann/json.hpp>\n"}).empty());
}

TEST(Environment, IsReadInListedFilesOnly) {
  const std::string text = "const char* a = std::getenv(\"A\");\n";
  EXPECT_EQ(check_environment({"src/ops/core/op.cpp", text}).size(), 1u);
  EXPECT_EQ(check_environment({"src/ops/core/op.cpp", "extern char** environ;\n"}).size(), 1u);
  EXPECT_TRUE(check_environment({"src/data/readers/find_data.cpp", text}).empty());
  EXPECT_TRUE(check_environment({"src/ops/core/op.cpp", "// getenv\nsetenv(\"getenv\", \"1\", 1);\n"}).empty());
}

TEST(Libm, CallsAreSeen) {
  for (const char* call :
       {"float y = std::exp(x);", "y = ::log(x);", "y = tanhf(x);", "return pow(b, t);", "std::pow(b, t)",
        "y=__builtin_expf(x);", "a = -cos (x);", "std::log1p(x);", "y = a * exp(x);", "f(exp(x));", "    exp(x));"}) {
    EXPECT_EQ(check_libm({"src/optim/adam.cpp", std::string(call) + "\n"}).size(), 1u) << call;
    EXPECT_TRUE(check_libm({"src/ops/relu_reference.cpp", std::string(call) + "\n"}).empty()) << call;
    EXPECT_TRUE(check_libm({"src/cli/train.cpp", std::string(call) + "\n"}).empty()) << call;
  }
}

TEST(Libm, OwnFunctionsAndExactOnesPass) {
  for (const char* line :
       {"y = base::exp(x);", "y = std::sqrt(x);", "y = log1(x);", "log_line(x);", "record.log(x);", "p->log(x);",
        "// std::exp(x)", "f(\"std::exp(x)\");", "/* std::log(x) */", "std::fma(a, b, c);", "y = base::log1(x);",
        "std::max(a, b)", "ops::tanh(x)", "std::unique_ptr<Op> tanh();", "Value tanh(Value x);", "Op* tanh(int a);"}) {
    const Offences offences = check_libm({"src/ops/tanh.cpp", std::string(line) + "\n"});
    EXPECT_TRUE(offences.empty()) << line << " -> " << offences[0];
  }
}

TEST(Comments, AreRemovedAndLinesKept) {
  EXPECT_EQ(without_comments("a // b\nc /* d\ne */ f\n"), "a \nc \n f\n");
  EXPECT_EQ(without_comments("\"// no\" x"), "\"\" x");
  EXPECT_EQ(without_comments("\"a\\\"b\" x // c"), "\"\" x ");
  EXPECT_EQ(without_comments("'\"' y // z"), "'' y ");
  EXPECT_EQ(without_comments("1'000'000 // z"), "1'000'000 ");
  EXPECT_EQ(without_comments("R\"(a // \"b\n)\" x"), "\n\"\" x");
  EXPECT_EQ(without_comments("/* open"), "");
}

TEST(BuildFlags, MachineDependentOnesAreSeen) {
  for (const char* flag : {"-ffast-math", "-march=native", "-Ofast", "-mavx2", "-ffp-contract=fast"})
    EXPECT_EQ(check_build_flags({"CMakeLists.txt", std::string("add_compile_options(") + flag + ")\n"}).size(), 1u)
        << flag;
  EXPECT_TRUE(check_build_flags({"CMakeLists.txt", "# never -ffast-math\nset(A -ffp-contract=off -O3)\n"}).empty());
}

TEST(Length, SevenHundredLinesPassAndOneMoreFails) {
  std::string text(kLongestFile, '\n');
  EXPECT_TRUE(check_length({"tests/base/a.cpp", text}).empty());
  EXPECT_EQ(check_length({"tests/base/a.cpp", text + "\n"}).size(), 1u);
}

TEST(Length, SourcesAreShorterThanTests) {
  const std::string long_one(kLongestSourceFile + 1, '\n');
  EXPECT_EQ(check_length({"src/ops/a.cpp", long_one}).size(), 1u);
  EXPECT_TRUE(check_length({"tests/ops/a.cpp", long_one}).empty());
  EXPECT_TRUE(check_length({"src/crew/crew.cpp", long_one}).empty()) << "has a reason";
  EXPECT_EQ(check_length({"src/crew/crew.cpp", std::string(kLongestFile + 1, '\n')}).size(), 1u);
}

}  // namespace
}  // namespace trireme::structure
