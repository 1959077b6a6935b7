// PrometheusExporter: the newest values of runs in the text format of Prometheus, from the files of their folders.
// Thread-safe.
//
// It reads what the files have got since the last call, so that a page of metrics costs little, live as afterwards.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/system/files.h"

namespace trireme::watch {

class RunMetrics;

// The Content-Type of the text.
inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

class PrometheusExporter {
 public:
  struct Run {
    std::string name;  // the label `run`
    base::fs::path folder;
  };

  PrometheusExporter();
  ~PrometheusExporter();

  // All metrics of these runs. Forgets runs that are not among them. Of files that are much longer than at the last
  // call only a part is read; the next calls read on.
  std::string text(const std::vector<Run>& runs);

 private:
  std::mutex mutex_;
  std::map<base::fs::path, std::unique_ptr<RunMetrics>> runs_;
};

}  // namespace trireme::watch
