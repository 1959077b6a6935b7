// Slow threads hand their members over: all work is done once, by one thread at a time, and makes the same bits.
#include "crew/member_exchange.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"
#include "crew/segment_times.h"
#include "support/core_crew_run.h"
#include "support/core_networks.h"

namespace trireme::crew {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kSegments = 60, kSegmentNs = 500'000;

// Member i is done when it has as many segments as all; plain numbers, so that the thread sanitizer sees the handover.
struct Work {
  std::vector<std::int64_t> done;
  std::int64_t left(int member) const { return (kSegments - done[static_cast<std::size_t>(member)]) * kSegmentNs; }
};

void work(MemberExchange& exchange, base::EventCount& events, Work& all, int thread, std::chrono::microseconds pace) {
  int member = thread;
  std::int64_t done = 0, took = 0;
  bool worked = true;
  for (;;) {
    const std::uint32_t seen = events.latest();
    member = member == MemberExchange::kNone
                 ? exchange.received(thread)
                 : exchange.between(thread, member, {all.left(member), done, took, !worked});
    worked = member != MemberExchange::kNone && all.left(member) > 0;
    if (worked) {
      std::this_thread::sleep_for(pace);
      ++all.done[static_cast<std::size_t>(member)];
      done += kSegmentNs;
      took += std::chrono::nanoseconds(pace).count();
    } else if (member != MemberExchange::kNone && exchange.leave(thread)) {
      return;
    } else {
      events.wait_after(seen);
    }
  }
}

TEST(MemberExchange, AllWorkIsDoneOnceWhoeverIsSlow) {
  for (const int threads : {2, 3, 5})
    for (const int slow : {0, threads - 1}) {
      base::EventCount events(true, false);
      MemberExchange exchange(threads, events);
      exchange.start(kSegments * kSegmentNs);
      Work all{std::vector<std::int64_t>(static_cast<std::size_t>(threads), 0)};
      std::vector<std::thread> others;
      for (int t = 0; t < threads; ++t)
        others.emplace_back([&, t] { work(exchange, events, all, t, t == slow ? 3ms : 500us); });
      for (std::thread& other : others) other.join();
      for (const std::int64_t done : all.done) EXPECT_EQ(done, kSegments);
      EXPECT_GT(exchange.count(), 0) << threads << " threads";
    }
}

TEST(MemberExchange, NothingIsExchangedBetweenEquals) {
  base::EventCount events(true, false);
  MemberExchange exchange(2, events);
  exchange.start(100);
  EXPECT_EQ(exchange.between(0, 0, {50, 50, 50, true}), 0);
  EXPECT_EQ(exchange.between(1, 1, {90, 10, 11, true}), 1);
  EXPECT_EQ(exchange.between(0, 0, {40, 60, 60, true}), 0) << "asks for nothing: the other one is behind, not slow";
  EXPECT_EQ(exchange.between(1, 1, {80, 20, 22, true}), 1);
  EXPECT_TRUE(exchange.leave(0));
  EXPECT_EQ(exchange.count(), 0);
}

TEST(MemberExchange, StationsAreSwapped) {
  base::EventCount events(true, false);
  MemberExchange exchange(2, events);
  exchange.start(100);
  EXPECT_EQ(exchange.between(1, 1, {80, 20, 40, false}), 1);
  EXPECT_EQ(exchange.between(0, 0, {60, 40, 40, true}), 0) << "asks";
  EXPECT_EQ(exchange.between(1, 1, {70, 30, 60, false}), MemberExchange::kNone) << "gives";
  EXPECT_EQ(exchange.received(1), MemberExchange::kNone);
  EXPECT_FALSE(exchange.leave(0)) << "a station is on its way";
  EXPECT_EQ(exchange.between(0, 0, {50, 50, 50, true}), 1) << "takes, and gives its own";
  EXPECT_EQ(exchange.received(1), 0);
  EXPECT_EQ(exchange.count(), 1);
}

TEST(MemberExchange, AQuestionIsTakenBack) {
  base::EventCount events(true, false);
  MemberExchange exchange(2, events);
  exchange.start(100);
  exchange.between(1, 1, {80, 20, 40, false});
  exchange.between(0, 0, {60, 40, 40, true});
  EXPECT_TRUE(exchange.leave(0));
  EXPECT_EQ(exchange.between(1, 1, {70, 30, 60, false}), 1) << "nobody wants it any more";
}

TEST(SegmentTimes, TheFastestStationCounts) {
  SegmentTimes pace(3);
  EXPECT_EQ(pace.whole(), 0);
  for (int step = 0; step < 2; ++step) {
    pace.age();
    pace.see(std::vector<std::int64_t>{10, 50, 7});
    pace.see(std::vector<std::int64_t>{20, 5, 7});
    EXPECT_EQ(pace.whole(), 22);
    EXPECT_EQ(pace.from(1), 12);
    EXPECT_EQ(pace.of(1), 5);
    EXPECT_EQ(pace.from(3), 0);
  }
}

TEST(SegmentTimes, OneSlowStepIsChanceManyAreNot) {
  SegmentTimes pace(1);
  pace.see(std::vector<std::int64_t>{1'000'000});
  const auto slow_step = [&] {
    pace.age();
    pace.see(std::vector<std::int64_t>{2'000'000});
  };
  slow_step();
  EXPECT_LT(pace.whole(), 1'050'000);
  for (int step = 0; step < 30; ++step) slow_step();
  EXPECT_EQ(pace.whole(), 2'000'000);
}

// Hands values on, and takes its time on one thread.
class SluggishKernel : public ops::Kernel {
 public:
  SluggishKernel(const ops::KernelRequest& request, std::thread::id slow) : slow_(slow) {
    plan_.src = {request.src[0]};
    plan_.dst = request.src[0];
  }
  std::string implementation() const override { return "sluggish"; }
  void forward(const ops::KernelArgs& args, ops::KernelState*, ops::OarRun&) const override {
    hand_on(args.src[0], args.dst);
  }
  void backward(const ops::KernelArgs& args, ops::KernelState*, ops::OarRun&) const override {
    if (args.diff_src[0] != nullptr) hand_on(args.diff_dst, args.diff_src[0]);
  }

 private:
  void hand_on(const float* from, float* to) const {
    std::this_thread::sleep_for(std::this_thread::get_id() == slow_ ? 2ms : 300us);
    std::memcpy(to, from, static_cast<std::size_t>(plan_.dst.elements()) * sizeof(float));
  }
  std::thread::id slow_;
};

class Sluggish : public ops::Op {
 public:
  explicit Sluggish(std::thread::id slow) : slow_(slow) {}
  std::string_view kind() const override { return "sluggish"; }
  ops::Shape output(std::span<const ops::Shape> src) const override { return src[0]; }
  std::unique_ptr<ops::Kernel> compile(const ops::KernelRequest& request) const override {
    return std::make_unique<SluggishKernel>(request, slow_);
  }
  void reference_forward(ops::Reference& r) const override { r.dst = r.src[0]; }
  void reference_backward(ops::Reference& r) const override { r.diff_src[0] = r.diff_dst; }

 private:
  std::thread::id slow_;
};

graph::Network sluggish_network(std::thread::id slow) {
  graph::Network net("sluggish");
  graph::Value x = net.input("x", {6});
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    x = net.add("dense" + n, ops::dense({.outputs = 9}), {x});
    x = net.add("tanh" + n, ops::tanh(), {x});
    x = net.add("sluggish" + n, std::make_shared<Sluggish>(slow), {x});
  }
  support::classify(net, x);
  return net;
}

TEST(Crew, SameBitsWhenStationsAreExchanged) {
  const graph::Network slow = sluggish_network(std::this_thread::get_id());
  std::int64_t exchanges = 0;
  for (const OarSchedule schedule : {OarSchedule::oar_by_oar, OarSchedule::layer_by_layer}) {
    CrewOptions options;
    options.batch = 11;
    options.oars = 6;
    options.schedule = schedule;
    const auto train = [&](int threads) {
      options.threads = threads;
      support::CrewRun run(slow, options);
      for (std::uint64_t step = 0; step < 6; ++step) exchanges += run.step_passing(step == 4 ? 5 : 11, step).exchanges;
      return run.hash();
    };
    const std::string one = train(1);
    for (const int threads : {2, 3, 6}) EXPECT_EQ(train(threads), one) << threads << " threads";
  }
  EXPECT_GT(exchanges, 0);
}

}  // namespace
}  // namespace trireme::crew
