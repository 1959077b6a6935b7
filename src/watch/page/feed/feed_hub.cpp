#include "watch/page/feed/feed_hub.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/cpu/thread_name.h"
#include "base/system/clock.h"

namespace trireme::watch {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::size_t kPassBytes = std::size_t{4} << 20;  // of each file, before others get their turn
constexpr std::size_t kMostIdleFeeds = 16;
constexpr double kListInterval = 2, kManyViewers = 10;

}  // namespace

FeedHub::FeedHub(Options options)
    : options_(std::move(options)), listing_(options_.root, options_.levels), thread_([this] { work(); }) {}

FeedHub::~FeedHub() {
  close();
  thread_.join();
}

void FeedHub::close() {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  is_closed_ = true;
  if (viewers_ > 0) try {
      (void)poll_runs();
    } catch (const std::exception&) {  // as in work()
    }
  wake_.notify_all();
  news_.notify_all();
}

bool FeedHub::is_closed() const {
  const std::lock_guard lock(mutex_);
  return is_closed_;
}

FeedHub::Viewer::Viewer(FeedHub& hub, std::vector<std::string> runs) : hub_(hub), runs_(std::move(runs)) {
  const std::lock_guard lock(hub_.mutex_);
  for (const std::string& run : runs_) hub_.wanted_.insert(run);
  ++hub_.viewers_;
  hub_.has_new_viewer_ = true;
  hub_.wake_.notify_all();
}

FeedHub::Viewer::~Viewer() {
  const std::lock_guard lock(hub_.mutex_);
  for (const std::string& run : runs_) hub_.wanted_.erase(hub_.wanted_.find(run));
  --hub_.viewers_;
}

std::uint64_t FeedHub::wait_for_news(std::uint64_t version, double seconds) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, Seconds(seconds), [&] { return version_ > version || is_closed_; });
  return version_;
}

void FeedHub::look_at(const std::string& run, const std::function<void(const FeedData*)>& look) {
  const std::lock_guard lock(mutex_);
  const auto found = feeds_.find(run);
  look(found == feeds_.end() ? nullptr : &found->second->data());
}

std::string FeedHub::list() {
  const std::lock_guard lock(mutex_);
  refresh_list();
  return listing_.json();
}

std::optional<std::string> FeedHub::newer_list(std::uint64_t& version) {
  const std::lock_guard lock(mutex_);
  refresh_list();
  if (version == list_version_) return {};
  version = list_version_;
  return listing_.json();
}

std::map<std::string, base::fs::path> FeedHub::folders() {
  const std::lock_guard lock(mutex_);
  refresh_list();
  return listing_.folders();
}

void FeedHub::refresh_list() {
  const std::int64_t now = base::now_ns();
  if (listed_ns_ != 0 && now - listed_ns_ < static_cast<std::int64_t>(kListInterval * 1e9)) return;
  if (listing_.refresh()) {
    ++version_;
    ++list_version_;
  }
  listed_ns_ = base::now_ns();
  listed_ns_ += 19 * (listed_ns_ - now);  // a folder of very many runs is looked at less often
}

bool FeedHub::poll_runs() {
  bool has_more = false;
  for (auto run = wanted_.begin(); run != wanted_.end(); run = wanted_.upper_bound(*run)) {
    const base::fs::path folder = listing_.folder_of(*run);
    if (folder.empty()) continue;
    std::unique_ptr<RunFeed>& feed = feeds_[*run];
    if (!feed) feed = std::make_unique<RunFeed>(folder);
    const std::uint64_t before = feed->data().version();
    has_more |= feed->poll(kPassBytes);
    if (feed->data().version() != before) ++version_;
  }
  for (auto feed = feeds_.begin(); feed != feeds_.end() && feeds_.size() > kMostIdleFeeds;)
    feed = wanted_.contains(feed->first) ? std::next(feed) : feeds_.erase(feed);
  return has_more;
}

void FeedHub::work() {
  base::name_this_thread("page reader");
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 19);  // of this thread alone
  std::unique_lock lock(mutex_);
  while (!is_closed_) {
    wake_.wait(lock, [&] { return viewers_ > 0 || is_closed_; });
    if (is_closed_) return;
    has_new_viewer_ = false;
    const std::int64_t start = base::now_ns();
    bool has_more = false;
    try {
      refresh_list();
      has_more = poll_runs();
    } catch (const std::exception&) {  // out of memory, a folder that vanished: the next look is another try
    }
    const double busy = base::seconds_since(start);
    news_.notify_all();
    const double least = busy / options_.most_busy_share - busy;
    // What is new is written for every browser: many of them get it less often.
    const double interval = options_.interval * std::max(1.0, viewers_ / kManyViewers);
    const double rest = std::max(has_more ? 0.001 : interval, least);
    wake_.wait_for(lock, Seconds(rest), [&] { return is_closed_ || (has_new_viewer_ && least < 0.001); });
  }
}

}  // namespace trireme::watch
