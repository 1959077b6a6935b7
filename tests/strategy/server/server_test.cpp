// A server alone, with workers that are nothing but messages: what becomes of each push is known exactly.
#include "strategy/server/server.h"

#include <gtest/gtest.h>

#include <cstring>
#include <latch>

#include "strategy/cluster.h"
#include "strategy/server/hand_over.h"
#include "strategy/server/server_protocol.h"

namespace trireme::strategy {
namespace {

const std::atomic<bool> kNoStop{false};

// Two buckets of one chunk each, and statistics.
constexpr std::int64_t kHalf = 40, kTrained = 2 * kHalf, kAll = kTrained + 16;
const std::vector<WireBucket> kBuckets = {{{0, kHalf}, {0, 1}}, {{kHalf, kTrained}, {1, 2}}, {{kTrained, kAll}, {}}};

ShardMap small_map() {
  return {{0, kTrained}, {0, kAll}, 0, {{0, kHalf, 0}, {kHalf, kHalf, 0}}, {{kTrained, 8, 0.5}}, {2}};
}

class Pusher {
 public:
  Pusher(comm::Group& group, const RoleMap& roles, const std::vector<WireBucket>& buckets = kBuckets)
      : mailbox_(group.mailbox()), server_(roles.process_of_server(0)) {
    BeginHead head;
    head.buckets = static_cast<std::int64_t>(buckets.size());
    head.oars = 1;
    head.is_exact = 1;
    send_one(mailbox_, server_, kBeginTag, head);
    send_array<WireBucket>(mailbox_, server_, kBeginTag, buckets);
  }
  // Returns the reply: the bucket's weights after it was applied.
  std::vector<float> push(int bucket, float value, std::int64_t samples = 1) {
    const comm::Tag lane = static_cast<comm::Tag>(bucket % kLanes);
    RequestHead head{
        .request = RequestKind::push, .bucket = bucket, .partials = 1, .samples = samples, .step = 1, .lr = 1};
    std::vector<float> floats(static_cast<std::size_t>(kBuckets[static_cast<std::size_t>(bucket)].floats.size()),
                              value);
    send_one(mailbox_, server_, kPushTag + lane, head);
    send_array<float>(mailbox_, server_, kPushTag + lane, floats);
    receive_array<float>(mailbox_, server_, kReplyTag + lane, floats, kNoStop);
    return floats;
  }
  void end() {
    for (int lane = 0; lane < kLanes; ++lane)
      send_one(mailbox_, server_, kPushTag + static_cast<comm::Tag>(lane), RequestHead{});
  }

 private:
  comm::Mailbox& mailbox_;
  int server_;
};

std::vector<float> serve_pushes(const RoleMap& roles, const std::function<void(Pusher&, int worker)>& body) {
  std::vector<comm::Group> groups = comm::inproc_groups(roles.world(), 20);
  const std::shared_ptr<const optim::Optimizer> optimizer = optim::make_optimizer("sgd:lr=1,momentum=0");
  std::vector<float> weights;
  const auto errors = run_cluster(
      groups, roles,
      [&](comm::Group& group, int worker) {
        if (worker == 0) {
          const ShardMap map = small_map();
          const std::vector<float> zeros(static_cast<std::size_t>(kAll));
          OptimizerState state(optimizer, map.trained);
          send_shard(group.mailbox(), roles.process_of_server(0), map, zeros.data(), state);
        }
        Pusher pusher(group, roles);
        body(pusher, worker);
        pusher.end();
      },
      [&](comm::Group& group, int k) {
        Server server(group, roles, k, optimizer, 0);
        server.take_over();
        server.serve({.synchronous = false})->run();
        weights.assign(server.weights().begin(), server.weights().end());
      });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  return weights;
}

// Whole numbers, so that the order does not matter.
TEST(Server, AppliesEveryPush) {
  for (const bool apart : {false, true}) {
    const RoleMap roles{3, 1, apart};
    const auto weights = serve_pushes(roles, [](Pusher& pusher, int worker) {
      for (int i = 0; i < 50 * (worker + 1); ++i) pusher.push(i % 2, static_cast<float>(worker + 1));
    });
    ASSERT_EQ(weights.size(), static_cast<std::size_t>(kAll));
    const float each = -(25 * 1 + 50 * 2 + 75 * 3);
    for (std::int64_t i = 0; i < kTrained; ++i) EXPECT_EQ(weights[static_cast<std::size_t>(i)], each) << i;
  }
}

TEST(Server, RepliesWithItsWeightsAndWaitsForNobody) {
  std::latch others_are_done(2);
  const auto weights = serve_pushes({3, 1, true}, [&](Pusher& pusher, int worker) {
    if (worker == 0) {
      others_are_done.wait();
      EXPECT_EQ(pusher.push(0, 1)[5], -41);
      return;
    }
    for (int i = 0; i < 20; ++i) {
      const float seen = pusher.push(0, 1)[5];
      EXPECT_LE(seen, static_cast<float>(-1 - i));
      EXPECT_GE(seen, static_cast<float>(-21 - i));
    }
    others_are_done.count_down();
  });
  EXPECT_EQ(weights[0], -41);
  EXPECT_EQ(weights[kHalf], 0);
}

TEST(Server, EachPushMovesStatisticsByItsPart) {
  const auto weights = serve_pushes({2, 1, true}, [](Pusher& pusher, int worker) {
    if (worker == 0) return;
    EXPECT_EQ(pusher.push(2, 24, 3)[0], 2);  // a quarter of 24 / 3
    EXPECT_EQ(pusher.push(2, 24, 3)[7], 3.5);
  });
  EXPECT_EQ(weights[kTrained], 3.5);
  EXPECT_EQ(weights[kTrained + 8], 0);  // is no statistic that moves
}

TEST(Server, RefusesAnEncodingItCannotRead) {
  const RoleMap roles{1, 1, true};
  std::vector<comm::Group> groups = comm::inproc_groups(roles.world(), 20);
  const std::shared_ptr<const optim::Optimizer> optimizer = optim::make_optimizer("sgd:lr=1,momentum=0");
  const auto errors = run_cluster(
      groups, roles,
      [&](comm::Group& group, int) {
        const std::vector<float> zeros(static_cast<std::size_t>(kAll));
        OptimizerState state(optimizer, small_map().trained);
        send_shard(group.mailbox(), roles.process_of_server(0), small_map(), zeros.data(), state);
        std::vector<WireBucket> buckets = kBuckets;
        buckets[1].encoding = static_cast<tensor::ElementType>(77);
        Pusher(group, roles, buckets);
      },
      [&](comm::Group& group, int k) {
        Server server(group, roles, k, optimizer, 0);
        server.take_over();
        server.serve({.synchronous = false})->run();
      });
  std::string all;
  for (const std::string& error : errors) all += error;
  EXPECT_NE(all.find("worker 0 sends bucket 1 of server 0 as an unknown element type (number 77), the server reads "
                     "float32 only"),
            std::string::npos)
      << all;
}

}  // namespace
}  // namespace trireme::strategy
