// The rules of markdown.h: on texts made for it, then on this repository's pages.
#include "structure/markdown.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace trireme::structure {
namespace {

namespace fs = std::filesystem;

TEST(Markdown, AnchorsAreThoseOfGitHub) {
  const std::set<std::string> expected{"a-step-twice", "eval", "eval-1", "pytorchs-ways", "16-cores", "runjson"};
  EXPECT_EQ(anchors_of("# A *step*, twice\n## eval\n### eval\n## PyTorch's ways\n## 16 cores\n## `run.json`\n"
                       "no # heading\n```\n# code\n```\n"),
            expected);
}

TEST(Markdown, BrokenLinksAreSeen) {
  const std::map<std::string, std::string> files{{"docs/a.md", "# One thing\n"}, {"README.md", "# Top\n"}, {"src", ""}};
  const TextOf text_of = [&](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? nullptr : &found->second;
  };
  const auto offences = [&](const std::string& text) { return check_links({"docs/a.md", text}, text_of); };
  EXPECT_TRUE(offences("[x](a.md#one-thing) [y](../README.md) [z](../src) [w](https://there.is/none)\n").empty());
  EXPECT_TRUE(offences("```\n[x](gone.md)\n```\n").empty());
  ASSERT_EQ(offences("a\n[x](gone.md)\n").size(), 1u);
  EXPECT_EQ(offences("a\n[x](gone.md)\n")[0], "docs/a.md:2: links to docs/gone.md, which does not exist");
  ASSERT_EQ(offences("[x](../README.md#topp)\n").size(), 1u);
  EXPECT_EQ(offences("[x](../README.md#topp)\n")[0], "docs/a.md:1: links to README.md, which has no heading '#topp'");
  EXPECT_EQ(offences("[x](#here)\n").size(), 1u);
}

TEST(Markdown, NamesOfFilesThatAreGoneAreSeen) {
  const std::string none;
  const TextOf text_of = [&](const std::string& path) { return path == "src/ops/core" ? &none : nullptr; };
  const auto offences = [&](const std::string& text) { return check_paths({"a.md", text}, text_of); };
  EXPECT_TRUE(offences("`src/ops/core`, `src/ops/KIND/NAME.h`, `tests/PART`, `trireme/gone`, src/gone\n").empty());
  ASSERT_EQ(offences("`src/ops/gone.h`\n").size(), 1u);
  EXPECT_EQ(offences("`src/ops/gone.h`\n")[0], "a.md:1: names src/ops/gone.h, which does not exist");
}

TEST(Markdown, LongLinesAreSeen) {
  const auto offences = [](const std::string& text) { return check_line_lengths({"a.md", text}).size(); };
  const std::string full(kLongestLine, 'x');
  EXPECT_EQ(offences(full + "\n"), 0u);
  EXPECT_EQ(offences(full + "x\n"), 1u);
  EXPECT_EQ(offences("| " + full + " |\n"), 0u) << "a table";
  EXPECT_EQ(offences("```\n" + full + "x\n```\n"), 0u) << "code";
  EXPECT_EQ(offences("[x](https://" + full + ")\n"), 0u) << "a link";
  EXPECT_EQ(offences(full + " [x](y)\n"), 1u) << "too long even without its link";
  std::string wide;
  for (int i = 0; i < kLongestLine; ++i) wide += "µ";
  EXPECT_EQ(offences(wide + "\n"), 0u) << "characters count, not bytes";
}

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& entry : fs::directory_iterator(root_))
      if (entry.path().extension() == ".md") add(entry.path());
    for (const char* folder : {"bench", "docs", "examples", "peers", "scripts", "tests"})
      for (const auto& entry : fs::recursive_directory_iterator(root_ / folder))
        if (entry.path().extension() == ".md") add(entry.path());
    ASSERT_GT(pages_.size(), 20u);
  }
  // Nothing is read twice; folders and files that are no page have no headings.
  const std::string* text_of(const std::string& path) {
    if (const auto page = pages_.find(path); page != pages_.end()) return &page->second;
    static const std::string none;
    return fs::exists(root_ / path) ? &none : nullptr;
  }
  const std::map<std::string, std::string>& pages() const { return pages_; }

 private:
  void add(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    pages_[fs::relative(path, root_).generic_string()] = text.str();
  }
  const fs::path root_ = TRIREME_SOURCE_DIR;
  std::map<std::string, std::string> pages_;  // by path in the repository
};

TEST_F(Pages, LinksLeadSomewhere) {
  for (const auto& [path, text] : pages())
    for (const std::string& offence : check_links({path, text}, [&](const std::string& to) { return text_of(to); }))
      ADD_FAILURE() << offence;
}

// What changed long ago may name what is gone.
TEST_F(Pages, NameFilesThatExist) {
  for (const auto& [path, text] : pages())
    if (path != "CHANGELOG.md")
      for (const std::string& offence : check_paths({path, text}, [&](const std::string& to) { return text_of(to); }))
        ADD_FAILURE() << offence;
}

TEST_F(Pages, LinesAreShort) {
  for (const auto& [path, text] : pages())
    for (const std::string& offence : check_line_lengths({path, text})) ADD_FAILURE() << offence;
}

}  // namespace
}  // namespace trireme::structure
