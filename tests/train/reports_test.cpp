// Reports survive their way as numbers, whatever they hold.
#include "train/reports.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace trireme::train {
namespace {

TEST(Reports, ComeBackAsTheyWere) {
  for (const ReportKind kind :
       {ReportKind::step, ReportKind::push, ReportKind::ask, ReportKind::end_of_stretch, ReportKind::failure}) {
    StepNews news{.kind = kind, .worker = 3, .step = 123456789012};
    news.loss = -1.5e-300;
    news.correct = 17;
    news.samples = 128;
    news.penalty = 0.1;
    news.lr = 1e-9;
    news.clock = 77;
    news.slowest = 75;
    // A clock's nanoseconds are more than a double can count.
    news.notes = {{{1, 2, 3, 4, 5, 6}, std::numeric_limits<std::int64_t>::max() - 1, true}, {{}, -3, false}};
    news.shares = {{0, 5}, {5, 5}, {5, 8}};
    const std::vector<double> numbers = to_numbers(news);
    EXPECT_EQ(kind_of(numbers), kind);
    const StepNews back = step_news(numbers);
    EXPECT_EQ(to_numbers(back).size(), numbers.size());
    EXPECT_EQ(back.kind, kind);
    EXPECT_EQ(back.worker, news.worker);
    EXPECT_EQ(back.step, news.step);
    EXPECT_EQ(back.loss, news.loss);
    EXPECT_EQ(back.correct, news.correct);
    EXPECT_EQ(back.samples, news.samples);
    EXPECT_EQ(back.penalty, news.penalty);
    EXPECT_EQ(back.lr, news.lr);
    EXPECT_EQ(back.clock, news.clock);
    EXPECT_EQ(back.slowest, news.slowest);
    EXPECT_EQ(back.shares, news.shares);
    ASSERT_EQ(back.notes.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const strategy::StepSeconds &a = back.notes[i].seconds, &b = news.notes[i].seconds;
      EXPECT_EQ(a.load, b.load);
      EXPECT_EQ(a.forward, b.forward);
      EXPECT_EQ(a.backward, b.backward);
      EXPECT_EQ(a.update, b.update);
      EXPECT_EQ(a.network, b.network);
      EXPECT_EQ(a.hidden, b.hidden);
      EXPECT_EQ(back.notes[i].arrived_ns, news.notes[i].arrived_ns);
      EXPECT_EQ(back.notes[i].wants_stop, news.notes[i].wants_stop);
    }
  }
}

TEST(Reports, OfALossThatIsNoNumber) {
  EXPECT_TRUE(std::isnan(step_news(to_numbers({.loss = std::nan("")})).loss));
  EXPECT_TRUE(std::isinf(step_news(to_numbers({.loss = HUGE_VAL})).loss));
}

TEST(Reports, OfAWrongLengthAreNone) {
  std::vector<double> numbers = to_numbers({.notes = {{}, {}}, .shares = {{0, 1}}});
  EXPECT_NO_THROW(step_news(numbers));
  numbers.pop_back();
  EXPECT_THROW(step_news(numbers), std::exception);
  EXPECT_THROW(step_news(std::vector<double>{1, 2, 3}), std::exception);
  EXPECT_THROW(kind_of({}), std::exception);
}

}  // namespace
}  // namespace trireme::train
