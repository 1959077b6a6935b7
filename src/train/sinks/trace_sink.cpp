// The sink of trace.json and trace_now.json, see docs/run_folder.md. Not a record: a run goes on without its trace.
#include <fmt/core.h>

#include <optional>

#include "base/system/clock.h"
#include "observe/trace/trace_mode.h"
#include "observe/trace/trace_writer.h"
#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

class TraceSink : public observe::EventSink {
 public:
  TraceSink(const base::fs::path& folder, observe::TraceLimits limits, bool goes_on)
      : folder_(folder), limits_(limits), goes_on_(goes_on) {}
  ~TraceSink() override {
    try {
      if (writer_) writer_->finish();
    } catch (const std::exception&) {  // on() has complained, or will not be called any more
    }
  }

  bool wants(const observe::Event& event) const override {
    return !observe::is_droppable(event) || std::holds_alternative<observe::SpansRecorded>(event);
  }

  void on(const observe::Event& event) override {
    std::visit(base::Match{[&](const observe::CheckpointWritten& checkpoint) {
                             writer().add_meeting("checkpoint", checkpoint.step, checkpoint.start_ns,
                                                  checkpoint.end_ns);
                           },
                           [&](const observe::HandedOver& hand_over) {
                             writer().add_meeting("hand over", hand_over.step, hand_over.start_ns, hand_over.end_ns);
                           },
                           [&](const observe::RolledBack& back) {
                             if (back.is_resume) goes_on_ = true;
                             mark(back.is_resume ? "resumed" : "rolled back", back.step, back.time_ns);
                           },
                           [&](const observe::WorkerLost& lost) { mark("lost", lost.step, base::now_ns()); },
                           [&](const observe::RunStarted& started) {
                             if (!goes_on_) mark("started", started.first_step, base::now_ns());
                           },
                           [&](const observe::SpansRecorded& spans) { take(spans.packed); },
                           [&](const observe::RunFinished&) {
                             if (writer_) writer_->finish();
                           },
                           [](const auto&) {}},
               event);
    if (writer_) writer_->write();
  }

 private:
  observe::TraceWriter& writer() {
    if (!writer_) writer_.emplace(folder_, goes_on_, limits_);
    return *writer_;
  }
  void mark(const char* name, std::int64_t step, std::int64_t at_ns) {
    writer().add_mark(name, at_ns, fmt::format(R"({{"step":{},"unix":{:.3f}}})", step, base::unix_seconds()));
  }
  void take(const std::string& packed) { writer().add(observe::unpack_spans(packed)); }

  base::fs::path folder_;
  observe::TraceLimits limits_;
  bool goes_on_;
  std::optional<observe::TraceWriter> writer_;  // since the first event: only then is it known whether a run goes on
};

}  // namespace

std::unique_ptr<observe::EventSink> make_trace_sink(const SinkContext& context) {
  observe::TraceLimits limits;
  if (context.settings != nullptr) {
    const observe::TraceMode mode = observe::parse_trace_mode(*context.settings);
    if (mode == observe::TraceMode::none) return nullptr;
    if (mode == observe::TraceMode::all) limits.bytes = 0;
  }
  const bool goes_on = context.settings != nullptr && !context.settings->text("resume").empty();
  return std::make_unique<TraceSink>(context.folder, limits, goes_on);
}

}  // namespace trireme::train
