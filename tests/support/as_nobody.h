// Tests of file permissions: root may do everything, so its tests show them as the user nobody.
#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>

namespace trireme::test {

// Runs the body as a user whom permissions stop: here, or, for root, in a child process that becomes nobody. `folder`
// and what is in it belong to that user; the body may use it and make temporary folders. It starts no threads before
// it runs a program.
inline void as_nobody(const std::filesystem::path& folder, const std::function<void()>& body) {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() != 0) return body();
  ASSERT_EQ(::lchown(folder.c_str(), kNobody, kNobody), 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    ASSERT_EQ(::lchown(entry.path().c_str(), kNobody, kNobody), 0) << entry.path();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(2);
    body();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "as the user nobody; what failed is printed above";
}

}  // namespace trireme::test
