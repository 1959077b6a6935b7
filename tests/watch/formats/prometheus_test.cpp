// Metrics for Prometheus. promtool_peer_test.cpp asks Prometheus itself.
#include "watch/formats/prometheus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "support/temporary_folder.h"
#include "watch/formats/prometheus_families.h"
#include "watch/formats/watched_run.h"

namespace trireme::watch {
namespace {

using test::TemporaryFolder;

std::map<std::string, std::string> samples_of(const std::string& text) {
  std::map<std::string, std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) samples[line.substr(0, line.rfind(' '))] = line.substr(line.rfind(' ') + 1);
  return samples;
}

void append(const base::fs::path& file, const std::string& text) { std::ofstream(file, std::ios::app) << text; }

TEST(PrometheusFamilies, AreWrittenTogether) {
  PrometheusFamilies families;
  families.add("b_total", PrometheusType::counter, "Of b.", {{"x", "1\"\\\n"}, {"y", ""}}, 2);
  families.add("a", PrometheusType::gauge, "Of a.", {}, 0.5);
  families.add("b_total", PrometheusType::counter, "Of b.", {{"x", "2"}}, 1e300);
  families.add("c", PrometheusType::gauge, "Unknown.", {}, NAN);
  families.add("d", PrometheusType::gauge, "Of d.", {}, -INFINITY);
  EXPECT_EQ(
      families.text(),
      "# HELP a Of a.\n# TYPE a gauge\na 0.5\n"
      "# HELP b_total Of b.\n# TYPE b_total counter\nb_total{x=\"1\\\"\\\\\\n\",y=\"\"} 2\nb_total{x=\"2\"} 1e+300\n"
      "# HELP d Of d.\n# TYPE d gauge\nd -Inf\n");
}

TEST(Prometheus, TellsTheNewestValuesAndTotals) {
  const TemporaryFolder folder;
  write_watched_run(folder / "r");
  PrometheusExporter exporter;
  const auto samples = samples_of(exporter.text({{"r", folder / "r"}}));
  const auto expect = [&](const std::string& sample, const std::string& value) {
    ASSERT_TRUE(samples.contains(sample)) << sample;
    EXPECT_EQ(samples.at(sample), value) << sample;
  };
  expect(R"(trireme_run_info{run="r",model="lenet5",data="a \"quoted\"\\\nname",strategy="auto",version="0.1 abc"})",
         "1");
  expect(R"(trireme_run_finished{run="r"})", "0");
  expect(R"(trireme_step{run="r"})", "20");
  expect(R"(trireme_planned_steps{run="r"})", "30");
  expect(R"(trireme_train_loss{run="r"})", "0.25");
  EXPECT_FALSE(samples.contains(R"(trireme_train_accuracy_ratio{run="r"})")) << "unknown";
  expect(R"(trireme_held_out_loss{run="r",set="test"})", "0.25");
  expect(R"(trireme_held_out_accuracy_ratio{run="r",set="test"})", "0.875");
  // Ten steps of 64 samples within the two seconds from the workers' line to the newest step.
  expect(R"(trireme_samples_per_second{run="r"})", "320");
  expect(R"(trireme_workers{run="r"})", "2");
  expect(R"(trireme_phase_seconds_total{run="r",worker="0",phase="forward"})", "0.5");
  expect(R"(trireme_phase_seconds_total{run="r",worker="1",phase="hidden_network"})", "0.25");
  expect(R"(trireme_caused_waiting_seconds_total{run="r",worker="1"})", "0.75");
  expect(R"(trireme_worker_clock{run="r",worker="1"})", "5");
  expect(R"(trireme_checkpoints_total{run="r"})", "1");
  expect(R"(trireme_checkpoint_seconds_total{run="r"})", "0.5");
  // The lines cover one second, then two, then, after a resume, one.
  expect(R"(trireme_host_cpu_seconds_total{run="r",host="a",mode="user"})", "5.5");
  expect(R"(trireme_host_cpu_seconds_total{run="r",host="a",mode="system"})", "1.25");
  expect(R"(trireme_host_memory_used_bytes{run="r",host="a"})", "700");
  expect(R"(trireme_host_memory_size_bytes{run="r",host="a"})", "1000");
  expect(R"(trireme_host_network_received_bytes_total{run="r",host="a"})", "150");
  expect(R"(trireme_host_core_busy_ratio{run="r",host="a",core="3"})", "1");
  expect(R"(trireme_process_cpu_seconds_total{run="r",host="a",rank="0",mode="user"})", "3.5");
  expect(R"(trireme_process_resident_memory_bytes{run="r",host="a",rank="0"})", "8192");
  expect(R"(trireme_process_voluntary_context_switches_total{run="r",host="a",rank="0"})", "15");
}

TEST(Prometheus, FollowsRunsThatGrowGoBackAndEnd) {
  const TemporaryFolder folder;
  const base::fs::path run = folder / "r";
  PrometheusExporter exporter;
  const auto now = [&] { return samples_of(exporter.text({{"r", run}})); };
  EXPECT_EQ(now().at(R"(trireme_run_finished{run="r"})"), "0") << "nothing is there yet";
  write_watched_run(run);
  const std::string forward = R"(trireme_phase_seconds_total{run="r",worker="0",phase="forward"})";
  EXPECT_EQ(now().at(forward), "0.5");
  EXPECT_EQ(now().at(forward), "0.5") << "nothing counts twice";
  append(run / "metrics.jsonl", "ep\",\"step\":21,\"loss\":0.125}\n" + std::string(kWorkersLine));
  auto samples = now();
  EXPECT_EQ(samples.at(forward), "1");
  EXPECT_EQ(samples.at(R"(trireme_train_loss{run="r"})"), "0.125") << "the line that was half written";
  // A resumed run replaces the file by a shorter one.
  base::write_text_atomically(run / "metrics.jsonl", step_line(5, 2.5));
  samples = now();
  EXPECT_EQ(samples.at(R"(trireme_step{run="r"})"), "5");
  EXPECT_FALSE(samples.contains(forward));
  write_file(run / "summary.json", "{}");
  EXPECT_EQ(now().at(R"(trireme_run_finished{run="r"})"), "1");
  EXPECT_EQ(exporter.text({}), "") << "a run that is not asked for";
}

TEST(Prometheus, AClockThatIsSetBackGivesNoWrongRate) {
  const TemporaryFolder folder;
  const base::fs::path run = folder / "r";
  write_watched_run(run);
  PrometheusExporter exporter;
  const std::string rate = R"(trireme_samples_per_second{run="r"})";
  EXPECT_EQ(samples_of(exporter.text({{"r", run}})).at(rate), "320");
  append(run / "metrics.jsonl",
         "\n"
         R"({"type":"checkpoint","time":500.0,"step":30,"seconds":0.5})"
         "\n");
  EXPECT_FALSE(samples_of(exporter.text({{"r", run}})).contains(rate)) << "one moment is no time";
  append(run / "metrics.jsonl", R"({"type":"checkpoint","time":502.0,"step":40,"seconds":0.5})"
                                "\n");
  EXPECT_EQ(samples_of(exporter.text({{"r", run}})).at(rate), "320");
}

// Bytes of a valid run are replaced at random places: whatever comes of it, the text keeps its form.
TEST(Prometheus, DamagedFilesDoNoHarm) {
  const TemporaryFolder folder;
  const base::fs::path run = folder / "r";
  std::mt19937 random(1);
  constexpr std::string_view kLetters = "0159-e.\"[]{},:\n\\na\xff";
  for (int round = 0; round < 300; ++round) {
    write_watched_run(run);
    for (const char* name : {"run.json", "metrics.jsonl", "resources.jsonl"}) {
      std::string text = base::read_text(run / name);
      for (int change = 0; change < 1 + round % 20; ++change)
        text[random() % text.size()] = kLetters[random() % kLetters.size()];
      write_file(run / name, text);
    }
    std::istringstream lines(PrometheusExporter().text({{"r", run}}));
    for (std::string line; std::getline(lines, line);)
      ASSERT_TRUE(line.starts_with("# ") || (line.starts_with("trireme_") && line.rfind(' ') > line.rfind('}')))
          << round << ": " << line;
  }
}

TEST(Prometheus, SeveralRunsHaveALabel) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) write_watched_run(folder / name);
  PrometheusExporter exporter;
  const std::string text = exporter.text({{"a", folder / "a"}, {"group/b", folder / "b"}});
  const auto samples = samples_of(text);
  EXPECT_EQ(samples.at(R"(trireme_step{run="a"})"), "20");
  EXPECT_EQ(samples.at(R"(trireme_step{run="group/b"})"), "20");
  EXPECT_EQ(text.find("# TYPE trireme_step "), text.rfind("# TYPE trireme_step ")) << "one head for both";
}

}  // namespace
}  // namespace trireme::watch
