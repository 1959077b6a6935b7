#include "comm/membership/failure_detector.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/cpu/thread_name.h"
#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "comm/transport/link/link.h"

namespace trireme::comm {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHeartbeatFrameBytes = 1 << 20;
constexpr std::int64_t kReportGraceNs = 300'000'000, kTellNs = 200'000'000;
constexpr int kLongestPollMs = 1000, kCrowdedPollMs = 50;
constexpr double kNever = 1e9;  // seconds

// Serialises JSON that may contain any bytes of other ranks.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

FailureDetector::FailureDetector(Socket listener, Secrecy secrecy, int world, std::string program,
                                 FailureTimeouts timeouts, Clock clock)
    : FailureDetector(std::move(listener), std::move(secrecy), world, std::move(program), timeouts, std::move(clock),
                      world, kNever) {}

FailureDetector::FailureDetector(Socket listener, Secrecy secrecy, int world, std::string program,
                                 FailureTimeouts timeouts, Clock clock, int awaited, double settle_seconds)
    : program_(std::move(program)),
      world_(world),
      awaited_(awaited),
      timeouts_(timeouts),
      clock_(clock ? std::move(clock) : base::now_ns),
      settle_deadline_ns_(base::in_seconds(settle_seconds)),
      listener_(std::move(listener), std::move(secrecy), world),
      stop_event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  thread_ = std::thread([this] { run(); });
}

FailureDetector::~FailureDetector() {
  stop_ = true;
  eventfd_write(stop_event_.descriptor(), 1);
  thread_.join();
}

int FailureDetector::wait_ms(std::int64_t now_ns) const {
  std::int64_t due = now_ns + std::int64_t{listener_.is_crowded() ? kCrowdedPollMs : kLongestPollMs} * 1'000'000;
  if (report_) due = std::min(due, report_->due_ns);
  if (!is_open_ && !watched_.empty()) due = std::min(due, settle_deadline_ns_);
  if (is_open_)
    for (const auto& [rank, watched] : watched_)
      if (watched.is_here())
        due = std::min(due, watched.heard_ns + static_cast<std::int64_t>(timeouts_.silent_seconds * 1e9));
  return static_cast<int>(std::max<std::int64_t>(0, (due - now_ns + 999'999) / 1'000'000));
}

void FailureDetector::run() {
  base::name_this_thread("failures");
  std::vector<pollfd> polls;
  while (!stop_) {
    polls.assign(1, {stop_event_.descriptor(), POLLIN, 0});
    listener_.add_polls(polls);
    for (const auto& [rank, watched] : watched_)
      if (watched.is_here()) polls.push_back({watched.socket.descriptor(), POLLIN, 0});
    poll(polls.data(), polls.size(), wait_ms(base::now_ns()));
    for (Guest& guest : listener_.accept_authenticated()) admit(std::move(guest));
    if (!is_open_ && disagreement_ != listener_.disagreement()) {
      disagreement_ = listener_.disagreement();
      send_to_all(text_of({{"do", "refuse"}, {"why", disagreement_}}));
    }
    for (auto& [rank, watched] : watched_)
      if (watched.is_here()) listen_to(watched);
    // Until the group is complete, a lost rank may arrive again.
    if (!is_open_) std::erase_if(watched_, [](const auto& one) { return one.second.is_lost; });
    judge();
  }
  send_to_all(text_of({{"do", "farewell"}}));
}

// Accepts a guest as a rank; one that does not belong to this group is told why.
void FailureDetector::admit(Guest guest) {
  const auto refuse = [&](const std::string& why) {
    try {
      send_frame(guest.socket, text_of({{"do", "refuse"}, {"why", why}, {"is failure", !early_failure_.empty()}}),
                 base::now_ns() + kTellNs);
    } catch (const GoneError&) {  // it will notice the closed connection
    }
  };
  Hello hello;
  try {
    if (const auto ending = ending_from_json(guest.hello)) return handle_exit(*ending);
    hello = hello_from_json(guest.hello);
  } catch (const FrameError& error) {
    return refuse(error.what());
  }
  Member& member = hello.member;
  const std::string who = describe(member);
  if (!early_failure_.empty()) return refuse(early_failure_);
  if (!disagreement_.empty()) return refuse(disagreement_);
  if (is_open_) return refuse(fmt::format("{} comes too late: all {} ranks are there", who, world_));
  if (hello.world != world_)
    return refuse(fmt::format("{} was started for {} ranks, rank 0 for {}", who, hello.world, world_));
  if (hello.program != program_)
    return refuse(fmt::format("{} runs '{}', rank 0 runs '{}'", who, hello.program, program_));
  if (member.rank < 0 || member.rank >= world_) return refuse(fmt::format("{}: ranks are 0 to {}", who, world_ - 1));
  if (const auto taken = watched_.find(member.rank); taken != watched_.end())
    return refuse(fmt::format("{} comes, but {} is there already", who, describe(taken->second.member)));
  WatchedRank watched{member, std::move(guest.socket), FrameReader(kHeartbeatFrameBytes), base::now_ns()};
  watched_.emplace(member.rank, std::move(watched));
  watched_.at(member.rank).wants_to_begin = true;
  std::vector<int> missing;
  for (int rank = 0; rank < world_; ++rank)
    if (!watched_.contains(rank)) missing.push_back(rank);
  send_to_all(Json{{"do", "wait"}, {"missing", missing}}.dump());
}

void FailureDetector::open_if_wanted() {
  const auto wants = [](const auto& one) { return !one.second.is_here() || one.second.wants_to_begin; };
  if (watched_.empty() || !std::all_of(watched_.begin(), watched_.end(), wants)) return;
  std::map<int, WatchedRank> staying;
  for (auto& [rank, watched] : watched_) {
    if (!watched.is_here()) continue;
    watched.member.rank = static_cast<int>(staying.size());
    watched.wants_to_begin = false;
    staying.emplace(watched.member.rank, std::move(watched));
  }
  watched_ = std::move(staying);
  report_.reset();
  has_judged_ = false;
  ++generation_;
  if (!watched_.empty()) open();
}

// A rank that arrived over this host's loopback is listed to each other rank under the address at which that rank
// reached this host.
void FailureDetector::open() {
  is_open_ = true;
  for (auto& [rank, watched] : watched_) {
    std::vector<Member> members;
    const std::string here = own_host(watched.socket);
    for (const auto& [other, one] : watched_) {
      members.push_back(one.member);
      if (one.member.address.is_loopback()) members.back().address.host = here;
    }
    watched.heard_ns = base::now_ns();
    send_to(watched, text_of({{"do", "begin"},
                              {"rank", rank},
                              {"generation", generation_},
                              {"silent seconds", timeouts_.silent_seconds},
                              {"members", to_json(members)}}));
  }
}

void FailureDetector::listen_to(WatchedRank& watched) {
  std::array<std::byte, 4096> bytes{};
  try {
    for (;;) {
      const std::size_t count = receive_some(watched.socket, bytes);
      if (count == 0) break;
      watched.frames.add(std::span(bytes).first(count));
      while (const auto frame = watched.frames.next()) {
        const auto text = authentic_text(watched.socket, *frame);
        if (!text) {
          if (!std::exchange(watched.has_warned_of_forgery, true))
            base::log_warn("{}", forgery_sentence(describe(watched.member)));
          continue;
        }
        watched.heard_ns = base::now_ns();
        take(watched, *text);
      }
    }
  } catch (const GoneError& error) {
    const std::string evidence = fmt::format("is gone: {}", error.what());
    watched.socket = Socket();
    if (watched.has_left) return;
    if (!is_open_ || has_judged_ || timeouts_.ending_seconds <= 0)
      lose(watched.member.rank, evidence);
    else if (!report_ || report_->about == watched.member.rank)  // only the first rank counts
      report_ = Report{watched.member.rank, evidence, base::in_seconds(timeouts_.ending_seconds)};
  } catch (const FrameError& error) {
    lose(watched.member.rank, fmt::format("sent {}", error.what()));
  } catch (const Json::exception& error) {
    lose(watched.member.rank, fmt::format("sent what cannot be read: {}", error.what()));
  }
}

void FailureDetector::take(WatchedRank& watched, const std::string& frame) {
  const Json json = Json::parse(frame);
  const std::string what = json.at("do");
  if (what == "beat") {
    send_to(watched, frame);
  } else if (what == "time") {
    send_to(watched, Json{{"do", "time"}, {"asked", json.at("asked").get<std::int64_t>()}, {"answer", clock_()}}.dump());
  } else if (what == "leave") {
    watched.has_left = true;
    send_to_all(text_of({{"do", "left"}, {"rank", watched.member.rank}}));
  } else if (what == "again") {
    watched.wants_to_begin = true;
  } else if (what == "report" && is_open_ && !report_ && !has_judged_) {
    const std::string what_it_saw = json.at("what");
    report_ = Report{json.at("rank"), fmt::format("cannot be reached by {}: {}", describe(watched.member), what_it_saw),
                     base::now_ns() + kReportGraceNs};
  }
}

void FailureDetector::judge() {
  const std::int64_t now = base::now_ns();
  const bool is_complete = static_cast<int>(watched_.size()) >= awaited_ || now >= settle_deadline_ns_;
  if (is_open_ ? has_judged_ : is_complete && disagreement_.empty() && early_failure_.empty()) open_if_wanted();
  if (report_ && now >= report_->due_ns) {
    const Report report = *report_;
    report_.reset();
    if (const auto about = watched_.find(report.about);
        about != watched_.end() && !about->second.has_left && !about->second.is_lost)
      lose(report.about, report.evidence);
  }
  if (!is_open_) return;
  for (auto& [rank, watched] : watched_)
    if (const double silent = 1e-9 * static_cast<double>(now - watched.heard_ns);
        watched.is_here() && silent > timeouts_.silent_seconds)
      lose(rank, fmt::format("has been silent for {:.1f} s: it was stopped, or its host or network hangs", silent));
}

void FailureDetector::handle_exit(const ProcessExit& ending) {
  if (!is_open_) {                        // no process replaces it, so the others must not wait
    if (!early_failure_.empty()) return;  // the others end because of the first failure
    early_failure_ = fmt::format("a rank (process {} on {}) {} before all {} were there", ending.process, ending.host,
                                 ending.how, world_);
    return send_to_all(text_of({{"do", "refuse"}, {"why", early_failure_}, {"is failure", true}}));
  }
  for (auto& [rank, watched] : watched_)
    if (watched.member.process == ending.process && watched.member.host == ending.host && !watched.has_left &&
        !watched.is_lost)
      return lose(rank, ending.how);
}

void FailureDetector::lose(int rank, const std::string& evidence) {
  WatchedRank& watched = watched_.at(rank);
  const std::string verdict =
      text_of({{"do", "verdict"}, {"rank", rank}, {"text", describe(watched.member) + " " + evidence}});
  if (is_open_) send_to(watched, verdict);  // it may only have been suspended
  watched.is_lost = true;
  watched.socket = Socket();
  if (has_judged_ || !is_open_) return;
  has_judged_ = true;
  send_to_all(verdict);
}

void FailureDetector::send_to(WatchedRank& watched, const std::string& frame) {
  try {
    send_frame(watched.socket, frame, base::now_ns() + kTellNs);
  } catch (const GoneError&) {  // listen_to() will notice
  }
}

void FailureDetector::send_to_all(const std::string& frame) {
  for (auto& [rank, watched] : watched_)
    if (watched.is_here()) send_to(watched, frame);
}

}  // namespace trireme::comm
