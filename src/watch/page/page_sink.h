// The sink behind `train --watch`: serves the page of the run while it lives. It takes no events: the page reads the
// run's files. Thread-safe.
#pragma once

#include "train/recorder/recorder.h"

namespace trireme::watch {

train::SinkRow page_sink();

}  // namespace trireme::watch
