// SinkQueue: one sink with its thread and its queue of events.
// Thread-safe; push() never waits.
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
  // When this many events are queued for a sink that is not a record, the droppable ones of the older half are dropped.
  static constexpr std::size_t kMostWaiting = 4096;

  SinkQueue(std::string name, std::unique_ptr<observe::EventSink> sink);
  // Delivers the queued events, then ends the thread.
  ~SinkQueue();
  SinkQueue(const SinkQueue&) = delete;
  SinkQueue& operator=(const SinkQueue&) = delete;

  const std::string& name() const { return name_; }
  bool is_record() const { return is_record_; }

  void push(const SharedEvent& event);
  // Waits until everything pushed so far is delivered.
  void flush();
  // The error of a record that has failed; null otherwise. A sink that has failed gets no more events.
  std::exception_ptr error() const;
  // Why a sink that is no record has failed; empty while it has not.
  std::string complaint() const;
  std::int64_t dropped() const;

 private:
  void run();
  void deliver(const std::vector<SharedEvent>& events);
  std::string warn(const std::exception_ptr& error) const noexcept;  // returns the sentence of the error
  void drop_some();                                                  // REQUIRES: mutex_ is held

  std::string name_;
  std::unique_ptr<observe::EventSink> sink_;
  const bool is_record_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable wake_, delivered_;
  std::vector<SharedEvent> waiting_;
  bool is_urgent_ = false;  // deliver at once; otherwise events are collected for 50 ms
  bool stops_ = false;
  bool has_failed_ = false;
  std::exception_ptr error_;
  std::string complaint_;
  std::int64_t pushed_ = 0, done_ = 0, dropped_ = 0;
  std::thread thread_;
};

}  // namespace trireme::train
