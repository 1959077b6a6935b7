#include "train/worker/interrupt.h"

#include <atomic>
#include <csignal>

namespace trireme::train {
namespace {

// A signal handler can reach only static objects, hence this one global. Atomic, because any thread may run the handler
// while the helm's thread reads; lock-free, because a handler must not wait.
std::atomic<bool> interrupted{false};
std::atomic<bool> hung_up{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

void note_hangup(int) { hung_up = true; }

}  // namespace

InterruptWatch::InterruptWatch() {
  interrupted = false;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptWatch::requested() const { return interrupted; }

HangupWatch::HangupWatch() {
  hung_up = false;
  std::signal(SIGHUP, note_hangup);
}

HangupWatch::~HangupWatch() { std::signal(SIGHUP, SIG_IGN); }

bool HangupWatch::has_come() const { return hung_up; }

}  // namespace trireme::train
