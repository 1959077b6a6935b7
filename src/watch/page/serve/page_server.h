// PageServer: the page of runs, for browsers.
// Thread-safe; the threads it makes end with it.
//
//   GET /                 the page
//   GET /assets/NAME      its parts
//   GET /api/runs         the list of runs as JSON
//   GET /api/page         what the page may do, and the run to show first
//   POST /api/control?do=pause|continue|checkpoint|stop   where the page may steer its run
//   GET /metrics          for Prometheus: the run of this process, or all runs of the folder
//   GET /api/live?run=A&run=B&detail=A   Server-Sent Events, see live_session.h
#pragma once

#include <memory>
#include <string>

#include "train/recorder/run_control.h"
#include "watch/page/feed/feed_hub.h"

namespace trireme::watch {

struct PageOptions {
  FeedHub::Options runs;
  std::string address = "127.0.0.1";
  int port = -1;                               // see open_listening_socket()
  bool is_strict = false;                      // a port in use is an error
  std::string token;                           // empty: one is made where one is needed
  std::shared_ptr<train::RunControl> control;  // of the run that the page may steer; null: of none
  std::string shown;                           // the run that the page shows first; empty: the newest
};

class PageServer {
 public:
  // Listens at once. What the options make impossible is a user error.
  explicit PageServer(PageOptions options);
  ~PageServer();

  int port() const;
  // What to open in a browser, with the token if one is needed.
  std::string url() const;
  const std::string& note() const;  // see ListeningSocket

  static constexpr std::size_t kMostLive = 96;  // browsers at once

 private:
  class Http;
  std::unique_ptr<Http> http_;
};

}  // namespace trireme::watch
