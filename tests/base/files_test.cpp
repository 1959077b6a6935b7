// Files: a reader sees the old content or the new; a failed write leaves nothing behind and says why.
#include "base/system/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "support/as_nobody.h"
#include "support/core_errors.h"
#include "support/temporary_folder.h"

namespace trireme::base {
namespace {

using support::contains;
using support::sentence;
using test::TemporaryFolder;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// While alive, no file of this process may grow beyond `bytes`: the kernel's own failing disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(Files, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  std::string large(3'000'001, 'x');
  large[1'500'000] = '\0';
  for (const std::string& text : {std::string(), std::string("a"), std::string("two\nlines\n"), large}) {
    write_text_atomically(folder / "file", text);
    EXPECT_EQ(read_text(folder / "file"), text);
    EXPECT_EQ(read_file(folder / "file").size(), text.size());
  }
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(Files, ReadingWhatIsNotThereIsAUserError) {
  const TemporaryFolder folder;
  const fs::path path = folder / "absent";
  EXPECT_TRUE(contains(sentence(ErrorKind::user, [&] { read_file(path); }), path.string()));
  EXPECT_TRUE(contains(sentence(ErrorKind::user, [&] { read_text(folder.path()); }), "folder"));
}

TEST(Files, AFullDiskLeavesTheOldContentAndNoPart) {
  const TemporaryFolder folder;
  const fs::path path = folder / "weights";
  write_text_atomically(path, "old");
  const std::string large(1 << 20, 'x');
  std::string text;
  {
    const FileSizeLimit limit(100'000);
    text = sentence(ErrorKind::run, [&] { write_text_atomically(path, large); });
  }
  EXPECT_TRUE(contains(text, path.string())) << text;
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
  write_text_atomically(path, large);
  EXPECT_EQ(read_text(path), large);
}

TEST(Files, NoSuchFolder) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "absent" / "file";
  EXPECT_TRUE(contains(sentence(ErrorKind::run, [&] { write_text_atomically(path, "x"); }), path.string()));
  EXPECT_EQ(entries(folder.path()), 0u);
}

TEST(Files, AFolderInTheWayLeavesNoPart) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "taken" / "inside");
  EXPECT_TRUE(contains(sentence(ErrorKind::run, [&] { write_text_atomically(folder / "taken", "x"); }), "taken"));
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(Files, ReadOnlyFolder) {
  const TemporaryFolder folder;
  test::as_nobody(folder.path(), [&] {
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    sentence(ErrorKind::run, [&] { write_text_atomically(folder / "file", "x"); });
    EXPECT_EQ(entries(folder.path()), 0u);
    fs::permissions(folder.path(), fs::perms::owner_all);
  });
}

TEST(LineWriter, AppendsWholeLinesAtOnce) {
  const TemporaryFolder folder;
  {
    LineWriter writer(folder / "log");
    writer.write("one");
    EXPECT_EQ(read_text(folder / "log"), "one\n");  // before the writer is gone
    writer.write("");
  }
  LineWriter(folder / "log").write("three");
  EXPECT_EQ(read_text(folder / "log"), "one\n\nthree\n");
}

TEST(LineWriter, AFullDiskIsARunError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  LineWriter writer("/dev/full");
  EXPECT_TRUE(contains(sentence(ErrorKind::run, [&] { writer.write("line"); }), "/dev/full"));
}

TEST(LineWriter, NoSuchFolder) {
  const TemporaryFolder folder;
  sentence(ErrorKind::run, [&] { LineWriter writer(folder.path() / "absent" / "log"); });
}

}  // namespace
}  // namespace trireme::base
