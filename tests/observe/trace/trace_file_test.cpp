// TraceFile: one complete JSON object at any time, bounded, and appended to by the next process.
#include "observe/trace/trace_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/core_errors.h"
#include "support/temporary_folder.h"

namespace trireme::observe {
namespace {

using nlohmann::json;

class TraceFiles : public testing::Test {
 protected:
  base::fs::path path() const { return folder_ / "trace.json"; }
  json read() const { return json::parse(base::read_text(path())); }
  std::vector<int> numbers() const {
    std::vector<int> all;
    const json whole = read();
    for (const json& event : whole.at("traceEvents")) all.push_back(event.at("n"));
    return all;
  }
  static std::string event(int n, double ts_us, std::size_t bytes = 0) {
    return json{{"n", n}, {"ph", "X"}, {"ts", ts_us}, {"dur", 1.0}, {"more", std::string(bytes, 'x')}}.dump();
  }

  test::TemporaryFolder folder_;
};

TEST_F(TraceFiles, IsCompleteAfterEveryWrite) {
  TraceFile file(path(), false, {});
  EXPECT_TRUE(numbers().empty());
  std::vector<int> expected;
  for (int n = 0; n < 20; ++n) {
    file.add(event(n, n), n + 1, n % 3 != 0);
    expected.push_back(n);
    if (n % 4 == 0) continue;
    file.write();
    EXPECT_EQ(numbers(), expected);
  }
}

TEST_F(TraceFiles, ForgetsWhatIsNoLongerRecent) {
  TraceFile file(path(), false, {.recent_seconds = 10});
  for (int second = 0; second < 30; ++second) file.add(event(second, 1e6 * second), 1e6 * second, second % 7 == 0);
  file.trim(29e6);
  EXPECT_EQ(numbers(), (std::vector<int>{0, 7, 14, 21, 28, 19, 20, 22, 23, 24, 25, 26, 27, 29}));
  file.add(event(35, 35e6), 35e6, false);
  file.trim(35e6);
  EXPECT_EQ(numbers(), (std::vector<int>{0, 7, 14, 21, 28, 25, 26, 27, 29, 35}));
  file.trim(60e6);
  EXPECT_EQ(numbers(), (std::vector<int>{0, 7, 14, 21, 28}));
}

TEST_F(TraceFiles, WithoutAnyThatStaysItCanBecomeEmpty) {
  TraceFile file(path(), false, {});
  file.add(event(1, 0), 1, false);
  file.trim(100e6);
  EXPECT_TRUE(numbers().empty());
  file.add(event(2, 100e6), 100e6, true);
  file.write();
  EXPECT_EQ(numbers(), (std::vector<int>{2}));
}

TEST_F(TraceFiles, IsBounded) {
  const TraceLimits limits{.bytes = 100'000, .recent_bytes = 40'000, .recent_seconds = 1};
  TraceFile file(path(), false, limits);
  for (int n = 0; n < 1000; ++n) {
    file.add(event(n, 1e3 * n, 500), 1e3 * n, n % 2 == 0);
    file.write();
    if (n % 50 == 0) file.trim(1e3 * n);
    ASSERT_LE(base::fs::file_size(path()), limits.bytes + 2000);
  }
  file.trim(999e3);
  const json whole = read();
  EXPECT_GT(whole.at("otherData").at("spans_left_out"), 300);
  EXPECT_EQ(whole.at("traceEvents").back().at("n"), 999) << "the newest ones are there";
  EXPECT_EQ(whole.at("traceEvents").front().at("n"), 0);
}

TEST_F(TraceFiles, GoesOnAfterEarlierProcesses) {
  for (int process = 0; process < 3; ++process) {
    TraceFile file(path(), true, {});
    EXPECT_EQ(file.earlier_end_us(), process == 0 ? 0 : 10.0 * process + 1);
    file.add(event(process, 10.0 * (process + 1)), 10.0 * (process + 1) + 1, process == 0);
    file.count_left_out(2);
    file.write();
  }
  EXPECT_EQ(numbers(), (std::vector<int>{0, 1, 2})) << "what was recent then stays";
  EXPECT_EQ(read().at("otherData").at("spans_left_out"), 6);
  TraceFile fresh(path(), false, {});
  EXPECT_TRUE(numbers().empty());
}

// A process that is killed while it writes leaves a part of what it wrote.
TEST_F(TraceFiles, GoesOnAfterAnyCut) {
  {
    TraceFile file(path(), false, {});
    for (int n = 0; n < 3; ++n) file.add(event(n, n), n + 1, true);
    file.write();
  }
  const std::string whole = base::read_text(path());
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    base::write_text_atomically(path(), whole.substr(0, bytes));
    {
      TraceFile file(path(), true, {});
      file.add(event(9, 9), 10, true);
      file.write();
    }
    const std::vector<int> all = numbers();
    ASSERT_FALSE(all.empty()) << bytes;
    EXPECT_EQ(all.back(), 9) << bytes;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int>(i)) << bytes;
  }
}

TEST_F(TraceFiles, ReplacesWhatIsNoTrace) {
  const std::string start = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const std::string& text :
       {std::string("nonsense"), std::string(), start, start + "{\"ph\":\"X\"},\n],\"otherData\":{}}\n", start + "{]",
        start + "{}\n{}\n", start + ",\n", start + "{},\n,\n{},\n", start + std::string("{}\0,\n", 5),
        start + "\n],\"otherData\":{\"spans_left_out\":\"many\"}}", std::string("[[[[\n\0\n", 7)}) {
    base::write_text_atomically(path(), text);
    TraceFile file(path(), true, {});
    file.add(event(5, 5), 6, true);
    file.write();
    EXPECT_EQ(read()["traceEvents"].back()["n"], 5) << text;
  }
}

TEST_F(TraceFiles, UnwritableIsARunError) {
  support::sentence(base::ErrorKind::run, [&] { TraceFile(folder_.path() / "absent" / "trace.json", false, {}); });
}

}  // namespace
}  // namespace trireme::observe
