// Runs of several processes that go wrong, by the real program: they end, with the right exit code and one sentence,
// and no process is left.
#include <sys/mount.h>

#include <algorithm>

#include "e2e/strategies.h"

namespace trireme::test {
namespace {

const Arguments kSmall = words(
    "--model lenet5 --data synthetic --train-samples 96 --test-samples 40 --batch 32 "
    "--oars 8 --threads 1");
const std::vector<std::string> kAllWays{"--workers 3 --strategy allreduce",
                                        "--workers 2 --transport tcp",
                                        "--workers 2 --servers 2 --strategy ps",
                                        "--workers 3 --servers 2 --server-place worker --strategy ps",
                                        "--workers 2 --strategy ps:return=gradients",
                                        "--workers 3 --strategy ps:mode=async",
                                        "--workers 3 --servers 2 --strategy ps:mode=ssp,staleness=1",
                                        "--workers 2 --strategy ps:mode=dssp,low=1,high=3",
                                        "--workers 3 --strategy switch:at=20%,to=ps:mode=async"};

class Faults : public Strategies {
 protected:
  // Nothing that was started with this argument is left, a moment after its launcher has ended.
  static void expect_nobody_left(const std::string& argument) {
    EXPECT_TRUE(wait_until([&] { return processes_with(argument).empty(); }, 15)) << argument;
  }
  static std::vector<std::string> processes_with(const std::string& argument) {
    std::vector<std::string> all;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos || is_gone(std::stoi(name))) continue;
      if (text_of(entry.path() / "cmdline").find(argument) != std::string::npos) all.push_back(name);
    }
    return all;
  }
  static void expect_sentence(Finished finished, int code, const std::vector<std::string>& sayings) {
    while (finished.err.starts_with("warning: resources") || finished.err.starts_with("warning: trace"))
      finished.err.erase(0, finished.err.find('\n') + 1);
    EXPECT_EQ(finished.exit_code, code) << finished.out << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    EXPECT_TRUE(finished.err.starts_with("trireme: ")) << finished.err;
    EXPECT_EQ(finished.err.find("internal error"), std::string::npos) << finished.err;
    for (const std::string& saying : sayings)
      EXPECT_NE(finished.err.find(saying), std::string::npos) << "'" << saying << "' is not in: " << finished.err;
  }
};

TEST_F(Faults, ALossThatIsNoNumber) {
  for (const std::string& way : kAllWays) {
    SCOPED_TRACE(way);
    const std::string run = new_folder();
    const Finished finished =
        train(kSmall + words("--epochs 20 --optimizer sgd:lr=1e38") + words(way) + Arguments{"--run", run});
    expect_sentence(finished, 1, {"became", "step", "learning rate"});
    EXPECT_EQ(finished.out, "");
    EXPECT_FALSE(fs::exists(run + "/summary.json"));
    expect_nobody_left(run);
  }
}

TEST_F(Faults, ARunFolderThatExists) {
  const std::string run = new_folder();
  fs::create_directory(run);
  std::ofstream(run + "/note") << "x";
  for (const char* way : {"--workers 3", "--workers 2 --servers 2 --strategy ps"})
    expect_sentence(train(kSmall + words(way) + Arguments{"--run", run}), 2, {run, "exists", "--resume"});
  expect_nobody_left(run);
  EXPECT_EQ(std::distance(fs::directory_iterator(run), fs::directory_iterator()), 1);
}

TEST_F(Faults, AFullDisk) {
  const std::string disk = new_folder();
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=200k") != 0)
    GTEST_SKIP() << "mounting a small file system is not permitted here";
  for (const char* way :
       {"--workers 3", "--workers 2 --servers 2 --strategy ps", "--workers 3 --strategy ps:mode=ssp"}) {
    const std::string run = disk + "/run";
    expect_sentence(train(kSmall + words("--epochs 3") + words(way) + Arguments{"--run", run}), 1,
                    {run, "No space left"});
    expect_nobody_left(run);
    fs::remove_all(run);
  }
  // So full that not even the lines of an interval find room.
  std::ofstream(disk + "/filler") << std::string(172 * 1024, 'x') << std::flush;
  for (const char* way : {"--workers 3", "--workers 3 --strategy ps:mode=async"}) {
    const std::string run = disk + "/run";
    expect_sentence(train(kSmall + words("--epochs 300 --test-samples 1") + words(way) + Arguments{"--run", run}), 1,
                    {run, "No space left"});
    expect_nobody_left(run);
    fs::remove_all(run);
  }
  ::umount2(disk.c_str(), MNT_DETACH);
}

// The network's description finds room, run.json does not: no folder stays that is neither a run nor empty.
TEST_F(Faults, ADiskTooSmallForARun) {
  const std::string disk = new_folder();
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=8k") != 0)
    GTEST_SKIP() << "mounting a small file system is not permitted here";
  const std::string run = disk + "/run";
  const Finished finished = train(kSmall + words("--epochs 1") + Arguments{"--run", run});
  expect_sentence(finished, 1, {run, "No space left", "free at least"});
  EXPECT_EQ(finished.err.find("--resume"), std::string::npos) << finished.err;
  EXPECT_FALSE(fs::exists(run));
  ::umount2(disk.c_str(), MNT_DETACH);
}

// All but one find the data: one of the workers was started, as if by ssh, where there is none.
TEST_F(Faults, DataThatOneWorkerDoesNotFind) {
  const std::string data = new_folder();
  fs::create_directories(data + "/cifar-10-batches-bin");
  const auto write = [&](const std::string& name) {
    std::ofstream out(data + "/cifar-10-batches-bin/" + name, std::ios::binary);
    for (int record = 0; record < 16; ++record)
      out << static_cast<char>(record % 10) << std::string(3072, static_cast<char>(record));
  };
  for (int i = 1; i <= 5; ++i) write("data_batch_" + std::to_string(i) + ".bin");
  write("test_batch.bin");
  const std::string ssh = folder("ssh");
  std::ofstream(ssh) << "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nshift\nexport "
                        "TRIREME_DATA=/no-such-folder\ncd / && exec sh -c \"$*\"\n";
  fs::permissions(ssh, fs::perms::owner_all);
  const Arguments cifar =
      words("--model resnet20-cifar --data cifar10 --batch 16 --oars 4 --epochs 1 --threads 1 --workers 3");
  for (const char* way : {"--strategy allreduce", "--strategy ps --servers 1"}) {
    const std::string run = new_folder();
    const Finished finished =
        run_process(command(cifar + words(way) + Arguments{"--hosts", "localhost,far", "--ssh", ssh, "--run", run}),
                    {"TRIREME_DATA=" + data}, kDeadlineSeconds);
    EXPECT_FALSE(finished.timed_out);
    expect_sentence(finished, 2, {"/no-such-folder", "cifar10"});
    EXPECT_FALSE(fs::exists(run));
    expect_nobody_left(run);
  }
}

TEST_F(Faults, TheLauncherIsKilled) {
  for (const char* way : {"--workers 3", "--workers 2 --servers 2 --strategy ps:mode=async"}) {
    const std::string run = new_folder();
    Process process(command(kSmall + words("--epochs 100000") + words(way) + Arguments{"--run", run}));
    ASSERT_TRUE(wait_until([&] { return steps_in(run) > 5; })) << process.errors_so_far();
    process.kill(SIGKILL);
    process.wait(kDeadlineSeconds);
    expect_nobody_left(run);
  }
}

TEST_F(Faults, ASecondInterruptEndsEverythingAtOnce) {
  const std::string run = new_folder();
  // The first one waits for the end of a step, which takes long.
  Process process(
      command(kSmall + words("--epochs 100000 --workers 3 --slow worker=1,factor=3000") + Arguments{"--run", run}));
  ASSERT_TRUE(wait_until([&] { return steps_in(run) >= 1; })) << process.errors_so_far();
  process.kill(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  process.kill(SIGINT);
  const Finished finished = process.wait(kDeadlineSeconds);
  EXPECT_TRUE(finished.exit_code == 130 || finished.exit_code == 1) << finished.exit_code << finished.err;
  expect_nobody_left(run);
}

}  // namespace
}  // namespace trireme::test
