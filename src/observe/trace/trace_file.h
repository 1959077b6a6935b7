// TraceFile: a chrome trace that grows: at any time the file is one complete JSON object.
// One thread at a time.
//
// Events that stay and events that are only recent are appended alike, in one write together with the closing brackets.
// Now and then the recent ones that are older than some seconds are taken out: the file is cut after the last part that
// stays for good, and the rest is written again. So it holds all that stays and between one and two times the recent
// time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/system/files.h"

namespace trireme::observe {

struct TraceLimits {
  std::uint64_t bytes = std::uint64_t{200} << 20;        // of the whole file
  std::uint64_t recent_bytes = std::uint64_t{48} << 20;  // of events that are only recent
  double recent_seconds = 10;
};

class TraceFile {
 public:
  // Makes the file, or goes on with one of an earlier process: its events stay. A file that is damaged at its end, or
  // that another program made, loses what is damaged. A failure is a run error, here and in the functions below.
  TraceFile(const base::fs::path& path, bool goes_on, TraceLimits limits);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // When the last event of earlier processes ends, in microseconds.
  double earlier_end_us() const { return earlier_end_us_; }

  // Adds an event, an object of JSON without a comma. `end_us`: when it ends. Events reach the file with write().
  void add(std::string_view event, double end_us, bool stays);
  void count_left_out(std::uint64_t spans) { left_out_ = spans; }
  void write();
  // Takes out what is only recent and ends before `now_us` less the limit, or goes beyond `most_bytes` (the oldest
  // first), and writes.
  void trim(double now_us, std::uint64_t most_bytes);
  void trim(double now_us) { trim(now_us, limits_.recent_bytes); }
  bool holds_recent() const { return recent_bytes_ > 0; }

 private:
  struct Recent {
    std::string event;
    double end_us = 0;
    bool stays = false;
  };

  void open_earlier();
  std::string closing() const;
  void write_at(std::uint64_t offset, std::string_view text);
  void cut_to(std::uint64_t bytes);

  base::fs::path path_;
  TraceLimits limits_;
  int descriptor_ = -1;
  double earlier_end_us_ = 0, end_us_ = 0;
  std::uint64_t left_out_ = 0, earlier_left_out_ = 0;
  std::uint64_t left_out_here_ = 0;  // did not fit
  std::uint64_t settled_ = 0;        // bytes at the front that stay for good
  std::uint64_t end_ = 0;            // where the closing brackets begin
  bool is_first_ = true;             // no event is in the file
  bool settled_is_empty_ = true;     // no event is in the settled part
  std::deque<Recent> after_;         // the events behind the settled part
  std::uint64_t recent_bytes_ = 0;   // of those that do not stay
  std::uint64_t staying_bytes_ = 0;  // of those that stay, behind the settled part
  std::string pending_;              // not written yet
};

}  // namespace trireme::observe
