// FeedHub: reads the runs that somebody looks at, in a thread of its own, and wakes those who look.
// Thread-safe.
//
// Nothing is read while nobody looks. The thread has the lowest priority and, where it shares a machine with training,
// rests most of the time even while it catches up with a long run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "watch/page/feed/run_feed.h"
#include "watch/page/feed/run_listing.h"

namespace trireme::watch {

class FeedHub {
 public:
  struct Options {
    base::fs::path root;         // a run, or a folder of runs
    int levels = 2;              // of folders that are searched for runs
    double interval = 0.5;       // seconds between two looks
    double most_busy_share = 1;  // of a core's time
  };
  explicit FeedHub(Options options);
  ~FeedHub();
  FeedHub(const FeedHub&) = delete;
  FeedHub& operator=(const FeedHub&) = delete;

  // Somebody who looks at runs. While it lives, their files are read.
  class Viewer {
   public:
    Viewer(FeedHub& hub, std::vector<std::string> runs);
    ~Viewer();
    Viewer(const Viewer&) = delete;
    Viewer& operator=(const Viewer&) = delete;
    const std::vector<std::string>& runs() const { return runs_; }

   private:
    FeedHub& hub_;
    std::vector<std::string> runs_;
  };

  // Waits until there is something newer than `version`, at most for `seconds`; returns the newest version.
  std::uint64_t wait_for_news(std::uint64_t version, double seconds);
  // Calls with the data of a run, or null if it is not known (yet).
  void look_at(const std::string& run, const std::function<void(const FeedData*)>& look);
  // The list as JSON, looked up at once if nobody was looking.
  std::string list();
  // The list if it is newer than `version`, which becomes that of the list.
  std::optional<std::string> newer_list(std::uint64_t& version);
  // The runs by name.
  std::map<std::string, base::fs::path> folders();
  // For the end: reads what is new once more, then wakes all who wait.
  void close();
  bool is_closed() const;

 private:
  void work();
  void refresh_list();  // REQUIRES: mutex_ is held
  bool poll_runs();     // REQUIRES: mutex_ is held

  const Options options_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_, news_;
  RunListing listing_;
  std::int64_t listed_ns_ = 0;
  std::uint64_t list_version_ = 1;
  std::multiset<std::string> wanted_;  // the runs of all viewers
  int viewers_ = 0;
  std::map<std::string, std::unique_ptr<RunFeed>> feeds_;
  std::uint64_t version_ = 1;
  bool is_closed_ = false, has_new_viewer_ = false;
  std::thread thread_;
};

}  // namespace trireme::watch
