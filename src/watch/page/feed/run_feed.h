// RunFeed: one run folder, read as it grows.
// One thread at a time.
//
// All that is known of a run is in its folder, so a page shows a run of this process, of another one and of last year
// in the same way.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "watch/page/feed/feed_data.h"
#include "watch/page/feed/file_tail.h"
#include "watch/page/feed/metrics_feed.h"

namespace trireme::watch {

class RunFeed {
 public:
  explicit RunFeed(base::fs::path folder);
  RunFeed(const RunFeed&) = delete;
  RunFeed& operator=(const RunFeed&) = delete;

  const FeedData& data() const { return data_; }

  // Reads what is new, at most about `most_bytes` of each growing file; says whether there is more.
  bool poll(std::size_t most_bytes);

 private:
  void read_document(const char* file, const char* section);
  void resource(std::string_view line);
  void read_state();

  base::fs::path folder_;
  FeedData data_;
  MetricsFeed metrics_;
  FileTail metrics_tail_, resources_tail_;
  std::map<std::string, std::string> documents_;  // per file: what tells whether it has changed
};

}  // namespace trireme::watch
