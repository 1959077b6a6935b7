// Groups of every kind for tests: run(rank's group) in a thread per rank; what a rank throws is told to the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/inproc.h"

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

inline void run_world(std::vector<Group> groups, const std::function<void(Group&)>& body) {
  const auto errors = run_ranks(groups, body);
  for (std::size_t rank = 0; rank < errors.size(); ++rank) EXPECT_EQ(errors[rank], "") << "rank " << rank;
}

}  // namespace trireme::comm
