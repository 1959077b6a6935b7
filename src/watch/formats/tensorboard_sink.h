// The sink of TensorBoard's event files, see docs/run_folder.md. Called by one thread of the recorder.
#pragma once

#include <memory>

#include "train/recorder/recorder.h"

namespace trireme::watch {

// Null unless the run has --tensorboard.
std::unique_ptr<observe::EventSink> make_tensorboard_sink(const train::SinkContext& context);

// The sinks of this part, for the registry.
std::vector<train::SinkRow> format_sinks();

}  // namespace trireme::watch
