// LogMerger: the lines of all processes but the first, merged on standard error with the name of who said them in
// front. A line is held back for a moment: when a process fails, what the others say because of it should not drown the
// cause, and the last words of the failed one belong into the sentence about it.
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
  // Prints the lines that have waited long enough; all of them.
  void print(std::int64_t now_ns);
  void print_all();
  // When there is something to print again; 0: nothing.
  std::int64_t next_ns() const { return lines_.empty() ? 0 : lines_.front().due_ns; }

  // From now on only that one is heard.
  void listen_only_to(int rank);
  // The last line that it said on its standard error and that is not blank; when taken, not printed any more if it was
  // not yet.
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
