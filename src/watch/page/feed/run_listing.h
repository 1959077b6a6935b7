// RunListing: the runs of a folder with a few words about each, kept up to date.
// One thread at a time.
//
// Browsers name runs by the names given here, which are looked up and never made into a path.
#pragma once

#include <map>
#include <string>

#include "base/system/files.h"

namespace trireme::watch {

class RunListing {
 public:
  // The runs in `root`, at most `levels` levels below it; 0: `root` is a run itself.
  RunListing(base::fs::path root, int levels) : root_(std::move(root)), levels_(levels) {}

  // Looks again; true if anything has changed.
  bool refresh();
  // A JSON array with an object per run.
  const std::string& json() const { return json_; }
  std::map<std::string, base::fs::path> folders() const;
  // Empty if there is no run of that name.
  base::fs::path folder_of(const std::string& name) const;

  static constexpr std::size_t kMostRuns = 2000;

 private:
  struct Entry {
    base::fs::path folder;
    std::string stamp;  // tells whether its files have changed
    std::string json;
  };
  void look_into(const base::fs::path& folder, int levels, std::map<std::string, Entry>& found) const;

  base::fs::path root_;
  int levels_;
  std::map<std::string, Entry> runs_;
  std::string json_ = "[]";
};

}  // namespace trireme::watch
