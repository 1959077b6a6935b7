// Workers and servers as real processes, one of which is killed or stopped: the others all end, and name it.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "comm/processes.h"
#include "strategy/cluster.h"
#include "strategy/server/hand_over.h"

namespace trireme::strategy {
namespace {

using namespace std::chrono_literals;

struct Case {
  RoleMap roles;
  bool synchronous = true;
  double max_norm = 0;
  int victim = 0;
  int signal = SIGKILL;
};

// Steps without end; throws what every thread of the process ended with.
void take_part(comm::Group& group, const Case& test) {
  const RoleMap& roles = test.roles;
  const int rank = group.rank(), worker = roles.worker_of(rank), server = roles.server_of(rank);
  const std::string optimizer = "sgd:lr=0.001";
  std::string served = "nothing to serve", worked = "nothing to row";
  std::thread thread([&] {
    if (server < 0) return;
    try {
      Server here(group, roles, server, optim::make_optimizer(optimizer), test.max_norm);
      here.take_over();
      here.serve({test.synchronous})->run();
      served = "served to the end";
    } catch (const std::exception& error) {
      served = error.what();
    }
  });
  if (worker >= 0) try {
      if (roles.servers_apart) group.among(roles.worker_processes(), 1000);
      TestWorker test_worker(support::mlp());
      std::vector<int> oars(static_cast<std::size_t>(roles.workers));
      for (int oar = 0; oar < kOars; ++oar) ++oars[static_cast<std::size_t>(oar % roles.workers)];
      test_worker.start({optimizer, test.max_norm, std::vector<std::int64_t>(1000000, kBatch)}, oars);
      const WorkerContext here = test_worker.worker(group, roles, worker);
      hand_to_servers(here);
      const auto strategy = make_ps(here, {.synchronous = test.synchronous, .bucket_bytes = 300});
      test_worker.steps(*strategy, here, 0, test_worker.all_steps());
      worked = "rowed to the end";
    } catch (const std::exception& error) {
      worked = error.what();
    }
  thread.join();
  throw std::runtime_error(worked + "|" + served);
}

void expect_all_name_it(const Case& test) {
  const comm::Address address = comm::free_address();
  std::vector<comm::Process> ranks;
  for (int rank = 0; rank < test.roles.world(); ++rank) {
    comm::JoinOptions options = comm::test_options(address, rank, test.roles.world());
    options.patience.silent_seconds = test.signal == SIGSTOP ? 2 : 20;
    ranks.push_back(comm::start(options, [&test](comm::Group& group) { take_part(group, test); }));
  }
  for (const comm::Process& rank : ranks) EXPECT_EQ(comm::read_until(rank.words, '\n'), "ready");
  std::this_thread::sleep_for(300ms);
  kill(ranks[static_cast<std::size_t>(test.victim)].number, test.signal);
  const std::string name = fmt::format("rank {} (process ", test.victim);
  for (int rank = 0; rank < test.roles.world(); ++rank) {
    if (rank == test.victim) continue;
    const std::string words = comm::read_until(ranks[static_cast<std::size_t>(rank)].words, '\0');
    const std::size_t bar = words.find('|');
    ASSERT_NE(bar, std::string::npos) << words;
    const auto expect_named = [&](const std::string& ending) {
      EXPECT_NE(ending.find(name), std::string::npos) << "rank " << rank << ": " << ending;
    };
    if (test.roles.worker_of(rank) >= 0) expect_named(words.substr(0, bar));
    if (test.roles.server_of(rank) >= 0) expect_named(words.substr(bar + 1));
  }
  for (const comm::Process& rank : ranks) {
    kill(rank.number, SIGKILL);
    waitpid(rank.number, nullptr, 0);
    close(rank.words);
  }
}

TEST(PsDeath, OfAWorker) {
  for (const bool synchronous : {true, false}) {
    expect_all_name_it({.roles = {2, 1, true}, .synchronous = synchronous, .victim = 2});
    expect_all_name_it({.roles = {3, 2, false}, .synchronous = synchronous, .victim = 2});
  }
}

TEST(PsDeath, OfAServer) {
  for (const bool synchronous : {true, false})
    expect_all_name_it({.roles = {2, 2, true}, .synchronous = synchronous, .victim = 1});
}

TEST(PsDeath, OfAServerWithAWorker) {
  for (const bool synchronous : {true, false})
    expect_all_name_it({.roles = {3, 2, false}, .synchronous = synchronous, .victim = 1});
}

TEST(PsDeath, WhileNormsAreExchanged) { expect_all_name_it({.roles = {2, 3, true}, .max_norm = 0.01, .victim = 2}); }

TEST(PsDeath, OneThatIsStoppedIsGone) { expect_all_name_it({.roles = {2, 2, true}, .victim = 3, .signal = SIGSTOP}); }

}  // namespace
}  // namespace trireme::strategy
