// SinkQueue: one sink with its thread and the events that wait for it. Any thread may push; a push never waits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "observe/events.h"

namespace trireme::train {

using SharedEvent = std::shared_ptr<const observe::Event>;

class SinkQueue {
 public:
  // So many events wait at most for a sink that is no record; droppable ones are dropped then, the oldest first.
  static constexpr std::size_t kMostWaiting = 4096;

  SinkQueue(std::string name, std::unique_ptr<observe::EventSink> sink);
  // Delivers what waits, then ends the thread.
  ~SinkQueue();
  SinkQueue(const SinkQueue&) = delete;
  SinkQueue& operator=(const SinkQueue&) = delete;

  const std::string& name() const { return name_; }
  bool is_record() const { return is_record_; }

  void push(const SharedEvent& event);
  // Waits until everything pushed so far is delivered.
  void flush();
  // The error of a record, if it has failed: after it the sink hears nothing more.
  std::exception_ptr error() const;
  std::int64_t dropped() const;

 private:
  void run();
  void deliver(const std::vector<SharedEvent>& events);
  void warn(const std::exception_ptr& error) const noexcept;
  void drop_some();  // with the lock

  std::string name_;
  std::unique_ptr<observe::EventSink> sink_;
  const bool is_record_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_, delivered_;
  std::vector<SharedEvent> waiting_;
  bool is_urgent_ = false;  // deliver at once; otherwise events are collected for a moment
  bool stops_ = false;
  bool has_failed_ = false;
  std::exception_ptr error_;
  std::int64_t pushed_ = 0, done_ = 0, dropped_ = 0;
  std::thread thread_;
};

}  // namespace trireme::train
