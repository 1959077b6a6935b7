// Checkpoints: whole or not there, whatever happens while they are written.
#include "store/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "base/error.h"
#include "base/system/log.h"
#include "support/temporary_folder.h"

namespace trireme::store {
namespace {

using test::TemporaryFolder;

namespace fs = base::fs;
using tensor::Layout;
using tensor::ParameterKind;
using tensor::ParameterSpace;

class Checkpoints : public ::testing::Test {
 protected:
  Checkpoints()
      : space_({{"conv", ParameterKind::trained, {4, 5, 3, 3}, Layout::channels_blocked({4, 5, 3, 3}, 8)},
                {"mean", ParameterKind::statistic, {5}, Layout::plain({5})},
                {"fc", ParameterKind::trained, {3, 2}, Layout::plain({3, 2})}}),
        path_(folder_.path() / "run" / "checkpoints") {
    base::set_log_level(base::LogLevel::off);
  }
  ~Checkpoints() override { base::set_log_level(base::LogLevel::info); }

  // A live buffer with canonical values value, value + 1, ... and zero padding.
  std::vector<float> buffer(float value) const {
    std::vector<float> live(static_cast<std::size_t>(space_.floats()));
    for (const auto& range : space_.ranges()) {
      std::vector<float> plain(static_cast<std::size_t>(range.count()));
      for (float& x : plain) x = value++;
      tensor::from_plain(range.layout, plain.data(), live.data() + range.offset);
    }
    return live;
  }

  void save(CheckpointStore& store, std::int64_t step, bool best = false) const {
    const std::vector<float> weights = buffer(static_cast<float>(step)), momentum = buffer(static_cast<float>(-step));
    Checkpoint checkpoint{{step, step / 10, step % 10, {{"rng", "[1,2.5,\"x\"]"}}}, &space_, weights, {}};
    checkpoint.slots.push_back({"momentum", momentum});
    store.save(checkpoint, best);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path_)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  std::string sentence_of_loading(const fs::path& folder) const {
    try {
      (void)CheckpointStore::load(folder);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::user) << error.what();
      EXPECT_NE(std::string(error.what()).find(folder.string()), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  ParameterSpace space_;
  fs::path path_;
};

using Names = std::vector<std::string>;

void put(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

TEST_F(Checkpoints, RoundTrip) {
  CheckpointStore store(path_, 2);
  EXPECT_FALSE(store.latest());
  EXPECT_FALSE(store.best());
  EXPECT_FALSE(store.latest_valid());
  save(store, 123, true);
  ASSERT_EQ(store.latest(), path_ / "step-00000123");
  EXPECT_EQ(store.best(), store.latest());

  const LoadedCheckpoint loaded = CheckpointStore::load(*store.latest());
  EXPECT_EQ(loaded.progress.step, 123);
  EXPECT_EQ(loaded.progress.epoch, 12);
  EXPECT_EQ(loaded.progress.position, 3);
  EXPECT_EQ(loaded.progress.extra.at("rng"), "[1,2.5,\"x\"]");
  std::vector<float> weights(static_cast<std::size_t>(space_.floats()));
  std::vector<float> momentum(static_cast<std::size_t>(space_.trained_floats()));
  const std::vector<SlotBuffer> slots{{"momentum", momentum}};
  restore(loaded, space_, weights, slots);
  EXPECT_EQ(weights, buffer(123));
  const std::vector<float> expected = buffer(-123);
  EXPECT_TRUE(std::equal(momentum.begin(), momentum.end(), expected.begin()));
  EXPECT_TRUE(CheckpointStore::load(*store.latest(), false).optimizer.tensors.empty());
}

TEST_F(Checkpoints, AnOptimizerWithoutState) {
  CheckpointStore store(path_, 1);
  const std::vector<float> weights = buffer(1);
  store.save({{1, 0, 0, {}}, &space_, weights, {}}, false);
  std::vector<float> back(weights.size());
  restore(CheckpointStore::load(*store.latest()), space_, back, {});
  EXPECT_EQ(back, weights);
}

TEST_F(Checkpoints, AnotherOptimizerOrNetworkIsRefusedAndChangesNothing) {
  CheckpointStore store(path_, 2);
  save(store, 1);
  const LoadedCheckpoint loaded = CheckpointStore::load(*store.latest());
  std::vector<float> weights(static_cast<std::size_t>(space_.floats()), 9), state = weights;
  const std::vector<float> before = weights;
  EXPECT_THROW(restore(loaded, space_, weights, {}), base::Error);
  const std::vector<SlotBuffer> adam{{"mean", state}, {"square_avg", state}};
  try {
    restore(loaded, space_, weights, adam);
    ADD_FAILURE();
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("its state is momentum, this run's is mean, square_avg"),
              std::string::npos)
        << error.what();
  }
  const ParameterSpace other({{"conv", ParameterKind::trained, {2, 2}, Layout::plain({2, 2})}});
  const std::vector<SlotBuffer> sgd{{"momentum", state}};
  EXPECT_THROW(restore(loaded, other, weights, sgd), base::Error);
  EXPECT_EQ(weights, before);
  EXPECT_EQ(state, before);
}

TEST_F(Checkpoints, KeepsTheLastAndTheBest) {
  CheckpointStore store(path_, 2);
  save(store, 1);
  save(store, 2, true);
  save(store, 3);
  save(store, 4);
  EXPECT_EQ(names(), (Names{"best", "step-00000002", "step-00000003", "step-00000004"}));
  save(store, 5, true);
  EXPECT_EQ(names(), (Names{"best", "step-00000004", "step-00000005"}));
  EXPECT_EQ(store.best(), path_ / "step-00000005");
  // More digits than the name is padded to sort as numbers, not as text.
  save(store, 1'000'000'000);
  EXPECT_EQ(store.latest(), path_ / "step-1000000000");
  EXPECT_EQ(names(), (Names{"best", "step-00000005", "step-1000000000"}));
}

TEST_F(Checkpoints, SavingAStepAgainReplacesIt) {
  CheckpointStore store(path_, 3);
  save(store, 7);
  const std::vector<float> weights = buffer(1000);
  store.save({{7, 0, 5, {}}, &space_, weights, {}}, false);
  EXPECT_EQ(names(), (Names{"step-00000007"}));
  EXPECT_EQ(CheckpointStore::load(*store.latest()).progress.position, 5);
}

TEST_F(Checkpoints, LeftoversOfAKilledProcessAreIgnoredAndCleaned) {
  CheckpointStore store(path_, 5);
  save(store, 1);
  fs::create_directory(path_ / ".step-00000002.partial");
  put(path_ / ".step-00000002.partial" / "weights.safetensors.partial", "half");
  fs::create_directory(path_ / ".step-00000009.old.partial");
  put(path_ / "best.partial", "ste");
  fs::create_directory(path_ / "step-2");  // not our naming
  put(path_ / "step-00000077", "a file");
  put(path_ / "notes.partial", "the user's own");
  EXPECT_EQ(store.latest(), path_ / "step-00000001");
  EXPECT_EQ(store.latest_valid()->progress.step, 1);
  save(store, 2);
  EXPECT_EQ(store.latest(), path_ / "step-00000002");
  EXPECT_EQ(names(), (Names{"notes.partial", "step-00000001", "step-00000002", "step-00000077", "step-2"}));
}

TEST_F(Checkpoints, AProcessKilledAtAnyTimeLeavesAWholeCheckpoint) {
  // A child saves for ever and is killed at various times; what it leaves must always be readable.
  CheckpointStore store(path_, 2);
  save(store, 0);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        for (std::int64_t step = 1;; ++step) save(store, step, step % 3 == 0);
      } catch (...) {
        ::_exit(1);
      }
    }
    ::usleep(static_cast<useconds_t>(1500 + 1700 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child could not save";
    const std::vector<fs::path> all = store.list();
    ASSERT_FALSE(all.empty());
    for (const fs::path& folder : all) EXPECT_EQ(sentence_of_loading(folder), "");
    if (const auto best = store.best(); best) {
      EXPECT_EQ(sentence_of_loading(*best), "");
    }
  }
}

TEST_F(Checkpoints, DamageIsNamedAndTheOneBeforeIsUsed) {
  CheckpointStore store(path_, 5);
  save(store, 1);
  save(store, 2);
  save(store, 3);
  // One flipped bit in a value, which the format alone cannot see.
  const fs::path weights = path_ / "step-00000003" / "weights.safetensors";
  std::string text = base::read_text(weights);
  text.back() = static_cast<char>(text.back() ^ 1);
  put(weights, text);
  EXPECT_NE(sentence_of_loading(path_ / "step-00000003").find("weights.safetensors"), std::string::npos);
  EXPECT_EQ(store.latest(), path_ / "step-00000003");
  EXPECT_EQ(store.latest_valid()->progress.step, 2);
  fs::resize_file(path_ / "step-00000002" / "optimizer.safetensors", 20);
  EXPECT_EQ(store.latest_valid()->progress.step, 1);
  fs::remove(path_ / "step-00000001" / "state.json");
  EXPECT_THROW((void)store.latest_valid(), base::Error);
  EXPECT_NE(sentence_of_loading(path_ / "step-00000001").find("no state.json"), std::string::npos);
  EXPECT_NE(sentence_of_loading(path_ / "absent").find("not a checkpoint"), std::string::npos);
}

TEST_F(Checkpoints, ATruncatedOrWrongStateIsAUserError) {
  CheckpointStore store(path_, 1);
  save(store, 1);
  const fs::path state = *store.latest() / "state.json";
  const std::string whole = base::read_text(state);
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    put(state, whole.substr(0, size));
    EXPECT_NE(sentence_of_loading(*store.latest()), "") << size;
  }
  for (const char* wrong : {"[]", "{}", "7", R"({"format":2})", R"({"format":1,"step":-1})", R"({"format":"1"})",
                            R"({"format":1,"step":1,"epoch":0,"position":0,"extra":{},"sha256":7})",
                            R"({"format":1,"step":1,"epoch":0,"position":0,"extra":{},"sha256":{}})",
                            R"({"format":1,"step":1.5,"epoch":0,"position":0,"extra":{},"sha256":{}})"}) {
    put(state, wrong);
    EXPECT_NE(sentence_of_loading(*store.latest()), "") << wrong;
  }
}

TEST_F(Checkpoints, AWriteThatFailsLeavesTheOldOnesAlone) {
  CheckpointStore store(path_, 1);
  save(store, 1, true);
  // A limit on the size of files makes writes fail half-way, as a full disk does.
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const auto weights_bytes = static_cast<rlim_t>(fs::file_size(path_ / "step-00000001" / "weights.safetensors"));
  const std::vector<float> weights = buffer(2);
  // The last limit is enough for the tensors; then state.json fails.
  const SavedProgress progress{2, 0, 0, {{"long", '"' + std::string(2 * weights_bytes, 'x') + '"'}}};
  for (const rlim_t limit : {rlim_t{0}, rlim_t{100}, weights_bytes / 2, weights_bytes - 1, weights_bytes}) {
    struct rlimit small = before;
    small.rlim_cur = limit;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    base::ErrorKind kind = base::ErrorKind::internal;
    try {
      store.save({progress, &space_, weights, {}}, true);
    } catch (const base::Error& error) {
      kind = error.kind();
    }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(kind, base::ErrorKind::run) << limit;
    EXPECT_EQ(names(), (Names{"best", "step-00000001"})) << limit;
    EXPECT_EQ(sentence_of_loading(path_ / "step-00000001"), "");
    EXPECT_EQ(store.best(), path_ / "step-00000001");
  }
  std::signal(SIGXFSZ, previous);
}

TEST_F(Checkpoints, AFolderThatCannotBeMadeIsARunError) {
  put(folder_.path() / "run", "in the way");
  CheckpointStore store(path_, 1);
  try {
    save(store, 1);
    ADD_FAILURE();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::run);
  }
  EXPECT_FALSE(store.latest());
  EXPECT_THROW(CheckpointStore(path_, 0), base::Error);
}

TEST_F(Checkpoints, ABestPointerToNothingIsNone) {
  CheckpointStore store(path_, 1);
  save(store, 1);
  for (const char* text : {"", "\n", "step-00000009\n", "../../etc\n", "garbage"}) {
    put(path_ / "best", text);
    EXPECT_FALSE(store.best()) << text;
  }
}

TEST_F(Checkpoints, StateThatIsNotJsonIsRefusedBeforeAnythingIsReplaced) {
  CheckpointStore store(path_, 1);
  save(store, 1);
  const std::vector<float> weights = buffer(1);
  EXPECT_THROW(store.save({{2, 0, 0, {{"bad", "{"}}}, &space_, weights, {}}, false), base::Error);
  EXPECT_EQ(names(), (Names{"step-00000001"}));
}

}  // namespace
}  // namespace trireme::store
