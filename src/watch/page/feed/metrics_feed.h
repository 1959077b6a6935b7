// MetricsFeed: turns the lines of metrics.jsonl into tables and sections.
// One thread at a time.
//
// Lines of unknown types and unknown fields are left out, missing fields are NaN: files may be older or newer.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "watch/page/feed/feed_data.h"

namespace trireme::watch {

class MetricsFeed {
 public:
  explicit MetricsFeed(FeedData& data) : data_(data) {}

  void start_again();
  void line(std::string_view line);
  // After the lines that were there: updates what is made of several of them.
  void settle();

 private:
  struct Mark {
    double step = 0;
    std::string json;
  };
  struct Pusher {
    double step = 0, clock = 0, slowest = 0;
    std::map<std::int64_t, std::int64_t> staleness;  // counts of clock - slowest
  };

  void step(std::string_view line);
  void epoch(std::string_view line);
  void push(std::string_view line);
  void workers(std::string_view line);
  void layers(std::string_view line);
  void confusion(std::string_view line);
  void mark(std::string_view line);
  double elapsed(double time, double seconds);

  FeedData& data_;
  std::vector<Mark> marks_;
  std::map<std::string, Pusher> pushers_;
  bool has_new_marks_ = false, has_new_pushes_ = false;
  double last_time_ = 0, elapsed_ = 0;  // Unix time of the last step; seconds of training before it
};

}  // namespace trireme::watch
