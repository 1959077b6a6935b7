#include "watch/formats/prometheus.h"

#include "watch/formats/run_metrics.h"

namespace trireme::watch {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20;  // read by one call, about a tenth of a second's work

}  // namespace

PrometheusExporter::PrometheusExporter() = default;
PrometheusExporter::~PrometheusExporter() = default;

std::string PrometheusExporter::text(const std::vector<Run>& runs) {
  const std::lock_guard lock(mutex_);
  std::map<base::fs::path, std::unique_ptr<RunMetrics>> now;
  PrometheusFamilies families;
  for (const Run& run : runs) {
    auto& metrics = now[run.folder];
    if (const auto known = runs_.find(run.folder); known != runs_.end()) metrics = std::move(known->second);
    if (!metrics) metrics = std::make_unique<RunMetrics>(run.folder);
    metrics->read(kMostBytes / runs.size());
    metrics->describe(run.name, families);
  }
  runs_ = std::move(now);
  return families.text();
}

}  // namespace trireme::watch
