// SummaryFileSink: writes summary.json at the end of a run, see docs/run_folder.md. Called by one thread of the
// recorder.
#include <nlohmann/json.hpp>

#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

class SummaryFileSink : public observe::EventSink {
 public:
  explicit SummaryFileSink(const base::fs::path& folder) : path_(folder / "summary.json") {}

  bool is_record() const override { return true; }
  bool wants(const observe::Event& event) const override { return std::holds_alternative<observe::RunFinished>(event); }
  void on(const observe::Event& event) override {
    const auto& finished = std::get<observe::RunFinished>(event);
    std::error_code ignored;
    // A finished run that is resumed without further steps keeps its summary.
    if (finished.steps_here == 0 && base::fs::exists(path_, ignored)) return;
    base::write_text_atomically(path_, nlohmann::ordered_json::parse(finished.summary).dump(2) + "\n");
  }

 private:
  base::fs::path path_;
};

}  // namespace

std::unique_ptr<observe::EventSink> make_summary_sink(const SinkContext& context) {
  return std::make_unique<SummaryFileSink>(context.folder);
}

}  // namespace trireme::train
