// The recorder delivers in order, waits for nobody, loses nothing of a record, and says when a record fails.
#include "train/recorder/recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>

#include "base/error.h"
#include "base/system/clock.h"

namespace trireme::train {
namespace {

using observe::CheckpointWritten;
using observe::Event;
using observe::RolledBack;
using observe::StepDone;

// Keeps the steps it heard of, and forgets them as a sink must.
struct Heard {
  std::mutex mutex;
  std::vector<std::int64_t> steps;
  std::int64_t checkpoints = 0;
  std::vector<std::int64_t> all() {
    const std::lock_guard lock(mutex);
    return steps;
  }
};

struct Behaviour {
  bool is_record = false;
  std::latch* waits_for = nullptr;
  std::int64_t fails_at = -1;
};

class TestSink : public observe::EventSink {
 public:
  TestSink(Heard& heard, Behaviour behaviour) : heard_(heard), behaviour_(behaviour) {}
  bool is_record() const override { return behaviour_.is_record; }
  void on(const Event& event) override {
    if (behaviour_.waits_for != nullptr) behaviour_.waits_for->wait();
    const std::lock_guard lock(heard_.mutex);
    std::visit(base::Match{[&](const StepDone& step) {
                             if (step.step == behaviour_.fails_at) base::run_error("no space left for {}", step.step);
                             heard_.steps.push_back(step.step);
                           },
                           [&](const RolledBack& back) {
                             std::erase_if(heard_.steps, [&](std::int64_t step) { return step > back.step; });
                           },
                           [&](const CheckpointWritten&) { ++heard_.checkpoints; }, [](const auto&) {}},
               event);
  }

 private:
  Heard& heard_;
  Behaviour behaviour_;
};

SinkRow row(const char* name, Heard& heard, Behaviour behaviour = {}) {
  return {name, "", [&heard, behaviour](const SinkContext&) { return std::make_unique<TestSink>(heard, behaviour); }};
}

StepDone step(std::int64_t number) {
  StepDone done;
  done.step = number;
  return done;
}

TEST(Recorder, DeliversToAllInOrder) {
  Heard record, other;
  Recorder recorder(SinkRegistry("sink", {row("record", record, {.is_record = true}), row("other", other)}), {});
  for (int i = 0; i < 1000; ++i) recorder.publish(step(i));
  recorder.flush_all();
  for (Heard* heard : {&record, &other}) {
    const auto steps = heard->all();
    ASSERT_EQ(steps.size(), 1000u);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(steps[static_cast<std::size_t>(i)], i);
  }
}

TEST(Recorder, ASlowSinkSlowsNobody) {
  constexpr std::int64_t kEvents = 10'000, kEvery = 100;
  Heard record, slow;
  std::latch released(1);
  {
    Recorder recorder(
        SinkRegistry("sink", {row("slow", slow, {.waits_for = &released}), row("record", record, {.is_record = true})}),
        {});
    const std::int64_t start = base::now_ns();
    for (std::int64_t i = 0; i < kEvents; ++i) {
      recorder.publish(step(i));
      if (i % kEvery == 0) recorder.publish(CheckpointWritten{});
    }
    recorder.flush();
    EXPECT_LT(base::seconds_since(start), 10.0) << "while the slow one heard nothing";
    EXPECT_TRUE(slow.all().empty());
    EXPECT_EQ(record.all().size(), static_cast<std::size_t>(kEvents)) << "a record loses nothing";
    EXPECT_EQ(record.checkpoints, kEvents / kEvery);
    released.count_down();
  }
  const auto steps = slow.all();
  EXPECT_LE(steps.size(), 2 * SinkQueue::kMostWaiting) << "what it could not hear in time was dropped";
  EXPECT_EQ(steps.back(), kEvents - 1) << "the oldest first";
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_EQ(slow.checkpoints, kEvents / kEvery) << "and only what may be dropped";
}

TEST(Recorder, ASlowRecordLosesNothing) {
  Heard record;
  std::latch released(1);
  {
    Recorder recorder(SinkRegistry("sink", {row("record", record, {.is_record = true, .waits_for = &released})}), {});
    for (std::int64_t i = 0; i < 3 * static_cast<std::int64_t>(SinkQueue::kMostWaiting); ++i) recorder.publish(step(i));
    released.count_down();
  }
  EXPECT_EQ(record.all().size(), 3 * SinkQueue::kMostWaiting);
}

TEST(Recorder, TellsTheErrorOfARecordFromThenOn) {
  Heard record, other;
  Recorder recorder(
      SinkRegistry("sink", {row("record", record, {.is_record = true, .fails_at = 3}), row("other", other)}), {});
  std::string sentence;
  std::int64_t published = 0;
  while (published < 1'000'000 && sentence.empty()) try {
      recorder.publish(step(published++));
      if (published % 10 == 0) recorder.flush();
    } catch (const base::Error& error) {
      sentence = error.what();
      EXPECT_EQ(error.kind(), base::ErrorKind::run);
    }
  EXPECT_EQ(sentence, "no space left for 3");
  EXPECT_TRUE(recorder.has_failed());
  EXPECT_THROW(recorder.publish(step(published)), base::Error) << "nobody can lose it";
  EXPECT_THROW(recorder.flush_all(), base::Error);
  EXPECT_EQ(record.all().size(), 3u) << "it hears nothing after its error";
  EXPECT_EQ(other.all().size(), static_cast<std::size_t>(published) + 1) << "others hear all, that of the error too";
}

TEST(Recorder, GoesOnWithoutAnOrdinarySinkThatFails) {
  Heard record, other;
  Recorder recorder(
      SinkRegistry("sink", {row("record", record, {.is_record = true}), row("other", other, {.fails_at = 1})}), {});
  for (int i = 0; i < 10; ++i) recorder.publish(step(i));
  EXPECT_NO_THROW(recorder.flush_all());
  EXPECT_EQ(record.all().size(), 10u);
  EXPECT_EQ(other.all().size(), 1u);
}

TEST(Recorder, RollsBackBetweenWhatCameBeforeAndAfter) {
  Heard heard;
  Recorder recorder(SinkRegistry("sink", {row("record", heard, {.is_record = true})}), {});
  for (int i = 1; i <= 5; ++i) recorder.publish(step(i));
  recorder.publish(RolledBack{2});
  for (int i = 3; i <= 4; ++i) recorder.publish(step(i));
  recorder.flush();
  EXPECT_EQ(heard.all(), (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST(Recorder, ASinkThatIsNotWantedIsNotMade) {
  Recorder recorder(
      SinkRegistry("sink", {{"none", "", [](const SinkContext&) { return std::unique_ptr<observe::EventSink>(); }}}),
      {});
  recorder.publish(step(1));
  recorder.flush_all();
}

TEST(Recorder, ASinkThatCannotBeginEndsIt) {
  const SinkRow bad{"bad", "",
                    [](const SinkContext&) -> std::unique_ptr<observe::EventSink> { base::run_error("no"); }};
  Heard heard;
  EXPECT_THROW(Recorder(SinkRegistry("sink", {row("record", heard), bad}), {}), base::Error);
}

}  // namespace
}  // namespace trireme::train
