// What somebody on the network puts between the messages of a job: it has no effect, without TLS too. A relay stands
// between rank 1 and the group's rendezvous.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/system/clock.h"
#include "comm/processes.h"
#include "comm/relay.h"
#include "comm/transport/tcp/frame.h"
#include "comm/transport/tcp/handshake.h"
#include "support/core_errors.h"

namespace trireme::comm {
namespace {

using support::contains;

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr auto kTimeToAct = 500ms;  // for a message that has an effect to have it

// A flag that parent and children see.
class SharedFlag {
 public:
  SharedFlag()
      : flag_(new (mmap(nullptr, sizeof(Flag), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                  Flag(false)) {}
  ~SharedFlag() { munmap(flag_, sizeof(Flag)); }
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;
  void set() { *flag_ = true; }
  bool is_set() const { return *flag_; }

 private:
  using Flag = std::atomic<bool>;
  Flag* flag_;
};

// Ranks that add up until they are told to end; rank 1 meets the others through the relay.
class WatchedRanks {
 public:
  WatchedRanks(const std::string& transport, int world) {
    const Address address = free_address(), by = free_address();
    for (int rank = 0; rank < world; ++rank) {
      JoinOptions options = test_options(rank == 1 ? by : address, rank, world);
      choose_transport(options, transport);
      processes_.push_back(start(options, [this](Group& group) {
        for (float ends = 0; ends == 0;) {
          ends = end_.is_set() ? 1.0f : 0.0f;
          group.all_reduce(std::span(&ends, 1), Reduction::max);
          std::this_thread::sleep_for(1ms);
        }
        if (group.is_broken()) throw std::runtime_error(group.why_broken());
      }));
    }
    relay_.emplace(address, std::string::npos, by);
    for (const Process& one : processes_) EXPECT_EQ(read_until(one.words, '\n'), "ready");
  }

  Relay& relay() { return *relay_; }
  const Process& process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }

  void expect_done() {
    std::this_thread::sleep_for(kTimeToAct);
    end_.set();
    for (const Process& one : processes_) EXPECT_EQ(last_words(one), "done");
  }

 private:
  SharedFlag end_;
  std::vector<Process> processes_;
  std::optional<Relay> relay_;
};

TEST(Forgery, AVerdictIsRefused) {
  for (const std::string transport : {"shm", "tcp"}) {
    WatchedRanks ranks(transport, 2);
    const std::string verdict = Json{{"do", "verdict"}, {"rank", 0}, {"text", "rank 0 said something forged"}}.dump();
    ranks.relay().forge_to_guests(make_frame(verdict));
    ranks.relay().forge_to_guests(make_frame(std::string(16, 'x') + verdict));  // with room for a code that is a guess
    ranks.expect_done();
  }
}

TEST(Forgery, ALeaveIsRefused) {
  WatchedRanks ranks("shm", 2);
  ranks.relay().forge_to_guests(make_frame(R"({"do":"left","rank":0})"));
  ranks.expect_done();
}

TEST(Forgery, AReportAboutARankIsRefused) {
  for (const std::string transport : {"shm", "tcp"}) {
    WatchedRanks ranks(transport, 2);
    ranks.relay().forge_to_hosts(make_frame(R"({"do":"report","rank":1,"what":"something forged"})"));
    ranks.expect_done();
  }
}

// A list of ranks that is told again would make rank 1 deaf to what happens to the group that it is in.
TEST(Forgery, AReplayIsRefused) {
  for (const std::string transport : {"shm", "tcp"}) {
    WatchedRanks ranks(transport, 3);
    const std::string all = ranks.relay().seen_of_hosts();
    ranks.relay().forge_to_guests(all.substr(kGreetingBytes + sizeof(base::Digest)));  // what followed the handshake
    std::this_thread::sleep_for(kTimeToAct);
    kill(ranks.process(2).number, SIGKILL);
    for (const int rank : {0, 1}) {
      const std::string words = last_words(ranks.process(rank));
      EXPECT_TRUE(contains(words, fmt::format("rank 2 (process {}", ranks.process(2).number))) << words;
    }
    last_words(ranks.process(2));
  }
}

}  // namespace
}  // namespace trireme::comm
