// The sink of resources.jsonl, see docs/run_folder.md.
#include <memory>

#include "observe/resources.h"
#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

class ResourcesSink : public observe::EventSink {
 public:
  explicit ResourcesSink(const SinkContext& context)
      : others_(context.folder / "resources.jsonl"),
        own_(std::make_unique<observe::ResourceWatch>(context.folder / "resources.jsonl", 1.0, context.cpus)) {}

  bool wants(const observe::Event& event) const override {
    return std::holds_alternative<observe::ResourcesUsed>(event) || std::holds_alternative<observe::RunFinished>(event);
  }
  void on(const observe::Event& event) override {
    if (const auto* used = std::get_if<observe::ResourcesUsed>(&event)) others_.write(used->line);
    if (std::holds_alternative<observe::RunFinished>(event)) own_.reset();  // writes a last line
  }

 private:
  base::LineWriter others_;
  std::unique_ptr<observe::ResourceWatch> own_;
};

}  // namespace

std::unique_ptr<observe::EventSink> make_resources_sink(const SinkContext& context) {
  return std::make_unique<ResourcesSink>(context);
}

}  // namespace trireme::train
