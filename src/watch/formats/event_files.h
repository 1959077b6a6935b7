// EventFiles: TensorBoard's event files of one run, in a folder. One thread at a time.
//
// Every process that works on the run writes a file of its own, named so that readers, who sort the names, take it
// after the earlier ones. Events are written at least once a second while some come.
#pragma once

#include <vector>

#include "watch/formats/record_file.h"
#include "watch/formats/tensorboard_messages.h"

namespace trireme::watch {

class EventFiles {
 public:
  // A folder that cannot be made or written to is a run error, here and later.
  explicit EventFiles(const base::fs::path& folder);

  void add(std::int64_t step, const std::vector<ProtoMessage>& values);
  // From here on, the events of this step and of later ones count as never written. The first call begins the run.
  void start_at(std::int64_t step);
  void flush();

 private:
  void add(const ProtoMessage& event);

  RecordFile file_;
  std::int64_t flushed_ns_;
};

}  // namespace trireme::watch
