// The state of a run goes out of one keeper and into another without loss, by checkpoint and by messages.
#include "train/helm/state_keeper.h"
#include "train/builtin_registry.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "comm/transport/inproc.h"
#include "support/temporary_folder.h"
#include "train/experiment/options.h"
#include "train/experiment/registry.h"

namespace trireme::train {
namespace {

constexpr double kDeadlineSeconds = 20;
constexpr auto kWorkers = strategy::StateOwner::workers, kServers = strategy::StateOwner::servers;

Experiment experiment() {
  base::Settings settings(train_options());
  for (const auto& [name, value] : std::map<std::string, std::string>{{"model", "lenet5"},
                                                                      {"data", "synthetic"},
                                                                      {"train-samples", "40"},
                                                                      {"test-samples", "4"},
                                                                      {"validation", "0%"},
                                                                      {"batch", "8"},
                                                                      {"oars", "2"},
                                                                      {"epochs", "3"},
                                                                      {"threads", "1"}})
    settings.set(name, value);
  return resolve(builtin_registry(), settings);
}

// A helm in process 0 and a worker in process 1, which only keeps what it is sent.
class StateKeeping : public testing::Test {
 protected:
  StateKeeping() { roles_.workers = 2; }

  StateKeeper::Context context(HelmMailbox& helm_mailbox) {
    return {helm_mailbox, roles_, experiment_, space_, optimizer_, {}, /*patience=*/2};
  }
  // Worker 1 follows orders until the end, worker 0 (in the helm's process here, but not its replica) too.
  void follow(int process, std::vector<std::vector<float>>& replica) {
    comm::Mailbox& mailbox = groups_[static_cast<std::size_t>(process)].mailbox();
    replica.assign(1, std::vector<float>(static_cast<std::size_t>(space_.floats())));
    replica.resize(1 + static_cast<std::size_t>(optimizer_->slots()),
                   std::vector<float>(static_cast<std::size_t>(space_.trained_floats())));
    for (bool goes_on = true; goes_on;)
      std::visit(
          Match{[&](const ReceiveStateOrder& order) {
                  version_ = order.step;
                  for (std::size_t i = 0; i < (order.with_optimizer ? replica.size() : 1); ++i)
                    receive_bytes(mailbox, 0, kState, std::as_writable_bytes(std::span(replica[i])));
                },
                [&](const SendStateOrder&) {
                  send_report(mailbox, 0, StateReply{{{process, {0, space_.floats()}, version_}}});
                  for (const auto& part : replica) send_values<float>(mailbox, 0, kState, part);
                },
                [&](const AcknowledgeOrder&) { send_report(mailbox, 0, Acknowledgement{}); },
                [&](const HandOverOrder& order) { hand_overs_[static_cast<std::size_t>(process)].push_back(order); },
                [&](const EndOrder&) { goes_on = false; }, [](const auto&) { FAIL(); }},
          receive_order(mailbox, 0, kOrder));
  }
  static void fill(const StateKeeper::Floats& floats, float first) {
    std::iota(floats.weights.begin(), floats.weights.end(), first);
    for (const std::span<float> slot : floats.slots) std::iota(slot.begin(), slot.end(), -first);
  }

  Experiment experiment_ = experiment();
  tensor::ParameterSpace space_ = crew::space_of(experiment_.network, experiment_.crew_options);
  std::shared_ptr<const optim::Optimizer> optimizer_ = optim::make_optimizer("sgd:lr=0.1,momentum=0.9");
  strategy::RoleMap roles_;
  std::vector<comm::Group> groups_ = comm::inproc_groups(2, kDeadlineSeconds);
  std::array<std::vector<HandOverOrder>, 2> hand_overs_;  // per process
  std::atomic<std::int64_t> version_ = 0;                 // of the workers' state
  test::TemporaryFolder folder_;
};

TEST_F(StateKeeping, ACheckpointHoldsAll) {
  HelmMailbox helm_mailbox(groups_[0], roles_);
  std::vector<std::vector<float>> first, second;
  std::thread worker_0([&] { follow(0, first); }), worker_1([&] { follow(1, second); });
  store::CheckpointStore checkpoints(folder_.path() / "checkpoints", 2);
  StateKeeper keeper(context(helm_mailbox));
  fill(keeper.memory(), 1);
  keeper.spread(keeper.memory(), true);
  EXPECT_TRUE(keeper.ledger().begin_interval(2));
  keeper.ledger().interval_ordered();
  // An epoch of five steps and two more.
  data::Ledger used(40);
  for (int step = 1; step <= 7; ++step) {
    if (step == 6) {
      EXPECT_TRUE(keeper.add_result(0.5, 0.25, true));
      keeper.begin_epoch();
      EXPECT_TRUE(keeper.ledger().begin_interval(2)) << "the next epoch begins with this interval";
      keeper.ledger().interval_ordered();
    }
    keeper.add_step(step, {.loss = 16, .correct = 4, .samples = 8, .penalty = 0.5, .lr = 0.1});
  }
  used.use(0, std::vector<std::int64_t>{3, 1, 4});
  keeper.ledger().set_worker(1, used.text());
  EXPECT_FALSE(keeper.is_over());
  version_ = 6;
  EXPECT_THROW((void)keeper.collect(), base::Error) << "what worker 0 has is a step too old";
  version_ = 7;
  keeper.save(checkpoints, keeper.collect(), true, 12.5);

  StateKeeper other(context(helm_mailbox));
  const auto loaded = checkpoints.latest_valid([&](const auto& found) { other.check(found); });
  ASSERT_TRUE(loaded);
  other.restore(*loaded);
  const TrainingProgress &was = keeper.progress(), &is = other.progress();
  EXPECT_EQ(is.step, 7);
  EXPECT_EQ(version_, 7) << "what the workers were sent";
  EXPECT_EQ(is.epoch, 1);
  EXPECT_EQ(is.position, 16);
  EXPECT_EQ(is.epoch_loss, was.epoch_loss);
  EXPECT_EQ(is.epoch_correct, 8);
  EXPECT_EQ(is.epoch_samples, 16);
  EXPECT_EQ(is.train_loss, was.train_loss);
  EXPECT_EQ(is.train_accuracy, 0.5);
  EXPECT_EQ(is.early_stopping, was.early_stopping);
  EXPECT_EQ(is.total_steps, 15);
  EXPECT_EQ(is.seconds, 12.5);
  EXPECT_DOUBLE_EQ(other.epoch_loss(), 2.5);
  EXPECT_EQ(other.ledger().total().text(), used.text());
  // Weights and slots: of this process, and of all workers.
  StateKeeper::Floats floats = other.memory();
  EXPECT_EQ(space_.sha256(floats.weights.data()), space_.sha256(keeper.memory().weights.data()));
  ASSERT_EQ(floats.slots.size(), 1u);
  helm_mailbox.order_workers(EndOrder{});
  worker_0.join();
  worker_1.join();
  for (const auto* replica : {&first, &second}) {
    EXPECT_TRUE(std::ranges::equal((*replica)[0], floats.weights));
    EXPECT_TRUE(std::ranges::equal((*replica)[1], floats.slots[0]));
  }
}

TEST_F(StateKeeping, CollectsFromWorkerZero) {
  HelmMailbox helm_mailbox(groups_[0], roles_);
  std::vector<std::vector<float>> first, second;
  std::thread worker_0([&] { follow(0, first); }), worker_1([&] { follow(1, second); });
  StateKeeper keeper(context(helm_mailbox));
  fill(keeper.memory(), 7);
  keeper.spread(keeper.memory(), true);
  fill(keeper.memory(), 0);
  EXPECT_EQ(keeper.collect().weights[0], 7);
  EXPECT_EQ(keeper.memory().slots[0][1], -6);
  helm_mailbox.order_workers(EndOrder{});
  worker_0.join();
  worker_1.join();
}

TEST_F(StateKeeping, HandsOverToServersAndBack) {
  HelmMailbox helm_mailbox(groups_[0], roles_);
  std::vector<std::vector<float>> first, second;
  std::thread worker_0([&] { follow(0, first); }), worker_1([&] { follow(1, second); });
  StateKeeper keeper(context(helm_mailbox));
  keeper.hand_over(1, kServers, true);
  EXPECT_EQ(keeper.owner(), kServers);
  keeper.hand_over(2, kServers, false);
  keeper.hand_over(3, kWorkers, true);
  EXPECT_EQ(keeper.owner(), kWorkers);
  keeper.add_step(5, {.samples = 8});
  keeper.hand_over(4, kWorkers, false);
  keeper.wait_for_workers();
  helm_mailbox.order_workers(EndOrder{});
  worker_0.join();
  worker_1.join();
  const std::vector<HandOverOrder> expected{
      {1, kWorkers, true, 0}, {2, kServers, false, 0}, {3, kServers, true, 0}, {4, kWorkers, false, 5}};
  EXPECT_EQ(hand_overs_[0], expected);
  EXPECT_EQ(hand_overs_[1], expected);
}

TEST_F(StateKeeping, StopsEarlyAfterWholeEpochsOnly) {
  HelmMailbox helm_mailbox(groups_[0], roles_);
  StateKeeper keeper(context(helm_mailbox));
  keeper.add_step(5, {.loss = 1, .correct = 1, .samples = 8});
  EXPECT_TRUE(keeper.add_result(1, 0.5, true));
  EXPECT_FALSE(keeper.add_result(1, 0.4, true));
  EXPECT_FALSE(keeper.stopped_early());
  EXPECT_FALSE(keeper.add_result(1, 0.5, true));
  EXPECT_TRUE(keeper.stopped_early());
  EXPECT_TRUE(keeper.is_over());
}

TEST_F(StateKeeping, OfEquallyAccurateWeightsThoseWithTheLowerLossAreBestOnAValidationSet) {
  HelmMailbox helm_mailbox(groups_[0], roles_);
  experiment_.validation_plan.best_on = BestOn::validation;
  StateKeeper keeper(context(helm_mailbox));
  keeper.add_step(5, {.loss = 1, .correct = 1, .samples = 8});
  EXPECT_TRUE(keeper.add_result(0.9, 0.5, true));
  EXPECT_TRUE(keeper.add_result(0.7, 0.5, true));
  EXPECT_FALSE(keeper.add_result(0.8, 0.5, true));
  EXPECT_FALSE(keeper.add_result(0.1, 0.4, true)) << "accuracy comes first";
  EXPECT_TRUE(keeper.add_result(2, 0.6, true));
  experiment_.validation_plan.best_on = BestOn::test;
  EXPECT_FALSE(keeper.add_result(1, 0.6, true)) << "as before: the earliest";
}

// What a lost worker pushed is known, whatever it said itself.
TEST_F(StateKeeping, TheLedgerOfALostWorkerIsMadeOfItsPushes) {
  EpochLedger ledger(experiment_);
  ledger.begin_interval(2);
  ledger.interval_ordered();
  ledger.add_push(0, {0, {0, 1}});  // half of a batch of 8
  ledger.add_push(1, {0, {1, 2}});
  data::Ledger second(40);
  second.use(4, std::vector<std::int64_t>{30, 31, 32, 33});
  ledger.set_worker(1, second.text());
  ledger.lose(0);
  EXPECT_EQ(ledger.total().report().used, 8);
  EXPECT_FALSE(ledger.begin_interval(1)) << "the epoch goes on";
  EXPECT_EQ(ledger.total().report().used, 8);
  ledger.end_epoch();
  EXPECT_EQ(ledger.total().report().used, 0);
}

}  // namespace
}  // namespace trireme::train
