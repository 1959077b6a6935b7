// Runs under limits of the shell that started them.
#include "e2e/strategies.h"

namespace trireme::test {
namespace {

class Limits : public Strategies {};

// Fewer descriptors than a job needs, but the system allows more.
TEST_F(Limits, FewDescriptorsAreRaised) {
  const std::string run = new_folder();
  const Finished finished = run_process({"sh",
                                         "-c",
                                         "ulimit -S -n 24 && exec \"$@\"",
                                         "sh",
                                         trireme_binary(),
                                         "train",
                                         "--model",
                                         "lenet5",
                                         "--data",
                                         "synthetic",
                                         "--train-samples",
                                         "64",
                                         "--test-samples",
                                         "32",
                                         "--steps",
                                         "2",
                                         "--batch",
                                         "32",
                                         "--oars",
                                         "8",
                                         "--threads",
                                         "1",
                                         "--workers",
                                         "4",
                                         "--strategy",
                                         "allreduce",
                                         "--run",
                                         run});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

}  // namespace
}  // namespace trireme::test
