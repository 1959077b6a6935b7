// Groups of every kind for tests: run(rank's group) in a thread per rank; what a rank throws is told to the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/builtin_transports.h"
#include "comm/membership/join.h"
#include "comm/transport/inproc.h"
#include "comm/transport/transport.h"

namespace trireme::comm {

inline constexpr double kTestDeadline = 20;

// The errors by rank; empty where there was none.
inline std::vector<std::string> run_ranks(std::vector<Group>& groups, const std::function<void(Group&)>& body) {
  std::vector<std::string> errors(groups.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < groups.size(); ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(groups[rank]);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline Address free_address() { return {"127.0.0.1", unused_port()}; }

inline JoinOptions test_options(const Address& address, int rank, int world) {
  JoinOptions options;
  options.address = address;
  options.token = "a token";
  options.rank = rank;
  options.world = world;
  options.join_seconds = options.deadline_seconds = kTestDeadline;
  return options;
}

inline void choose_transport(JoinOptions& options, const std::string& transport) {
  options.only_tcp = transport == "tcp" || transport == "tls";
  options.tls = transport == "tls";
}

// Over "inproc", or any transport that needs no launcher; the ranks of all are threads of this process.
inline std::vector<Group> make_groups(const std::string& name, int world) {
  if (name == "inproc") return inproc_groups(world, kTestDeadline);
  const Transports transports = builtin_transports();
  const Transport& transport = transports.get(name);
  const Address address = free_address();
  std::vector<std::unique_ptr<Group>> made(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] {
      try {
        made[static_cast<std::size_t>(rank)] =
            std::make_unique<Group>(transport.join(test_options(address, rank, world)));
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<Group> groups;
  for (auto& group : made)
    if (group) groups.push_back(std::move(*group));
  return groups;
}

inline void run_world(std::vector<Group> groups, const std::function<void(Group&)>& body) {
  const auto errors = run_ranks(groups, body);
  for (std::size_t rank = 0; rank < errors.size(); ++rank) EXPECT_EQ(errors[rank], "") << "rank " << rank;
}

// Under mpirun this process is one rank, and has one group for all its tests (main.cpp).
inline Group*& mpi_group() {
  static Group* group = nullptr;
  return group;
}
// Each kind of link: those that `bench collective` compares, and inproc.
inline std::vector<std::string> all_transports() {
  if (mpi_group()) return {"mpi"};
  std::vector<std::string> names{"inproc"};
  const Transports transports = builtin_transports();
  for (const Transport& transport : transports.rows())
    if (transport.offered.bench_collective && !transport.launcher) names.push_back(transport.name);
  return names;
}
inline std::vector<int> worlds_of(const std::vector<int>& worlds) {
  return mpi_group() ? std::vector{mpi_group()->world()} : worlds;
}

// As run_world(), over any transport.
inline void run_over(const std::string& transport, int world, const std::function<void(Group&)>& body) {
  if (transport != "mpi") return run_world(make_groups(transport, world), body);
  try {
    body(*mpi_group());
  } catch (const std::exception& error) {
    ADD_FAILURE() << "rank " << mpi_group()->rank() << ": " << error.what();
  }
}

}  // namespace trireme::comm
