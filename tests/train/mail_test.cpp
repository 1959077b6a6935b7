// Mail between threads that are ranks of a group.
#include "train/mail.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "base/error.h"
#include "comm/inproc.h"

namespace trireme::train {
namespace {

constexpr double kDeadlineSeconds = 20;

TEST(Mail, TextsOfAllSizesComeInOrder) {
  auto groups = comm::inproc_groups(2, kDeadlineSeconds);
  const std::vector<std::size_t> sizes{0, 1, 8, 1000, 100'000, 3'000'000, 2};
  std::thread sender([&] {
    for (const std::size_t size : sizes) send_text(groups[1].post(), 0, kText, std::string(size, 'x'));
  });
  for (const std::size_t size : sizes) EXPECT_EQ(receive_text(groups[0].post(), 1, kText), std::string(size, 'x'));
  sender.join();
}

TEST(Mail, ToOneself) {
  auto groups = comm::inproc_groups(1, kDeadlineSeconds);
  std::thread receiver([&] { EXPECT_EQ(receive_text(groups[0].post(), 0, kOrder), "row"); });
  send_text(groups[0].post(), 0, kOrder, "row");
  receiver.join();
}

TEST(Mail, RowsComeFromAnybodyWithTheirSender) {
  auto groups = comm::inproc_groups(3, kDeadlineSeconds);
  std::vector<double> room(3);
  EXPECT_FALSE(receive_row(groups[0].post(), kReport, 0.01, room)) << "none was sent";
  std::vector<std::thread> senders;
  for (int rank = 1; rank < 3; ++rank)
    senders.emplace_back([&, rank] {
      for (int i = 0; i < 50; ++i) {
        const std::vector<double> numbers{static_cast<double>(rank), static_cast<double>(i)};
        send_values<double>(groups[static_cast<std::size_t>(rank)].post(), 0, kReport, numbers);
      }
    });
  std::vector<int> next(3);
  for (int i = 0; i < 100; ++i) {
    const auto row = receive_row(groups[0].post(), kReport, kDeadlineSeconds, room);
    ASSERT_TRUE(row);
    ASSERT_EQ(row->numbers.size(), 2u);
    EXPECT_EQ(row->numbers[0], row->from);
    EXPECT_EQ(row->numbers[1], next[static_cast<std::size_t>(row->from)]++) << "in order";
  }
  for (std::thread& sender : senders) sender.join();
}

TEST(Mail, StateOfTheWrongSizeIsNoticed) {
  auto groups = comm::inproc_groups(1, kDeadlineSeconds);
  std::vector<float> sent(10), into(11);
  send_values<float>(groups[0].post(), 0, kState, sent);
  EXPECT_THROW(receive_bytes(groups[0].post(), 0, kState, std::as_writable_bytes(std::span(into))), std::exception);
}

// Whoever waits is told when nobody can answer any more.
TEST(Mail, AWaitEndsWithTheGroup) {
  auto groups = comm::inproc_groups(1, kDeadlineSeconds);
  std::string sentence;
  std::thread waiting([&] {
    try {
      receive_text(groups[0].post(), 0, kOrder);
    } catch (const base::Error& error) {
      sentence = error.what();
    }
  });
  groups[0].give_up("the ship has sunk");
  waiting.join();
  EXPECT_NE(sentence.find("the ship has sunk"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace trireme::train
