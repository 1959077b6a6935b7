// The program of the tests; and, as `test_comm PART [options of GoogleTest]`, one rank under mpirun, which
// mpi_test.cpp starts: see kParts.
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "comm/transport/mpi/mpi.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

constexpr int kCulprit = 1;

Group join_within(double deadline_seconds) {
  MpiOptions options;
  options.deadline_seconds = deadline_seconds;
  return join_mpi(options);
}

// All-reduces without end, in which the culprit does something after a while.
void work_until(Group& group, const std::function<void()>& deed) {
  std::vector<float> data(30000, 1.0f);
  for (int turn = 0;; ++turn) {
    group.all_reduce(data, Reduction::max);
    if (turn == 20 && group.rank() == kCulprit) deed();
  }
}

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) std::fprintf(stderr, "rank %d: %s\n", rank_, result.message());
  }

 private:
  int rank_;
};

// The correctness tests of the other transports.
int run_tests(int argc, char** argv) {
  std::optional<Group> group(join_within(kTestDeadline));
  mpi_group() = &*group;
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (group->rank() != 0) {  // one that counts the tests is enough; failures are told by all
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(group->rank()));
  }
  return RUN_ALL_TESTS();
}

int be_killed(int, char**) {
  Group group = join_mpi();
  work_until(group, [] { raise(SIGKILL); });
  return 0;
}

int call_exit(int, char**) {
  Group group = join_mpi();
  work_until(group, [] { std::exit(3); });
  return 0;
}

int throw_error(int, char**) {
  try {
    Group group = join_mpi();
    work_until(group, [] { throw std::runtime_error("the loss is not a number"); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

int be_stopped(int, char**) {
  try {
    Group group = join_within(1);
    work_until(group, [] { raise(SIGSTOP); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

// One rank leaves at once, while the others still talk; what it sent last must come.
int leave_early(int, char**) {
  Group group = join_mpi();
  std::vector<std::byte> data(3000000, std::byte{7});
  group.broadcast(data, kCulprit);
  if (group.rank() == kCulprit) return 0;
  std::this_thread::sleep_for(300ms);
  if (data.back() != std::byte{7}) return 1;
  try {
    group.barrier();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  return 0;
}

// Prints the share of a core that a group takes which does nothing.
int be_idle(int, char**) {
  Group group = join_mpi();
  group.barrier();
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const double before = used();
  std::this_thread::sleep_for(2s);
  std::printf("idle %.4f\n", (used() - before) / 2);
  group.barrier();
  return 0;
}

struct Part {
  const char* name;
  int (*run)(int, char**);
};
constexpr std::array kParts{Part{"tests", run_tests},   Part{"killed", be_killed},   Part{"exit", call_exit},
                            Part{"throw", throw_error}, Part{"stopped", be_stopped}, Part{"leave", leave_early},
                            Part{"idle", be_idle}};

}  // namespace
}  // namespace trireme::comm

int main(int argc, char** argv) {
  for (const auto& part : trireme::comm::kParts)
    if (argc > 1 && std::strcmp(argv[1], part.name) == 0) return part.run(argc - 1, argv + 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
