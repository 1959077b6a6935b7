#include "watch/trace/recorded_trace.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trireme::watch {
namespace {

using TraceJson = nlohmann::json;

RecordedSpan span_of(const TraceJson& event) {
  RecordedSpan span;
  span.name = event.at("name");
  span.category = event.value("cat", "");
  span.start_us = event.at("ts");
  span.end_us = span.start_us + event.value("dur", 0.0);
  const TraceJson& arguments = event.at("args");
  const auto whole = [&](const char* name, std::int64_t otherwise) {
    const auto found = arguments.find(name);
    return found == arguments.end() || !found->is_number() ? otherwise : found->get<std::int64_t>();
  };
  span.bucket = whole("bucket", -1);
  span.bytes = static_cast<double>(whole("bytes", 0));
  span.oars = whole("oars", 0);
  for (const char* name : {"waited_for", "to", "from"}) span.peer = std::max(span.peer, whole(name, -1));
  span.detail = arguments.value("detail", "");
  return span;
}

void add_event(RecordedTrace& trace, const TraceJson& event) {
  const std::string kind = event.at("ph"), name = event.at("name");
  const int process = event.at("pid");
  if (kind == "M" && name == "process_name") trace.processes[process] = event.at("args").at("name");
  if (kind == "i" && name == "clock") {
    const TraceJson& bound = event.at("args").at("bound_us");
    trace.clock_bound_us = bound.is_number() ? std::max(trace.clock_bound_us, bound.get<double>())
                                             : std::numeric_limits<double>::quiet_NaN();
  }
  if (kind != "X" || !event.contains("args") || !event["args"].contains("step")) return;
  std::vector<RecordedSpan>& spans = trace.steps[event["args"]["step"]][process];
  RecordedSpan span = span_of(event);
  const auto is_step = [](const RecordedSpan& one) { return one.name == "step"; };
  // A worker makes each step once; a second time means that the run was resumed before it.
  if (is_step(span) && std::ranges::any_of(spans, is_step))
    std::erase_if(spans, [&](const RecordedSpan& one) { return one.end_us < span.start_us; });
  spans.push_back(std::move(span));
}

}  // namespace

bool RecordedTrace::is_worker(int process) const { return name_of(process).starts_with("worker"); }

std::string RecordedTrace::name_of(int process) const {
  const auto found = processes.find(process);
  return found == processes.end() ? "process " + std::to_string(process) : found->second;
}

RecordedTrace read_trace(const base::fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!in) base::user_error("{} cannot be read; was the run made with --trace none?", file.string());
  if (!std::getline(in, line) || !line.ends_with("\"traceEvents\":["))
    base::user_error("{} is no trace of this program", file.string());
  RecordedTrace trace;
  while (std::getline(in, line) && !line.starts_with("]")) try {
      if (line.ends_with(",")) line.pop_back();
      if (!line.empty()) add_event(trace, TraceJson::parse(line));
    } catch (const TraceJson::exception&) {  // the process was killed while it wrote this line
    }
  return trace;
}

}  // namespace trireme::watch
