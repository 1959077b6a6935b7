// Every order and report survives its way as bytes, and bytes that are none are refused.
#include "train/messages/reports.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "train/messages/orders.h"

namespace trireme::train {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<Order> all_orders() {
  return {ComputeOrder{3, 123456789012, 123456789099, 0.125, true, 123456789099},
          EvaluateOrder{true, 7},
          HandOverOrder{3, strategy::StateOwner::servers, false, 123456789012},
          SendStateOrder{},
          ReceiveStateOrder{true, 123456789012},
          ClockOrder{},
          AcknowledgeOrder{},
          SendSpansOrder{},
          SendTrafficOrder{},
          EndOrder{},
          SendUpdatesOrder{}};
}

const StepSums kSums{.loss = -1.5e-300, .correct = 17, .samples = 128, .penalty = 0.1, .lr = 1e-9};

// A clock's nanoseconds are more than a double can count.
std::vector<strategy::WorkerStepReport> notes() {
  return {{{1, 2, 3, 4, 5, 6}, std::numeric_limits<std::int64_t>::max() - 1, true, 9}, {{}, -3, false}};
}

std::vector<Report> all_reports() {
  return {StepMessage{123456789012, kSums, notes(), {{0, 5}, {5, 5}, {5, 8}}},
          PushMessage{3, 42, kSums, 77, 75, notes()},
          ShareRequest{5},
          IntervalEndMessage{2, 11, "1 2f 00 ff"},
          FailureMessage{"cannot read 'x'; \xff\n"},
          EvaluationReply{{1.5, 2.5}, {3}, {4}, {5, 6}},
          TrafficReply{1ULL << 63, 7},
          StateReply{{{3, {5, 123456789012}, 77}, {4, {0, 5}, 78}}},
          Acknowledgement{},
          UpdatesReply{{{0, 5}, {7, 123456789012}}},
          LinksMessage{2, {{"10.0.0.1", "fe80::1", 1e12, 0.25}}}};
}

TEST(Orders, ComeBackAsTheyWere) {
  const std::vector<Order> orders = all_orders();
  ASSERT_EQ(orders.size(), std::variant_size_v<Order>) << "one of each";
  for (std::size_t i = 0; i < orders.size(); ++i) {
    ASSERT_EQ(orders[i].index(), i);
    EXPECT_EQ(decode<Order>(bytes_of(encode(orders[i]))), orders[i]);
    EXPECT_LE(encode(orders[i]).size(), 64u) << "what a receiver has room for";
  }
}

TEST(Orders, HaveNames) {
  std::set<std::string> names;
  for (const Order& order : all_orders()) names.insert(name_of(order));
  EXPECT_EQ(names.size(), std::variant_size_v<Order>);
  EXPECT_EQ(name_of(HandOverOrder{}), "hand over");
}

TEST(Orders, SharesAndLimitsComeBack) {
  const ShareReply share{5, {1, 3}};
  const LimitMessage limit{1, 2, 3};
  EXPECT_EQ(decode<ShareReply>(bytes_of(encode(share))), share);
  EXPECT_EQ(decode<LimitMessage>(bytes_of(encode(limit))), limit);
}

void expect_equal(const std::vector<strategy::WorkerStepReport>& found,
                  const std::vector<strategy::WorkerStepReport>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].seconds, wanted[i].seconds);
    EXPECT_EQ(found[i].arrived_ns, wanted[i].arrived_ns);
    EXPECT_EQ(found[i].wants_stop, wanted[i].wants_stop);
    EXPECT_EQ(found[i].under_way, wanted[i].under_way);
  }
}

TEST(Reports, ComeBackAsTheyWere) {
  const std::vector<Report> reports = all_reports();
  ASSERT_EQ(reports.size(), std::variant_size_v<Report>) << "one of each";
  std::vector<Report> back;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    ASSERT_EQ(reports[i].index(), i);
    back.push_back(decode<Report>(bytes_of(encode(reports[i]))));
    EXPECT_EQ(encode(back[i]), encode(reports[i]));
  }
  const auto& step = std::get<StepMessage>(back[0]);
  EXPECT_EQ(step.step, 123456789012);
  EXPECT_EQ(step.sums, kSums);
  expect_equal(step.notes, notes());
  EXPECT_EQ(step.shares, (std::vector<base::Range>{{0, 5}, {5, 5}, {5, 8}}));
  const auto& push = std::get<PushMessage>(back[1]);
  EXPECT_EQ(push.pusher, 3);
  EXPECT_EQ(push.step, 42);
  EXPECT_EQ(push.sums, kSums);
  EXPECT_EQ(push.clock, 77);
  EXPECT_EQ(push.slowest, 75);
  expect_equal(push.notes, notes());
  EXPECT_EQ(std::get<ShareRequest>(back[2]).pusher, 5);
  EXPECT_EQ(std::get<IntervalEndMessage>(back[3]).worker, 2);
  EXPECT_EQ(std::get<IntervalEndMessage>(back[3]).synchronisations, 11);
  EXPECT_EQ(std::get<IntervalEndMessage>(back[3]).ledger, "1 2f 00 ff");
  EXPECT_EQ(std::get<FailureMessage>(back[4]).sentence, "cannot read 'x'; \xff\n");
  EXPECT_EQ(std::get<EvaluationReply>(back[5]).losses, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(std::get<EvaluationReply>(back[5]).corrects, (std::vector<double>{3}));
  EXPECT_EQ(std::get<TrafficReply>(back[6]).sent, 1ULL << 63);
  EXPECT_EQ(std::get<TrafficReply>(back[6]).received, 7u);
}

TEST(Reports, OfALossThatIsNoNumber) {
  const auto loss_of = [](double loss) {
    StepMessage message;
    message.sums.loss = loss;
    return std::get<StepMessage>(decode<Report>(bytes_of(encode(Report(message))))).sums.loss;
  };
  EXPECT_TRUE(std::isnan(loss_of(std::nan(""))));
  EXPECT_TRUE(std::isinf(loss_of(HUGE_VAL)));
}

template <class RoleMessages>
void expect_only_whole(const std::vector<RoleMessages>& all) {
  for (const RoleMessages& one : all) {
    const std::string bytes = encode(one);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_THROW((void)decode<RoleMessages>(bytes_of(bytes.substr(0, length))), base::Error) << length;
    EXPECT_THROW((void)decode<RoleMessages>(bytes_of(bytes + '\0')), base::Error);
    EXPECT_THROW((void)decode<RoleMessages>(bytes_of('\x7f' + bytes.substr(1))), base::Error) << "no such kind";
  }
}

TEST(Orders, OfAWrongLengthAreNone) { expect_only_whole(all_orders()); }
TEST(Reports, OfAWrongLengthAreNone) { expect_only_whole(all_reports()); }

// A damaged length must not be believed before memory is taken for it.
TEST(Reports, OfAnAbsurdLengthAreNone) {
  std::string bytes = encode(Report(FailureMessage{"x"}));
  bytes[8] = '\x7f';
  EXPECT_THROW((void)decode<Report>(bytes_of(bytes)), base::Error);
}

}  // namespace
}  // namespace trireme::train
