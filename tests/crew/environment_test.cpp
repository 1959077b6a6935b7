// The environment makes no bits: this program runs itself again under other OpenMP and oneDNN settings and compares
// what it prints.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "graph/fingerprint.h"
#include "support/core_crew_run.h"
#include "support/core_networks.h"
#include "support/core_rerun.h"

namespace trireme::crew {
namespace {

constexpr const char* kMark = "bits made: ";

std::string train(const graph::Network& net, int threads) {
  CrewOptions options;
  options.batch = 12;
  options.oars = 4;
  options.threads = threads;
  support::CrewRun run(net, options);
  run.step(12);
  run.step(7, 1);
  std::uint64_t prints = 0;
  for (const graph::KernelPrint& print : graph::fingerprint(run.crew().program(3, true)))
    prints = prints * 31 + print.hash;
  return run.hash() + "/" + std::to_string(prints);
}

TEST(Environment, BitsOfThisProcess) {
  std::string all;
  for (const graph::Network& net :
       {support::small_residual(), support::small_cnn(), support::series(), support::mlp()}) {
    const std::string one = train(net, 1);
    EXPECT_EQ(train(net, 2), one) << net.name();
    all += one + " ";
  }
  CrewOptions options;
  options.batch = 8;
  options.oars = 2;
  support::CrewRun large(support::resnet20(), options);
  large.step(8);
  all += large.hash();
  std::printf("%s%s\n", kMark, all.c_str());
  std::fflush(stdout);
}

// What the test above prints when run with these settings.
std::string bits_under(const std::string& settings) {
  const support::Rerun run = support::rerun(settings, "Environment.BitsOfThisProcess");
  EXPECT_EQ(run.status, 0) << settings << "\n" << run.text;
  const std::size_t begin = run.text.find(kMark);
  if (begin == std::string::npos) {
    ADD_FAILURE() << "nothing was printed under " << settings << "\n" << run.text;
    return "";
  }
  return run.text.substr(begin, run.text.find('\n', begin) - begin);
}

TEST(Environment, ChangesNoBits) {
  const std::string clear =
      "-u OMP_NUM_THREADS -u OMP_DYNAMIC -u DNNL_MAX_CPU_ISA -u ONEDNN_MAX_CPU_ISA -u DNNL_DEFAULT_FPMATH_MODE";
  const std::string expected = bits_under(clear);
  ASSERT_GT(expected.size(), 300u) << expected;
  for (const char* settings : {
           "OMP_NUM_THREADS=1",
           "OMP_NUM_THREADS=2 OMP_DYNAMIC=true",
           "OMP_NUM_THREADS=16 OMP_DYNAMIC=true OMP_SCHEDULE=dynamic,1 OMP_PROC_BIND=true",
           "OMP_NUM_THREADS=3,2 OMP_MAX_ACTIVE_LEVELS=3 OMP_WAIT_POLICY=passive",
           "OMP_THREAD_LIMIT=1",
           "DNNL_MAX_CPU_ISA=SSE41",
           "ONEDNN_MAX_CPU_ISA=AVX2",
           "DNNL_DEFAULT_FPMATH_MODE=BF16",
           "ONEDNN_DEFAULT_FPMATH_MODE=ANY OMP_NUM_THREADS=16",
           "DNNL_CPU_ISA_HINTS=PREFER_YMM",
           "ONEDNN_CPU_ISA_HINTS=PREFER_YMM",
           "DNNL_PRIMITIVE_CACHE_CAPACITY=0",
           "DNNL_VERBOSE=1",
           "MALLOC_PERTURB_=165",
           "LC_ALL=C TZ=Asia/Kathmandu",
       })
    EXPECT_EQ(bits_under(settings), expected) << settings;
}

}  // namespace
}  // namespace trireme::crew
