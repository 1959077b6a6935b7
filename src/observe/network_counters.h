// NetworkCounters: the bytes that all network interfaces of this host have received and sent. One thread at a time.
#pragma once

#include <map>
#include <string>

#include "observe/kernel_file.h"

namespace trireme::observe {

struct NetworkBytes {
  double received = kNotTold, sent = kNotTold;
};

class NetworkCounters {
 public:
  explicit NetworkCounters(base::fs::path root = "/");
  NetworkBytes read();

 private:
  bool counts(std::string_view interface);

  base::fs::path root_;
  KernelFile devices_;
  std::map<std::string, bool, std::less<>> counts_;  // by interface
};

}  // namespace trireme::observe
