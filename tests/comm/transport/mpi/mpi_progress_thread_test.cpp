// The progress thread against a made-up MPI, of which the test plays the other rank: order, blocks, back-pressure, what
// is sent before the end, and what a start that fails says.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/system/clock.h"
#include "comm/transport/mpi/mpi_progress_thread.h"

namespace trireme::comm {
namespace {

constexpr double kPatience = 10;
const std::size_t kRing = MpiChannel::ring_bytes(2), kBlock = kRing / MpiChannel::kBlocks;

// This process is rank 0 of 2, with one link set. Messages of rank 0 are kept in `sent`; `give` is one of rank 1.
struct FakeMpi {
  struct Room {
    void* bytes = nullptr;
    int most = 0;
  };
  std::mutex mutex;
  std::string refusal;
  std::vector<std::vector<std::byte>> sent;
  std::map<int, int> ended;  // slots, and how many bytes they received
  std::map<int, Room> rooms;
  bool finished = false;

  bool may_give() {
    const std::lock_guard lock(mutex);
    return !rooms.empty();
  }
  // Into the room that was made for it; false where there is none.
  bool give(std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex);
    if (rooms.empty()) return false;
    const auto [slot, room] = *rooms.begin();
    EXPECT_LE(bytes.size(), static_cast<std::size_t>(room.most));
    if (!bytes.empty()) std::memcpy(room.bytes, bytes.data(), bytes.size());
    rooms.erase(slot);
    ended[slot] = static_cast<int>(bytes.size());
    return true;
  }
  std::vector<std::byte> all_sent() {
    const std::lock_guard lock(mutex);
    std::vector<std::byte> all;
    for (const auto& one : sent) all.insert(all.end(), one.begin(), one.end());
    return all;
  }
};

FakeMpi* fake = nullptr;  // of the test that runs

const MpiCalls kFakeCalls{kMpiCallsVersion,
                          [](int, int* rank, int* world) -> const char* {
                            *rank = 0;
                            *world = 2;
                            return fake->refusal.empty() ? nullptr : fake->refusal.c_str();
                          },
                          [](int* of_rank) -> const char* {
                            of_rank[0] = of_rank[1] = 0;
                            return nullptr;
                          },
                          [](int slot, const void* bytes, int count, int to, int) -> const char* {
                            const std::lock_guard lock(fake->mutex);
                            EXPECT_EQ(to, 1);
                            const auto* first = static_cast<const std::byte*>(bytes);
                            fake->sent.emplace_back(first, first + count);
                            fake->ended[slot] = 0;
                            return nullptr;
                          },
                          [](int slot, void* bytes, int most, int from, int) -> const char* {
                            const std::lock_guard lock(fake->mutex);
                            EXPECT_EQ(from, 1);
                            EXPECT_TRUE(fake->rooms.empty()) << "one at a time";
                            fake->rooms[slot] = {bytes, most};
                            return nullptr;
                          },
                          [](int* ended, int* slots, int* bytes) -> const char* {
                            const std::lock_guard lock(fake->mutex);
                            *ended = 0;
                            for (const auto& [slot, count] : fake->ended) {
                              slots[*ended] = slot;
                              bytes[(*ended)++] = count;
                            }
                            fake->ended.clear();
                            return nullptr;
                          },
                          []() -> const char* {
                            fake->finished = true;
                            return nullptr;
                          },
                          [](int) { FAIL() << "aborted"; }};

class MpiProgressThreadTest : public testing::Test {
 protected:
  MpiProgressThreadTest() { fake = &mpi; }
  ~MpiProgressThreadTest() override { fake = nullptr; }

  template <class Done>
  static bool wait_for(const Done& is_done) {
    for (const std::int64_t start = base::now_ns(); base::seconds_since(start) < kPatience;) {
      if (is_done()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  static std::vector<std::byte> numbers(std::size_t count) {
    std::vector<std::byte> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::byte>(i * 7 % 251);
    return all;
  }

  FakeMpi mpi;
};

TEST_F(MpiProgressThreadTest, WhatIsReceivedWaitsForRoom) {
  MpiProgressThread progress_thread(kFakeCalls, 1);
  const auto links = progress_thread.links(0);
  const auto data = numbers(3 * kRing + 1000);
  // Until nobody asks for more.
  std::size_t given = 0;
  const auto give = [&] {
    const std::size_t in_block = kBlock - given % kBlock;
    const std::size_t count = std::min({data.size() - given, in_block, given % 3 == 0 ? in_block : 1000});
    if (!mpi.give(std::span(data).subspan(given, count))) return false;
    given += count;
    return true;
  };
  while (wait_for([&] { return mpi.may_give(); }) && give() && given < kRing) continue;
  EXPECT_EQ(given, kRing);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(mpi.may_give()) << "there is no room";
  std::vector<std::byte> got(data.size());
  std::size_t come = 0;
  EXPECT_TRUE(wait_for([&] {
    come += links[1]->receive(std::span(got).subspan(come));
    while (given < data.size() && give()) continue;
    return come == data.size();
  }));
  EXPECT_TRUE(got == data);
  ASSERT_TRUE(wait_for([&] { return mpi.give({}); }));  // the other leaves
  EXPECT_TRUE(wait_for([&] { return progress_thread.alarm()->has_left(1); }));
}

TEST_F(MpiProgressThreadTest, WhatWasSentGoesBeforeTheEnd) {
  const auto data = numbers(kRing + 100000);
  std::thread leaver([&] { EXPECT_TRUE(wait_for([&] { return !mpi.all_sent().empty() && mpi.give({}); })); });
  {
    MpiProgressThread progress_thread(kFakeCalls, 1);
    const auto links = progress_thread.links(0);
    std::size_t done = 0;
    EXPECT_TRUE(wait_for([&] {
      done += links[1]->send(std::span(data).subspan(done));
      return done == data.size();
    }));
  }
  leaver.join();
  EXPECT_TRUE(mpi.finished);
  EXPECT_TRUE(mpi.all_sent() == data);
  ASSERT_FALSE(mpi.sent.empty());
  EXPECT_TRUE(mpi.sent.back().empty()) << "the last piece";
  std::size_t at = 0;
  for (const auto& piece : mpi.sent) {
    EXPECT_LE(at % kBlock + piece.size(), kBlock) << "a piece of " << piece.size() << " at " << at;
    at += piece.size();
  }
}

TEST_F(MpiProgressThreadTest, AStartThatFailsIsASentence) {
  mpi.refusal = "this MPI was built without support for threads";
  try {
    const MpiProgressThread progress_thread(kFakeCalls, 1);
    ADD_FAILURE() << "it started";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "MPI cannot be started: this MPI was built without support for threads");
  }
}

}  // namespace
}  // namespace trireme::comm
