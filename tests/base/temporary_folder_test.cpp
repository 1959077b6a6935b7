// Temporary folders go with their process, however it ends.
#include "base/system/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/temporary_folder.h"

namespace trireme::base {
namespace {

class TemporaryFolderTest : public ::testing::Test {
 protected:
  TemporaryFolderTest() { setenv("TMPDIR", home_.path().c_str(), 1); }
  ~TemporaryFolderTest() override { unsetenv("TMPDIR"); }

  std::ptrdiff_t folders() const {
    return std::distance(fs::directory_iterator(home_.path()), fs::directory_iterator());
  }

  test::TemporaryFolder home_;
};

TEST_F(TemporaryFolderTest, GoesWithWhatIsInIt) {
  {
    const base::TemporaryFolder a("purpose"), b("purpose");
    EXPECT_NE(a.path(), b.path());
    std::ofstream(a.path() / "file") << "text";
    EXPECT_EQ(folders(), 2);
  }
  EXPECT_EQ(folders(), 0);
}

TEST_F(TemporaryFolderTest, OfAKilledProcessGoesWithTheNextOneOfItsPurpose) {
  const base::TemporaryFolder living("purpose");
  fs::create_directory(home_.path() / "trireme-purpose-named by hand");
  const pid_t child = fork();
  if (child == 0) {
    const base::TemporaryFolder left("purpose");
    std::ofstream(left.path() / "file") << "text";
    ::raise(SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(folders(), 3) << "the child's is left";
  {
    const base::TemporaryFolder other("other");
    EXPECT_EQ(folders(), 4);
  }
  const base::TemporaryFolder next("purpose");
  EXPECT_EQ(folders(), 3) << "the child's is gone, and nothing else";
  EXPECT_TRUE(fs::exists(living.path()));
}

}  // namespace
}  // namespace trireme::base
