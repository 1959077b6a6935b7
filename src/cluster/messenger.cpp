#include "cluster/messenger.h"

#include "base/clock.h"
#include "base/error.h"

namespace trireme::cluster {
namespace {

constexpr double kProbeSeconds = 0.2;

}  // namespace

Messenger::~Messenger() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Messenger::tell(int process, std::string how) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back({process, std::move(how)});
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void Messenger::run() {
  for (;;) {
    Message message;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stops_ || !messages_.empty(); });
      if (stops_) return;
      message = std::move(messages_.front());
      messages_.pop_front();
    }
    try {
      // Before the group's meeting has begun, or after its end, there is nobody to be told.
      static_cast<void>(comm::connect_to(options_.address, base::in_seconds(kProbeSeconds)));
      comm::tell_ending(options_, message.process, message.how);
    } catch (const base::Error&) {  // the group finds out by itself
    } catch (const std::exception&) {
    }
  }
}

}  // namespace trireme::cluster
