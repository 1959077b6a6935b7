#include "train/recorder/recorder.h"

#include <algorithm>
#include <utility>

#include "base/system/log.h"

namespace trireme::train {

Recorder::Recorder(const SinkRegistry& sinks, const SinkContext& context) {
  for (const SinkRow& row : sinks.rows())
    if (auto sink = row.make(context)) sinks_.push_back(std::make_unique<SinkQueue>(row.name, std::move(sink)));
}

Recorder::~Recorder() {
  for (const auto& sink : sinks_) sink->flush();
  for (const auto& sink : sinks_)
    if (sink->dropped() > 0)
      base::log_warn("{} was too slow for this run: it missed {} events (steps, pushes or resource samples)",
                     sink->name(), sink->dropped());
}

void Recorder::publish(observe::Event event) {
  const auto shared = std::make_shared<const observe::Event>(std::move(event));
  for (const auto& sink : sinks_) sink->push(shared);
  throw_errors();
}

void Recorder::flush() {
  for (const auto& sink : sinks_)
    if (sink->is_record()) sink->flush();
  throw_errors();
}

void Recorder::flush_all() {
  for (const auto& sink : sinks_) sink->flush();
  throw_errors();
}

void Recorder::throw_errors() {
  for (const auto& sink : sinks_)
    if (const std::exception_ptr error = sink->error()) std::rethrow_exception(error);
}

std::string Recorder::why_failed(std::string_view sink) const {
  const auto found = std::ranges::find_if(sinks_, [&](const auto& one) { return one->name() == sink; });
  return found == sinks_.end() ? std::string() : (*found)->complaint();
}

bool Recorder::has_failed() const {
  return std::ranges::any_of(sinks_, [](const auto& sink) { return sink->error() != nullptr; });
}

}  // namespace trireme::train
