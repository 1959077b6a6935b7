// The worked example of CONTRIBUTING.md for a sink: losses.csv, a line per step.
#pragma once

#include <fmt/ostream.h>

#include <fstream>

#include "train/recorder/recorder.h"

namespace trireme::own_parts {

class LossesSink : public observe::EventSink {
 public:
  explicit LossesSink(const base::fs::path& folder) : file_(folder / "losses.csv") { file_ << "step,loss\n"; }
  bool wants(const observe::Event& event) const override { return std::holds_alternative<observe::StepDone>(event); }
  void on(const observe::Event& event) override {
    const auto& step = std::get<observe::StepDone>(event);
    fmt::print(file_, "{},{}\n", step.step, step.loss);
    file_.flush();
  }

 private:
  std::ofstream file_;
};

inline train::SinkRow losses_row() {
  return {"losses", "losses.csv: a line per step",
          [](const train::SinkContext& context) { return std::make_unique<LossesSink>(context.folder); }};
}

}  // namespace trireme::own_parts
