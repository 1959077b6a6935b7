// LinkSpeeds: how fast the connections between the hosts of the workers are, and whose are slow.
// Runs in the helm's thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "observe/tcp_loads.h"

namespace trireme::train {

class LinkSpeeds {
 public:
  // What a worker's process has sent so far.
  void set(int worker, std::vector<observe::TcpLoad> loads);
  // Removes a lost worker; the numbers of those after it decrease by one.
  void lose(int worker);

  struct Verdict {
    std::vector<int> workers;     // whose host's connections are all slow; empty: nobody's in particular
    double bytes_per_second = 0;  // of its fastest connection; of the fastest of all if nobody's is slow
    double others = 0;            // of the other hosts' fastest ones: the median
  };
  // Nothing if too little was sent between hosts.
  std::optional<Verdict> verdict() const;

 private:
  std::map<int, std::vector<observe::TcpLoad>> loads_;  // by worker
};

}  // namespace trireme::train
