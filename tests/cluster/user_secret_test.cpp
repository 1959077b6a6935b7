// The secret of a user's jobs: one for all processes, for nobody else's eyes, or a sentence why there is none.
#include "cluster/user_secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <vector>

#include "base/process/pipe.h"
#include "support/core_errors.h"
#include "support/temporary_folder.h"

namespace trireme::cluster {
namespace {

using support::contains;
using support::sentence;

std::string refusal(const std::string& home) {
  const std::string text = sentence(base::ErrorKind::user, [&] { user_secret(home); });
  EXPECT_TRUE(contains(text, "export TRIREME_TOKEN=")) << text;
  return text;
}

TEST(UserSecret, IsMadeOnceForItsUserAlone) {
  const test::TemporaryFolder home;
  const std::string secret = user_secret(home.path());
  EXPECT_EQ(secret.size(), 64U);
  EXPECT_EQ(user_secret(home.path()), secret);
  struct stat status {};
  ASSERT_EQ(stat((home / ".trireme/job_secret").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat((home / ".trireme").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  const test::TemporaryFolder other;
  EXPECT_NE(user_secret(other.path()), secret);
}

TEST(UserSecret, IsTheSameForProcessesThatMakeItAtOnce) {
  for (int turn = 0; turn < 20; ++turn) {
    const test::TemporaryFolder home;
    const base::Pipe pipe = base::make_pipe();
    std::vector<pid_t> processes;
    for (int i = 0; i < 8; ++i) {
      processes.push_back(fork());
      if (processes.back() != 0) continue;
      const std::string secret = user_secret(home.path());
      _exit(write(pipe.write.number(), secret.data(), secret.size()) == 64 ? 0 : 1);
    }
    std::set<std::string> secrets;
    for (const pid_t process : processes) {
      int status = -1;
      waitpid(process, &status, 0);
      EXPECT_EQ(status, 0);
      std::string secret(64, '\0');
      EXPECT_EQ(read(pipe.read.number(), secret.data(), secret.size()), 64);
      secrets.insert(secret);
    }
    EXPECT_EQ(secrets.size(), 1U);
    int files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(home / ".trireme")) ++files;
    EXPECT_EQ(files, 1);
  }
}

TEST(UserSecret, ThatIsNoneIsRefused) {
  EXPECT_TRUE(contains(refusal(""), "HOME is not set"));
  EXPECT_TRUE(contains(refusal("/dev/null"), "cannot be"));
  const test::TemporaryFolder home;
  user_secret(home.path());
  const auto file = home / ".trireme/job_secret";
  chmod(file.c_str(), 0640);
  EXPECT_TRUE(contains(refusal(home.path()), "can be read or written by others"));
  chmod(file.c_str(), 0600);
  std::ofstream(file) << "secret\n";
  EXPECT_TRUE(contains(refusal(home.path()), "does not hold 64 hexadecimal digits"));
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/etc/hostname", file);
  EXPECT_TRUE(contains(refusal(home.path()), "cannot be read"));
}

}  // namespace
}  // namespace trireme::cluster
