// RoleMap: which process of a job runs which worker, which server and the helm.
// A plain value.
//
// Process 0 is also the helm: it holds the run folder and gives the orders. Servers with processes of their own have
// the lowest process numbers, so the helm does not share its process with a worker and survives the loss of any worker.
// Otherwise server k shares the process of worker k.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace trireme::strategy {

struct RoleMap {
  int workers = 1, servers = 0;
  bool servers_apart = false;

  static constexpr int kHelm = 0;
  int world() const { return workers + (servers_apart ? servers : 0); }
  int process_of_worker(int worker) const { return worker + (servers_apart ? servers : 0); }
  int process_of_server(int server) const { return server; }
  // -1: none.
  int worker_of(int process) const { return servers_apart ? (process < servers ? -1 : process - servers) : process; }
  int server_of(int process) const { return process < servers ? process : -1; }
  std::vector<int> all_workers() const {
    std::vector<int> all;
    for (int worker = 0; worker < workers; ++worker) all.push_back(worker);
    return all;
  }
  std::vector<int> worker_processes() const {
    std::vector<int> all;
    for (int worker = 0; worker < workers; ++worker) all.push_back(process_of_worker(worker));
    return all;
  }
  // "worker 2", "server 0".
  std::string name(int process) const {
    const int worker = worker_of(process);
    return worker >= 0 ? fmt::format("worker {}", worker) : fmt::format("server {}", process);
  }
};

}  // namespace trireme::strategy
