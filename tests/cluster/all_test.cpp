// tests/cluster/all.sh, which `make test-cluster` runs, with made-up scripts of launchers.
#include <gtest/gtest.h>

#include <fstream>

#include "support/process.h"

namespace trireme::test {
namespace {

// The exit code of all.sh when its scripts end with these.
int all_with(int ssh, int mpirun, int slurm, int culprits = 0) {
  const TemporaryFolder folder;
  const auto script = [&](const char* name, int code) {
    std::ofstream(folder / name) << "#!/bin/sh\nexit " << code << "\n";
    fs::permissions(folder / name, fs::perms::owner_all);
  };
  script("ssh.sh", ssh);
  script("mpirun.sh", mpirun);
  script("slurm.sh", slurm);
  script("culprits.sh", culprits);
  return run_process({std::string(TRIREME_SOURCE_DIR) + "/tests/cluster/all.sh"},
                     {"SCRIPTS=" + folder.path().string()})
      .exit_code;
}

TEST(AllLaunchers, SomeMayBeSkippedButNotAll) {
  EXPECT_EQ(all_with(0, 0, 0), 0);
  EXPECT_EQ(all_with(77, 0, 77), 0);
  EXPECT_EQ(all_with(77, 77, 77), 1);
  EXPECT_EQ(all_with(0, 3, 0), 3);
  EXPECT_EQ(all_with(0, 0, 0, 77), 0);
  EXPECT_EQ(all_with(0, 0, 0, 1), 1);
}

}  // namespace
}  // namespace trireme::test
