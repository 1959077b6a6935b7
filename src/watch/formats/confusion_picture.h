// A picture of a confusion matrix: a square per pair of classes, the darker, the larger its share of the true class.
// Pure functions.
#pragma once

#include <string>

#include "observe/events.h"

namespace trireme::watch {

struct ConfusionPicture {
  std::int64_t side = 0;  // pixels
  std::string png;        // empty where there is nothing to draw
};

ConfusionPicture draw_confusion(const observe::ConfusionCounted& confusion);

}  // namespace trireme::watch
