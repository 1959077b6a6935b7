// The sink of resources.jsonl, see docs/run_folder.md.
#include <memory>
#include <optional>

#include "base/system/files.h"
#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

class ResourcesSink : public observe::EventSink {
 public:
  explicit ResourcesSink(const SinkContext& context) : path_(context.folder / "resources.jsonl") {}

  bool wants(const observe::Event& event) const override {
    return std::holds_alternative<observe::ResourcesUsed>(event);
  }
  void on(const observe::Event& event) override {
    const auto* used = std::get_if<observe::ResourcesUsed>(&event);
    if (used == nullptr) return;
    if (!writer_) writer_.emplace(path_);  // here, because a file that cannot be made must not stop the run
    writer_->write(used->line);
  }

 private:
  base::fs::path path_;
  std::optional<base::LineWriter> writer_;
};

}  // namespace

std::unique_ptr<observe::EventSink> make_resources_sink(const SinkContext& context) {
  return std::make_unique<ResourcesSink>(context);
}

}  // namespace trireme::train
