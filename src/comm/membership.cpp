#include "comm/membership.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "comm/link.h"

namespace trireme::comm {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kFrameBytes = 16 << 20;
constexpr std::int64_t kSendNs = 500'000'000;
constexpr double kBeatsInSilence = 5;

std::int64_t in_seconds(double seconds) { return base::now_ns() + static_cast<std::int64_t>(seconds * 1e9); }

}  // namespace

Membership::Membership(const JoinOptions& options, const Door& door, const std::string& local_name)
    : rank_(options.rank),
      patience_(options.patience),
      frames_(kFrameBytes),
      alarm_(std::make_shared<Alarm>(options.world)),
      stop_bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  meet(options, door, local_name);
  alarm_->set_judge([this](int peer, const std::string& what) {
    send(Json{{"do", "report"}, {"rank", peer}, {"what", what}}.dump());
  });
  thread_ = std::thread([this] { run(); });
}

Membership::~Membership() {
  alarm_->set_judge({});
  stop_ = true;
  eventfd_write(stop_bell_.descriptor(), 1);
  thread_.join();
  send(Json{{"do", "leave"}}.dump());
}

void Membership::meet(const JoinOptions& options, const Door& door, const std::string& local_name) {
  const std::int64_t deadline = in_seconds(options.join_seconds);
  const auto hello = [&](const Socket& connected) {
    Hello one{options.world, options.program, this_process()};
    one.member.rank = rank_;
    one.member.address = {own_host(connected), port_of(door.listener())};
    one.member.local = {local_name, 0};
    return to_json(one);
  };
  arbiter_ = enter(options.address, options.token, hello, "rank 0", deadline);
  Json answer;
  try {
    answer = Json::parse(receive_frame(arbiter_, kFrameBytes, deadline));
  } catch (const GoneError& error) {
    base::run_error("rank {}: not all of {} ranks came to {} within {:g} s ({})", rank_, options.world,
                    to_text(options.address), options.join_seconds, error.what());
  }
  if (answer.at("do") == "refuse")
    base::user_error("rank {} cannot join the group at {}: {}", rank_, to_text(options.address),
                     answer.at("why").get<std::string>());
  members_ = members_from_json(answer.at("members").get<std::string>());
}

void Membership::send(const std::string& frame) {
  const std::lock_guard lock(send_mutex_);
  try {
    send_frame(arbiter_, frame, base::now_ns() + kSendNs);
  } catch (const GoneError&) {  // run() hears of it
  }
}

void Membership::run() {
  const double beat_seconds = patience_.silent_seconds / kBeatsInSilence;
  std::int64_t heard = base::now_ns(), next_beat = in_seconds(beat_seconds);
  while (!stop_) {
    std::array<pollfd, 2> polls{{{stop_bell_.descriptor(), POLLIN, 0}, {arbiter_.descriptor(), POLLIN, 0}}};
    const double left = 1e-6 * static_cast<double>(next_beat - base::now_ns());
    poll(polls.data(), polls.size(), static_cast<int>(std::ceil(std::max(left, 0.0))));
    if (base::now_ns() >= next_beat) {
      send(Json{{"do", "beat"}}.dump());
      next_beat = in_seconds(beat_seconds);
    }
    try {
      std::array<std::byte, 4096> bytes{};
      // Frame by frame: the arbiter may have gone right after its verdict.
      while (const std::size_t count = receive_some(arbiter_, bytes)) {
        heard = base::now_ns();
        frames_.add(std::span(bytes).first(count));
        while (auto frame = frames_.next())
          if (!take(*frame)) return;
      }
    } catch (const std::runtime_error& error) {
      return alarm_->raise(
          fmt::format("{}, which holds the group together, is gone: {}", describe(members_.at(0)), error.what()));
    }
    if (const double silent = base::seconds_since(heard); silent > patience_.silent_seconds)
      return alarm_->raise(fmt::format("{}, which holds the group together, has been silent for {:.1f} s",
                                       describe(members_.at(0)), silent));
  }
}

bool Membership::take(const std::string& frame) {
  const Json json = Json::parse(frame);
  const std::string what = json.at("do");
  if (what == "verdict") alarm_->raise(json.at("text"));
  if (what == "left") alarm_->leave(json.at("rank"));
  return what != "farewell";
}

}  // namespace trireme::comm
