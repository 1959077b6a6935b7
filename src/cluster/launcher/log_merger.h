// LogMerger: merges the output of ranks 1, 2, ... onto standard error, prefixed with the rank's name.
// One caller at a time.
//
// Each line is delayed by 0.3 s. If a process fails in that time, the launcher can drop the follow-up errors of the
// other ranks, and quote the last line of the failed one in its own error message.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace trireme::cluster {

class LogMerger {
 public:
  explicit LogMerger(std::vector<std::string> names) : names_(std::move(names)), last_words_(names_.size()) {}

  void add(int rank, std::string line, bool is_error);
  // Prints the lines whose delay is over; all lines.
  void print(std::int64_t now_ns);
  void print_all();
  // When the next line is due; 0: there is none.
  std::int64_t next_ns() const { return lines_.empty() ? 0 : lines_.front().due_ns; }

  // Drops the unprinted and all later lines of the other ranks.
  void listen_only_to(int rank);
  // The last line of the rank on standard error that is not blank. Taking it removes it from the lines to print, if it
  // is not printed yet.
  const std::string& last_words(int rank) const { return last_words_[static_cast<std::size_t>(rank)]; }
  std::string take_last_words(int rank);

 private:
  struct Line {
    int rank;
    bool is_error;
    std::string text;
    std::int64_t due_ns;
  };

  std::vector<std::string> names_;
  std::vector<std::string> last_words_;
  std::deque<Line> lines_;
  int only_ = -1;  // a rank; -1: all
};

}  // namespace trireme::cluster
