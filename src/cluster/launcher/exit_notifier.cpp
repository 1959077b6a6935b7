#include "cluster/launcher/exit_notifier.h"

#include <chrono>

#include "base/error.h"
#include "base/system/clock.h"

namespace trireme::cluster {
namespace {

constexpr double kConnectSeconds = 0.2;
constexpr std::chrono::milliseconds kNotifyPause{50};
constexpr double kNotifySeconds = 10;  // long enough for rank 0 to open the group's rendezvous

}  // namespace

ExitNotifier::~ExitNotifier() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ExitNotifier::tell(int process, std::string how) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back({process, std::move(how)});
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void ExitNotifier::run() {
  for (;;) {
    Message message;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stops_ || !messages_.empty(); });
      if (stops_) return;
      message = std::move(messages_.front());
      messages_.pop_front();
    }
    const std::int64_t deadline = base::in_seconds(kNotifySeconds);
    while (!deliver(message) && base::now_ns() < deadline) {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kNotifyPause, [&] { return stops_; })) return;
    }
  }
}

// False while rank 0 is not listening: before the rendezvous opens, and after the group has ended.
bool ExitNotifier::deliver(const Message& message) {
  try {
    static_cast<void>(comm::connect_to(options_.address, base::in_seconds(kConnectSeconds)));
    comm::report_exit(options_, message.process, message.how);
    return true;
  } catch (const base::Error&) {
    return false;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace trireme::cluster
