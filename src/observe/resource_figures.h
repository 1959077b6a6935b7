// ResourceFigures: the figures of one line of resources.jsonl that totals of the cluster are made of. A value.
#pragma once

#include <string>

namespace trireme::observe {

struct ResourceFigures {
  static constexpr int kHost = -1;  // in place of a rank: the figures are about the whole host

  std::string host{};
  int rank = kHost;
  double period_seconds = 0;  // that the figures cover
  double cpu = 0;             // cores used
  std::string cpus{};         // of a process: the cores on which it may run, as in 0-3,8
  double core_limit = 0;      // of a process: how many of them its control group lets it use at once; 0: all
  double cores = 0;           // of a host
  double memory_bytes = 0, shared_bytes = 0;  // of a process: resident; of a host: not available to programs
  double network_received_bytes = 0, network_sent_bytes = 0;  // within the period, of the host
};

}  // namespace trireme::observe
