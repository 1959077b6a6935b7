// The documentation says what the program says.
#include <regex>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

const fs::path kRoot = TRIREME_SOURCE_DIR;

class Docs : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (test::run_process({"python3", "-c", "0"}).exit_code != 0) GTEST_SKIP() << "there is no python3";
  }
  // scripts/docs_tables.py of `root` with the program under test.
  test::Finished tables(const fs::path& root, const Words& more = {}) const {
    return test::run_process(
        Words{"python3", "-B", (root / "scripts/docs_tables.py").string(), "--program", command({}).back()} + more);
  }
};

TEST_F(Docs, TablesAreWhatTheProgramPrints) {
  const test::Finished checked = tables(kRoot, {"--check"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
}

// On a copy of the pages: what differs is named, what has no place too, and without --check it is mended.
TEST_F(Docs, TablesThatDifferAreNamedAndMended) {
  for (const char* part : {"README.md", "docs", "scripts"})
    fs::copy(kRoot / part, folder() / part, fs::copy_options::recursive);
  const fs::path page = folder() / "docs/networks.md";
  const std::string right = read(page);
  std::string wrong = right;
  const std::size_t count = wrong.find("62006");
  ASSERT_NE(count, std::string::npos);
  wrong[count] = '7';
  write(page, wrong);
  const test::Finished differing = tables(folder(), {"--check"});
  EXPECT_EQ(differing.exit_code, 1);
  EXPECT_NE(differing.err.find("docs/networks.md: not what the program prints; run 'make docs'"), std::string::npos)
      << differing.err;
  EXPECT_EQ(read(page), wrong) << "--check writes nothing";

  EXPECT_EQ(tables(folder()).exit_code, 0);
  EXPECT_EQ(read(page), right);

  std::string without = right;
  without.replace(without.find("<!-- generated: models -->"), 26, "<!-- nothing -->");
  write(page, without);
  const test::Finished missing = tables(folder(), {"--check"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("no page has a region for: models"), std::string::npos) << missing.err;
}

// A promise that names its tests names tests that are there.
TEST(Promises, TheTestsThatGuardBitsExist) {
  const fs::path tests = kRoot / "tests";
  std::string sources;
  for (const auto& entry : fs::recursive_directory_iterator(tests))
    if (entry.path().extension() == ".cpp") sources += read(entry.path());
  const std::string text = read(kRoot / "docs/design/002-bits.md");
  const std::regex named("`([A-Z]\\w+)\\.([A-Z]\\w+)`");
  int count = 0;
  for (std::sregex_iterator name(text.begin(), text.end(), named), end; name != end; ++name, ++count)
    EXPECT_NE(sources.find("(" + name->str(1) + ", " + name->str(2) + ")"), std::string::npos) << name->str();
  EXPECT_GT(count, 40);
}

}  // namespace
}  // namespace trireme::cli_test
