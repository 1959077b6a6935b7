// Event files: framing, messages, and what a reader sees of a run. test-pypi reads them with TensorBoard itself.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "support/temporary_folder.h"
#include "train/experiment/options.h"
#include "watch/formats/confusion_picture.h"
#include "watch/formats/event_files.h"
#include "watch/formats/event_reader.h"
#include "watch/formats/tensorboard_sink.h"

namespace trireme::watch {
namespace {

using test::TemporaryFolder;

TEST(RecordFile, HasTheChecksumOfItsStandard) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(RecordFile, IsFramed) {
  const TemporaryFolder folder;
  const base::fs::path path = folder / "records";
  {
    RecordFile file(path);
    file.add("one");
    file.add("");
    EXPECT_EQ(base::read_text(path), "") << "not before it is flushed";
    file.flush();
    file.add(std::string(100000, 'x'));
    file.flush();
  }
  const std::string bytes = base::read_text(path);
  EXPECT_EQ(bytes.size(), 3 * 16 + 3 + 100000u);
  EXPECT_EQ(read_records(bytes), (std::vector<std::string>{"one", "", std::string(100000, 'x')}));
  EXPECT_EQ(read_records(bytes.substr(0, 1000)).size(), 2u);
  EXPECT_THROW(RecordFile{path}, base::Error) << "never over another's file";
}

// The bytes are those of protobuf's own encoder for message {1: 150, 2: "testing", 3: 1.0f, 4: 1.0}.
TEST(ProtoMessage, IsEncodedAsProtobufDoes) {
  ProtoMessage message;
  message.integer(1, 150).text(2, "testing").single(3, 1).number(4, 1);
  EXPECT_EQ(message.bytes(), std::string("\x08\x96\x01\x12\x07testing\x1d\0\0\x80\x3f\x21\0\0\0\0\0\0\xf0\x3f", 26));
  EXPECT_EQ(ProtoMessage().integer(1, -1).bytes(), "\x08" + std::string(9, '\xff') + "\x01");
  EXPECT_EQ(ProtoMessage().integer(16, 0).bytes(), std::string("\x80\x01\0", 3));
}

class Tensorboard : public testing::Test {
 protected:
  Tensorboard() { settings_.set("tensorboard", "yes"); }

  std::unique_ptr<observe::EventSink> sink() {
    return make_tensorboard_sink({.folder = folder_.path(), .settings = &settings_});
  }
  // Of all files, in the order in which TensorBoard reads them.
  SeenEvents seen() const {
    std::vector<base::fs::path> files;
    for (const auto& entry : base::fs::directory_iterator(folder_ / "tensorboard")) files.push_back(entry.path());
    std::ranges::sort(files);
    SeenEvents all;
    for (const auto& file : files) all = read_events(base::read_text(file), std::move(all));
    return all;
  }
  static observe::RunStarted started(std::int64_t first_step = 0) {
    observe::RunStarted run;
    run.model = "lenet5";
    run.first_step = first_step;
    return run;
  }
  static observe::EpochDone ended(std::int64_t step, double loss) {
    observe::EpochDone epoch;
    epoch.step = step;
    epoch.held_out_loss = loss;
    return epoch;
  }
  static observe::StepDone step(std::int64_t number, double loss) {
    observe::StepDone step;
    step.step = number;
    step.loss = loss;
    step.accuracy = NAN;
    step.lr = 0.5;
    step.seconds.forward = 0.25;
    return step;
  }
  // Steps are shown ten times a second at most.
  static void let_time_pass() { std::this_thread::sleep_for(std::chrono::milliseconds(110)); }

  TemporaryFolder folder_;
  base::Settings settings_{train::train_options()};
};

TEST_F(Tensorboard, IsWrittenOnlyWhenAskedFor) {
  settings_.set("tensorboard", "no");
  EXPECT_EQ(sink(), nullptr);
  EXPECT_EQ(make_tensorboard_sink({.folder = folder_.path()}), nullptr);
  EXPECT_FALSE(base::fs::exists(folder_ / "tensorboard"));
}

TEST_F(Tensorboard, ShowsWhatARunDoes) {
  {
    const auto sink = this->sink();
    observe::RunStarted run = started();
    run.batch = 42;
    run.notes = {"a note"};
    sink->on(run);
    sink->on(step(1, 2.5));
    sink->on(step(2, 2.25));  // too soon after the other
    observe::EpochDone epoch = ended(2, 1.5);
    epoch.train_loss = 2;
    epoch.held_out_accuracy = 0.75;
    epoch.held_out_scores = {{"r2", 0.5}};
    epoch.is_validation = true;
    sink->on(epoch);
    observe::ResourcesUsed used;
    used.figures = {.host = "n", .period_seconds = 2, .cpu = 1, .cores = 4, .network_sent_bytes = 300};
    sink->on(used);
    used.figures = {.host = "n", .rank = 3, .period_seconds = 1, .cpu = 1.5, .memory_bytes = 4096};
    sink->on(used);
    observe::WorkersReport report;
    report.step = 2;
    report.seconds = 2;
    observe::WorkerActivity worker;
    worker.worker = 1;
    worker.seconds.load = 0.5;
    worker.caused_seconds = 1;
    report.workers.push_back(worker);
    sink->on(report);
    sink->on(observe::WorkerLost{2, "worker 1 on n", 1});
    sink->on(observe::RunFinished{R"({"test_accuracy":0.625,"test_loss":null})", {}, 2});
  }
  const SeenEvents all = seen();
  const auto value = [&](const std::string& tag, std::int64_t at) { return all.scalars.at(tag).at(at); };
  EXPECT_EQ(all.scalars.at("train/loss"), (std::map<std::int64_t, float>{{1, 2.5F}}));
  EXPECT_FALSE(all.scalars.contains("train/accuracy")) << "unknown";
  EXPECT_EQ(value("train/lr", 1), 0.5F);
  EXPECT_EQ(value("seconds/forward", 1), 0.25F);
  EXPECT_EQ(value("epoch/train_loss", 2), 2);
  EXPECT_EQ(value("validation/loss", 2), 1.5F);
  EXPECT_EQ(value("validation/accuracy", 2), 0.75F);
  EXPECT_EQ(value("validation/r2", 2), 0.5F);
  EXPECT_EQ(value("host n/cpu_share", 2), 0.25F);
  EXPECT_EQ(value("host n/network_sent_bytes_per_second", 2), 150);
  EXPECT_EQ(value("process 3/cpu_cores", 2), 1.5F);
  EXPECT_EQ(value("process 3/resident_bytes", 2), 4096);
  EXPECT_EQ(value("worker 1/load_share", 2), 0.25F);
  EXPECT_EQ(value("worker 1/caused_waiting_share", 2), 0.5F);
  EXPECT_EQ(value("summary/test_accuracy", 2), 0.625F);
  EXPECT_FALSE(all.scalars.contains("summary/test_loss"));
  EXPECT_EQ(field(all.others.at("run/events").at(2), 8), "worker 1 on n was lost");
  EXPECT_NE(field(all.others.at("run/about").at(0), 8).find("- a note"), std::string::npos);
  EXPECT_NE(field(all.others.at("run/options").at(0), 8).find("| batch | 42 |"), std::string::npos);
  EXPECT_EQ(field(all.plugin_data.at("run/options"), 1), "text");
  EXPECT_EQ(field(field(field(all.plugin_data.at("_hparams_/session_end_info"), 2), 4), 1), "1") << "a success";
  EXPECT_EQ(all.starts, 1);
}

TEST_F(Tensorboard, AResumedRunReplacesWhatComesAgain) {
  for (const bool is_resumed : {false, true}) {
    const auto sink = this->sink();
    if (is_resumed) sink->on(observe::RolledBack{.step = 1, .is_resume = true});
    sink->on(started(is_resumed ? 1 : 0));
    for (std::int64_t number = is_resumed ? 2 : 1; number <= (is_resumed ? 2 : 3); ++number) {
      sink->on(step(number, is_resumed ? 7 : 1));
      let_time_pass();
    }
  }
  const SeenEvents all = seen();
  EXPECT_EQ(all.scalars.at("train/loss"), (std::map<std::int64_t, float>{{1, 1}, {2, 7}}));
  EXPECT_EQ(field(field(field(all.plugin_data.at("_hparams_/session_end_info"), 2), 4), 1), "2") << "no success";
}

TEST_F(Tensorboard, StepsThatAreTakenBackDisappear) {
  {
    const auto sink = this->sink();
    sink->on(started());
    for (std::int64_t number = 1; number <= 3; ++number) {
      sink->on(step(number, 1));
      let_time_pass();
    }
    sink->on(ended(3, 9));
    sink->on(observe::RolledBack{.step = 1});
    sink->on(step(2, 7));
  }
  const SeenEvents all = seen();
  EXPECT_EQ(all.scalars.at("train/loss"), (std::map<std::int64_t, float>{{1, 1}, {2, 7}}));
  EXPECT_TRUE(all.scalars.at("test/loss").empty());
}

TEST_F(Tensorboard, FilesOfAClockThatWentBackAreStillReadInOrder) {
  base::fs::create_directories(folder_ / "tensorboard");
  std::ofstream(folder_ / "tensorboard" / "events.out.tfevents.4000000000.other.1");
  for (int start = 0; start < 2; ++start) sink()->on(started());
  std::vector<std::string> names;
  for (const auto& entry : base::fs::directory_iterator(folder_ / "tensorboard"))
    names.push_back(entry.path().filename().string().substr(0, 30));
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"events.out.tfevents.4000000000", "events.out.tfevents.4000000001",
                                             "events.out.tfevents.4000000002"}));
}

TEST_F(Tensorboard, HistogramsAndPictures) {
  {
    const auto sink = this->sink();
    sink->on(started());
    observe::LayerStatistics layers;
    layers.step = 5;
    layers.parameters.push_back({.name = "conv1.weight",
                                 .elements = 6,
                                 .weights = 3,
                                 .gradients = NAN,
                                 .weight_values = {-1, 2, {1, 2, 3}},
                                 .gradient_values = {}});
    sink->on(layers);
    sink->on(observe::ConfusionCounted{.step = 5, .classes = {"cat", "dog"}, .counts = {9, 1, 0, 10}});
  }
  const SeenEvents all = seen();
  EXPECT_EQ(all.scalars.at("norm of weights/conv1.weight").at(5), 3);
  EXPECT_FALSE(all.scalars.contains("norm of gradients/conv1.weight"));
  EXPECT_FALSE(all.others.contains("gradients/conv1.weight"));
  const std::string content = field(all.others.at("weights/conv1.weight").at(5), 4);
  std::vector<double> rows(content.size() / sizeof(double));
  std::memcpy(rows.data(), content.data(), content.size());
  EXPECT_EQ(rows, (std::vector<double>{-1, 0, 1, 0, 1, 2, 1, 2, 3}));
  const auto image = read_fields(all.others.at("test/confusion").at(5));
  std::vector<std::string> parts;
  for (auto [part, end] = image.equal_range(8); part != end; ++part) parts.push_back(part->second);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], "400");
  EXPECT_EQ(parts[1], "400");
  EXPECT_EQ(parts[2].substr(1, 3), "PNG");
}

TEST(ConfusionPicture, OfNothingIsNone) {
  EXPECT_TRUE(draw_confusion({}).png.empty());
  EXPECT_TRUE(draw_confusion({.classes = {"a", "b"}, .counts = {1}}).png.empty());
  EXPECT_FALSE(draw_confusion({.classes = {"a"}, .counts = {0}}).png.empty()) << "a class without samples";
}

// A limit of the size of files stands for a full disk: the sink throws, which ends it, and nothing else; what is in the
// file stays readable.
TEST_F(Tensorboard, AFullDiskEndsTheSinkOnly) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    const auto sink = this->sink();
    sink->on(started());
    const rlimit small{40000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(
        {
          for (int i = 0; i < 1000; ++i) sink->on(observe::WorkerLost{i, std::string(1000, 'x'), 1});
        },
        base::Error);
    setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, old_handler);
  EXPECT_GT(seen().others.at("run/events").size(), 20u);
}

}  // namespace
}  // namespace trireme::watch
