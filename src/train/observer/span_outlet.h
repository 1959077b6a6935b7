// SpanOutlet: passes chunks of spans to the run's recorder, as soon as and as long as there is one.
// Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace trireme::train {

class SpanOutlet {
 public:
  using Take = std::function<void(std::string chunk)>;

  void deliver(std::string chunk);
  // From now on `take` gets the chunks, first those that came before. One thread at a time calls it.
  void open(Take take);
  void close();

 private:
  static constexpr std::size_t kMostWaiting = 1024;  // chunks; the oldest are dropped

  std::mutex mutex_;  // guards the members below
  Take take_;
  std::deque<std::string> waiting_;
};

}  // namespace trireme::train
