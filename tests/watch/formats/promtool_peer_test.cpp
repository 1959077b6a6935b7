// Prometheus' own checker of metrics accepts ours: syntax, names, units, types and help.
#include <gtest/gtest.h>

#include "support/peer_python.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "watch/formats/prometheus.h"
#include "watch/formats/watched_run.h"

namespace trireme::watch {
namespace {

test::Finished check_metrics(const base::fs::path& file) {
  return test::run_process({"sh", "-c", "promtool check metrics < '" + file.string() + "'"});
}

TEST(Promtool, FindsNothingWrong) {
  if (test::run_process({"sh", "-c", "command -v promtool"}).exit_code != 0)
    return test::without_peer("there is no promtool (Debian: prometheus)");
  const test::TemporaryFolder folder;
  for (const char* name : {"a", "b \"\\\n"}) write_watched_run(folder / name);
  PrometheusExporter exporter;
  write_file(folder / "metrics.txt", exporter.text({{"a", folder / "a"}, {"b \"\\\n", folder / "b \"\\\n"}}));
  const test::Finished checked = check_metrics(folder / "metrics.txt");
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_EQ(checked.out + checked.err, "");
  write_file(folder / "bad.txt", "trireme_steps_total{run=} 1\n");
  EXPECT_NE(check_metrics(folder / "bad.txt").exit_code, 0) << "the checker checks";
}

}  // namespace
}  // namespace trireme::watch
