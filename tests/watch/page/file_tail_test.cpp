#include "watch/page/feed/file_tail.h"

#include <gtest/gtest.h>

#include <fstream>

#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

class FileTailTest : public testing::Test {
 protected:
  void append(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }
  // The lines that a look finds; "again" where it begins from the first.
  std::vector<std::string> look(std::size_t most = 1 << 20) {
    std::vector<std::string> found;
    has_more_ = tail_.read(
        {[&] { found.emplace_back("again"); }, [&](std::string_view line) { found.emplace_back(line); }}, most);
    return found;
  }
  using Lines = std::vector<std::string>;

  base::TemporaryFolder folder_{"file-tail"};
  base::fs::path path_ = folder_.path() / "lines.jsonl";
  FileTail tail_{path_};
  bool has_more_ = false;
};

TEST_F(FileTailTest, reads_whole_lines_as_they_come) {
  EXPECT_EQ(look(), Lines{}) << "the file is not there yet";
  append("one\ntwo\nhal");
  EXPECT_EQ(look(), (Lines{"one", "two"}));
  EXPECT_EQ(look(), Lines{});
  append("f\n");
  EXPECT_EQ(look(), Lines{"half"});
}

TEST_F(FileTailTest, begins_again_when_the_file_is_cut_or_replaced) {
  append("one\ntwo\nthree\n");
  look();
  base::fs::resize_file(path_, 4);
  EXPECT_EQ(look(), (Lines{"again", "one"}));
  append("2\n3\n");
  EXPECT_EQ(look(), (Lines{"2", "3"}));
  // Cut and grown between two looks: longer than before, but with other lines.
  std::ofstream(path_) << "one\nzwei\ndrei\nvier\n";
  EXPECT_EQ(look(), (Lines{"again", "one", "zwei", "drei", "vier"}));
  // Replaced by a file that begins in the same way.
  std::ofstream(path_.string() + ".new") << "one\nzwei\ndrei\nvier\nfive\n";
  base::fs::rename(path_.string() + ".new", path_);
  EXPECT_EQ(look(), Lines{"five"});
}

TEST_F(FileTailTest, stops_after_about_as_many_bytes_as_asked_for) {
  std::string all;
  for (int i = 0; i < 200'000; ++i) all += "line " + std::to_string(i) + "\n";
  append(all);
  std::size_t lines = 0, looks = 0;
  do {
    lines += look(1 << 19).size();
    ++looks;
  } while (has_more_);
  EXPECT_EQ(lines, 200'000u);
  EXPECT_GE(looks, 3u);
}

TEST_F(FileTailTest, passes_over_a_line_that_is_too_long) {
  append(std::string(40 << 20, 'x') + "\nshort\n");
  EXPECT_EQ(look(100 << 20), Lines{"short"});
}

}  // namespace
}  // namespace trireme::watch
