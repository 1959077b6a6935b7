// LiveSession: what one browser has been sent of its runs, and what it must be sent next.
// One thread at a time.
//
// A message is an object:
//   {"list": [...], "runs": {NAME: {"tables": {NAME: {"columns": [...], "every": n, "first": row, "rows": [[...]]}},
//                                   "sections": {NAME: value}}}}
// with only what is new. "first" says which row of the browser's table the rows replace and follow.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "watch/page/feed/feed_hub.h"

namespace trireme::watch {

class LiveSession {
 public:
  // Of `detail` everything is sent, of the other runs only curves.
  LiveSession(std::vector<std::string> runs, std::string detail) : runs_(std::move(runs)), detail_(std::move(detail)) {}

  // The next message; empty if nothing is new.
  std::string next(FeedHub& hub);

 private:
  struct SentTable {
    std::uint64_t generation = 0;
    std::size_t rows = 0;
  };
  struct SentRun {
    std::map<std::string, SentTable> tables;
    std::map<std::string, std::uint64_t> sections;
    std::uint64_t version = 0;
  };
  std::string news_of(const FeedData& data, SentRun& sent, bool all) const;

  std::vector<std::string> runs_;
  std::string detail_;
  std::uint64_t list_version_ = 0;
  std::map<std::string, SentRun> sent_;
};

}  // namespace trireme::watch
