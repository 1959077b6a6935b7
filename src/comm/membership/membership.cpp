#include "comm/membership/membership.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/cpu/thread_name.h"
#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "comm/transport/link/link.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kRosterFrameBytes = 16 << 20;
constexpr std::int64_t kSendNs = 500'000'000;
constexpr double kBeatsInSilence = 5;
constexpr double kCompareSeconds = 1, kFirstCompareSeconds = 0.1;  // how often clocks are compared; at first
constexpr int kFirstComparisons = 10;
constexpr int kQuestions = 4;  // exchanges of times for a comparison

std::chrono::nanoseconds until(std::int64_t deadline_ns) {
  return std::chrono::nanoseconds(std::max<std::int64_t>(0, deadline_ns - base::now_ns()));
}

// "rank 3", "ranks 3, 5".
std::string name_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (const int rank : ranks) text += (rank == ranks[0] ? " " : ", ") + std::to_string(rank);
  return text;
}

// Parses the arbiter's description; a member's rank is its index in the list.
MembershipView view_of(const Json& json) {
  MembershipView view{json.at("rank"),
                      json.at("generation"),
                      json.at("silent seconds"),
                      members_from_json(json.at("members").get<std::string>()),
                      {}};
  const int world = static_cast<int>(view.members.size());
  for (int rank = 0; rank < world; ++rank)
    if (view.members[static_cast<std::size_t>(rank)].rank != rank) throw FrameError("a list of ranks without order");
  if (view.rank < 0 || view.rank >= world)
    throw FrameError(fmt::format("a list of {} ranks to rank {}", world, view.rank));
  view.alarm = std::make_shared<FailureState>(world);
  return view;
}

JoinOptions with_clock(JoinOptions options) {
  if (!options.clock) options.clock = base::now_ns;
  return options;
}

}  // namespace

Membership::Membership(const JoinOptions& options, Member self, int listener_port, std::int64_t deadline_ns)
    : options_(with_clock(options)), frames_(kRosterFrameBytes), stop_event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  const auto hello = [&](const Socket& connected) {
    self.address = {own_host(connected), listener_port};
    return to_json(Hello{options.world, options.program, self});
  };
  arbiter_ = enter(options.address, secrecy_of(options), hello, "the rendezvous", deadline_ns);
  thread_ = std::thread([this] { run(); });
}

Membership::~Membership() {
  {
    const std::lock_guard lock(mutex_);
    if (view_) view_->alarm->set_judge({});
  }
  stop_ = true;
  eventfd_write(stop_event_.descriptor(), 1);
  thread_.join();
  send(Json{{"do", "leave"}}.dump());
}

MembershipView Membership::meet(std::int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, until(deadline_ns), [&] { return has_new_view_ || is_arbiter_gone_ || !refusal_.empty(); });
  if (!refusal_.empty() && is_refused_for_failure_) base::run_error("rank {}: {}", options_.rank, refusal_);
  if (!refusal_.empty())
    base::user_error("rank {} cannot join the group at {}: {}", options_.rank, to_text(options_.address), refusal_);
  if (!has_new_view_)
    base::run_error("rank {}: {} of {} did not come to {} within {:g} s{}", options_.rank,
                    missing_.empty() ? "some" : name_ranks(missing_), options_.world, to_text(options_.address),
                    options_.join_seconds,
                    options_.address.is_loopback() ? "; other hosts cannot reach a loopback address" : "");
  has_new_view_ = false;
  return *view_;
}

std::optional<MembershipView> Membership::meet_again(std::int64_t deadline_ns) {
  send(Json{{"do", "again"}}.dump());
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, until(deadline_ns), [&] { return has_new_view_ || is_arbiter_gone_; });
  if (is_arbiter_gone_) return std::nullopt;
  if (!has_new_view_)
    base::run_error("rank {}: the others did not come to form a group again within {:g} s", options_.rank,
                    options_.join_seconds);
  has_new_view_ = false;
  return *view_;
}

void Membership::send(const std::string& frame) {
  const std::lock_guard lock(send_mutex_);
  try {
    send_frame(arbiter_, frame, base::now_ns() + kSendNs);
  } catch (const GoneError&) {  // run() will notice
  }
}

// The arbiter is gone: in a working group, that is a failure of rank 0.
void Membership::raise(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  is_arbiter_gone_ = true;
  if (view_) view_->alarm->raise(fmt::format("{}, {}, {}", describe(view_->members.at(0)), kHoldsGroup, sentence));
  changed_.notify_all();
}

base::ClockModel Membership::clock() const {
  const std::lock_guard lock(mutex_);
  return clock_fit_.at(options_.clock());
}

void Membership::ask_time() {
  if (questions_left_ == 0) return;
  --questions_left_;
  send(Json{{"do", "time"}, {"asked", options_.clock()}}.dump());
}

void Membership::run() {
  base::name_this_thread("heartbeat");
  const double& silent_seconds = options_.patience.silent_seconds;  // a reference, because take() may change it
  std::int64_t heard = base::now_ns(), next_beat = base::in_seconds(silent_seconds / kBeatsInSilence);
  std::int64_t next_comparison = heard;
  int comparisons = 0;
  while (!stop_) {
    next_beat = std::min(next_beat, base::in_seconds(silent_seconds / kBeatsInSilence));
    std::array<pollfd, 2> polls{{{stop_event_.descriptor(), POLLIN, 0}, {arbiter_.descriptor(), POLLIN, 0}}};
    const double left = 1e-6 * static_cast<double>(std::min(next_beat, next_comparison) - base::now_ns());
    poll(polls.data(), polls.size(), static_cast<int>(std::ceil(std::max(left, 0.0))));
    if (base::now_ns() >= next_beat) {
      send(Json{{"do", "beat"}}.dump());
      next_beat = base::in_seconds(silent_seconds / kBeatsInSilence);
    }
    if (base::now_ns() >= next_comparison) {
      questions_left_ = kQuestions;
      ask_time();
      next_comparison = base::in_seconds(++comparisons <= kFirstComparisons ? kFirstCompareSeconds : kCompareSeconds);
    }
    try {
      std::array<std::byte, 4096> bytes{};
      // Take each complete frame before reading on: the arbiter may have gone right after its verdict.
      while (const std::size_t count = receive_some(arbiter_, bytes)) {
        frames_.add(std::span(bytes).first(count));
        while (const auto frame = frames_.next()) {
          const auto text = authentic_text(arbiter_, *frame);
          if (!text) {
            if (!std::exchange(has_warned_of_forgery_, true)) base::log_warn("{}", forgery_sentence("the rendezvous"));
            continue;
          }
          heard = base::now_ns();
          if (!take(*text)) return;
        }
      }
    } catch (const std::exception& error) {  // gone, or not readable
      return raise(fmt::format("is gone: {}", error.what()));
    }
    if (const double silent = base::seconds_since(heard); silent > silent_seconds)
      return raise(fmt::format("has been silent for {:.1f} s", silent));
  }
}

bool Membership::take(const std::string& frame) {
  const std::int64_t now_ns = options_.clock();
  const Json json = Json::parse(frame);
  const std::string what = json.at("do");
  if (what == "time") {
    {
      const std::lock_guard lock(mutex_);
      clock_fit_.add({json.at("asked"), json.at("answer"), now_ns});
    }
    ask_time();
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (what == "begin") {
    MembershipView view = view_of(json);
    view.alarm->set_judge([this](int peer, const std::string& seen) {
      send(Json{{"do", "report"}, {"rank", peer}, {"what", seen}}.dump());
    });
    if (view_) view_->alarm->set_judge({});  // that group's ranks are numbered differently
    options_.patience.silent_seconds = view.silent_seconds;
    view_ = std::move(view);
    has_new_view_ = true;
  }
  if (what == "wait") missing_ = json.at("missing").get<std::vector<int>>();
  if (what == "refuse") {
    refusal_ = json.at("why");
    is_refused_for_failure_ = json.value("is failure", false);
  }
  if (what == "verdict" && view_) view_->alarm->raise(json.at("text"));
  if (what == "left" && view_) view_->alarm->leave(view_->members.at(json.at("rank").get<std::size_t>()).rank);
  if (what == "farewell") {
    is_arbiter_gone_ = true;
    if (view_) view_->alarm->set_judge({});
  }
  changed_.notify_all();
  return what != "farewell" && what != "refuse";
}

}  // namespace trireme::comm
