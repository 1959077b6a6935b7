// The sink of trace.json, see docs/run_folder.md.
#include "observe/trace.h"
#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

constexpr int kHelmInTrace = 1000;  // the helm's process number in the trace
constexpr int kMeetings = 0;        // lane

class TraceSink : public observe::EventSink {
 public:
  explicit TraceSink(const base::fs::path& folder) : path_(folder / "trace.json") {
    trace_.name_rank(kHelmInTrace, "helm");
    trace_.name_lane(kMeetings, "meetings");
  }

  bool is_record() const override { return true; }
  bool wants(const observe::Event& event) const override { return !observe::is_droppable(event); }
  void on(const observe::Event& event) override {
    std::visit(base::Match{[&](const observe::CheckpointWritten& checkpoint) {
                             trace_.add("checkpoint", kMeetings, checkpoint.start_ns, checkpoint.end_ns);
                           },
                           [&](const observe::HandedOver& hand_over) {
                             trace_.add("hand over", kMeetings, hand_over.start_ns, hand_over.end_ns);
                           },
                           [&](const observe::RolledBack& back) {
                             if (back.is_resume) trace_.go_on_with_file();
                             trace_.add(back.is_resume ? "resumed" : "rolled back", kMeetings, back.time_ns,
                                        back.time_ns);
                           },
                           [&](const observe::RankTrace& rank) {
                             trace_.add_rank(rank.rank, rank.name, rank.packed, rank.clock_ahead_ns);
                           },
                           [&](const observe::TraceComplete&) { trace_.write(path_); }, [](const auto&) {}},
               event);
  }

 private:
  base::fs::path path_;
  observe::Trace trace_;
};

}  // namespace

std::unique_ptr<observe::EventSink> make_trace_sink(const SinkContext& context) {
  return std::make_unique<TraceSink>(context.folder);
}

}  // namespace trireme::train
