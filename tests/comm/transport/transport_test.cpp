// The registry of transports: what its rows promise, and where they are offered. That groups work over each of them is
// tested by everything that takes all_transports().
#include "comm/transport/transport.h"
#include "comm/builtin_transports.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "comm/processes.h"

namespace trireme::comm {
namespace {

using Names = std::vector<std::string>;

class TransportRows : public testing::Test {
 protected:
  const Transports transports_ = builtin_transports();
};

TEST_F(TransportRows, AreOfferedWhereUsersKnowThem) {
  EXPECT_EQ(offered_names(transports_, &Offers::train), (Names{"auto", "tcp", "mpi"}));
  EXPECT_EQ(offered_names(transports_, &Offers::bench_train), (Names{"shm", "tcp"}));
  EXPECT_EQ(offered_names(transports_, &Offers::bench_collective), (Names{"shm", "tcp", "tls", "mpi"}));
}

TEST_F(TransportRows, AreComplete) {
  for (const Transport& transport : transports_.rows()) {
    EXPECT_FALSE(transport.summary.empty()) << transport.name;
    EXPECT_TRUE(transport.join) << transport.name;
    if (!transport.launcher) continue;
    EXPECT_FALSE(transport.offered.bench_train) << transport.name << ": train's own launcher cannot start it";
    const Names command = transport.launcher->command(3);
    EXPECT_NE(std::ranges::find(command, transport.launcher->program), command.end()) << transport.name;
    EXPECT_NE(std::ranges::find(command, "3"), command.end()) << transport.name;
  }
}

TEST_F(TransportRows, AProcessAloneJoinsWithoutAnAddress) {
  if (mpi_group()) GTEST_SKIP() << "this process is not alone";
  JoinRequest alone;
  Group group = transports_.get(kAlone).join(alone);
  EXPECT_EQ(group.world(), 1);
  EXPECT_EQ(group.rank(), 0);
  alone.world = 2;
  EXPECT_THROW(transports_.get(kAlone).join(alone), base::Error);
}

TEST_F(TransportRows, FormGroupsAgainWhereTheySaySo) {
  if (mpi_group()) GTEST_SKIP() << "groups over MPI do not form again";
  for (const Transport& transport : transports_.rows()) {
    if (!transport.regroups) continue;
    const Address address = free_address();
    std::vector<Process> ranks;
    for (int rank = 0; rank < 2; ++rank)
      ranks.push_back(start([&] { return transport.join(test_options(address, rank, 2)); },
                            [&](Group& group) {
                              if (rank == 1) _exit(0);  // without leaving the group
                              float value = 1;
                              EXPECT_THROW(for (;;) group.all_reduce(std::span(&value, 1), Reduction::max),
                                           base::Error);
                              throw std::runtime_error(fmt::format("a group of {}", regroup(group).world()));
                            }));
    for (const Process& rank : ranks) EXPECT_EQ(read_until(rank.words, '\n'), "ready") << transport.name;
    EXPECT_EQ(last_words(ranks[0]), "a group of 1") << transport.name;
    last_words(ranks[1]);
  }
}

TEST_F(TransportRows, EncryptWhenAsked) {
  if (mpi_group()) GTEST_SKIP() << "MPI carries messages as it was set up";
  for (const char* name : {"auto", "shm", "tcp"}) {
    const Address address = free_address();
    std::vector<std::string> errors(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, rank] {
        JoinRequest request = test_options(address, rank, 2);
        request.tls = rank == 0;
        request.join_seconds = 2;
        try {
          transports_.get(name).join(request);
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_NE(errors[1].find("was started with --tls, this rank without it"), std::string::npos) << name << errors[1];
  }
}

}  // namespace
}  // namespace trireme::comm
