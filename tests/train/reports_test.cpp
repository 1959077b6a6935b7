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
  return {RowOrder{3, 123456789012, 123456789099, 0.125, true},
          EvaluateOrder{true, 7},
          HandOverOrder{3, strategy::StateOwner::servers, false, 123456789012},
          GiveStateOrder{},
          TakeStateOrder{true, 123456789012},
          ClockOrder{},
          SayDoneOrder{},
          SendTraceOrder{},
          SendTrafficOrder{},
          EndOrder{}};
}

const StepSums kSums{.loss = -1.5e-300, .correct = 17, .samples = 128, .penalty = 0.1, .lr = 1e-9};

// A clock's nanoseconds are more than a double can count.
std::vector<strategy::Note> notes() {
  return {{{1, 2, 3, 4, 5, 6}, std::numeric_limits<std::int64_t>::max() - 1, true, 9}, {{}, -3, false}};
}

std::vector<Report> all_reports() {
  return {StepNews{123456789012, kSums, notes(), {{0, 5}, {5, 5}, {5, 8}}},
          PushNews{3, 42, kSums, 77, 75, notes()},
          ShareRequest{5},
          StretchNews{2, 11, "1 2f 00 ff"},
          FailureNews{"cannot read 'x'; \xff\n"},
          EvaluationNews{{1.5, 2.5}, {3}},
          TrafficNews{1ULL << 63, 7},
          TraceNews{std::string("\0packed", 7)},
          StateNews{{{3, {5, 123456789012}, 77}, {4, {0, 5}, 78}}},
          DoneNews{}};
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
  const ShareAnswer share{5, {1, 3}};
  const LimitNews limit{1, 2, 3};
  EXPECT_EQ(decode<ShareAnswer>(bytes_of(encode(share))), share);
  EXPECT_EQ(decode<LimitNews>(bytes_of(encode(limit))), limit);
}

void expect_equal(const std::vector<strategy::Note>& found, const std::vector<strategy::Note>& wanted) {
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
  const auto& step = std::get<StepNews>(back[0]);
  EXPECT_EQ(step.step, 123456789012);
  EXPECT_EQ(step.sums, kSums);
  expect_equal(step.notes, notes());
  EXPECT_EQ(step.shares, (std::vector<base::Range>{{0, 5}, {5, 5}, {5, 8}}));
  const auto& push = std::get<PushNews>(back[1]);
  EXPECT_EQ(push.pusher, 3);
  EXPECT_EQ(push.step, 42);
  EXPECT_EQ(push.sums, kSums);
  EXPECT_EQ(push.clock, 77);
  EXPECT_EQ(push.slowest, 75);
  expect_equal(push.notes, notes());
  EXPECT_EQ(std::get<ShareRequest>(back[2]).pusher, 5);
  EXPECT_EQ(std::get<StretchNews>(back[3]).worker, 2);
  EXPECT_EQ(std::get<StretchNews>(back[3]).synchronisations, 11);
  EXPECT_EQ(std::get<StretchNews>(back[3]).ledger, "1 2f 00 ff");
  EXPECT_EQ(std::get<FailureNews>(back[4]).sentence, "cannot read 'x'; \xff\n");
  EXPECT_EQ(std::get<EvaluationNews>(back[5]).losses, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(std::get<EvaluationNews>(back[5]).corrects, (std::vector<double>{3}));
  EXPECT_EQ(std::get<TrafficNews>(back[6]).sent, 1ULL << 63);
  EXPECT_EQ(std::get<TrafficNews>(back[6]).received, 7u);
  EXPECT_EQ(std::get<TraceNews>(back[7]).packed, std::string("\0packed", 7));
}

TEST(Reports, OfALossThatIsNoNumber) {
  const auto loss_of = [](double loss) {
    StepNews news;
    news.sums.loss = loss;
    return std::get<StepNews>(decode<Report>(bytes_of(encode(Report(news))))).sums.loss;
  };
  EXPECT_TRUE(std::isnan(loss_of(std::nan(""))));
  EXPECT_TRUE(std::isinf(loss_of(HUGE_VAL)));
}

template <class Mail>
void expect_only_whole(const std::vector<Mail>& all) {
  for (const Mail& one : all) {
    const std::string bytes = encode(one);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_THROW((void)decode<Mail>(bytes_of(bytes.substr(0, length))), base::Error) << length;
    EXPECT_THROW((void)decode<Mail>(bytes_of(bytes + '\0')), base::Error);
    EXPECT_THROW((void)decode<Mail>(bytes_of('\x7f' + bytes.substr(1))), base::Error) << "no such kind";
  }
}

TEST(Orders, OfAWrongLengthAreNone) { expect_only_whole(all_orders()); }
TEST(Reports, OfAWrongLengthAreNone) { expect_only_whole(all_reports()); }

// A damaged length must not be believed before memory is taken for it.
TEST(Reports, OfAnAbsurdLengthAreNone) {
  std::string bytes = encode(Report(FailureNews{"x"}));
  bytes[8] = '\x7f';
  EXPECT_THROW((void)decode<Report>(bytes_of(bytes)), base::Error);
}

}  // namespace
}  // namespace trireme::train
