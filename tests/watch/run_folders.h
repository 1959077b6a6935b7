// Parts of run folders for tests.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/system/temporary_folder.h"

namespace trireme::watch {

inline void write_file(const base::fs::path& path, const std::string& text) {
  base::fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// Ten steps an epoch, 30 in all.
inline std::string run_json(const std::string& model, int workers) {
  return nlohmann::json{
      {"configuration", {{"model", model}, {"data", "mnist"}, {"strategy", "auto"}}},
      {"resolved", {{"workers", workers}, {"parameters", 62006}, {"steps_per_epoch", 10}, {"total_steps", 30}}}}
      .dump();
}

inline std::string step_line(int step, double loss) {
  return R"({"type":"step","step":)" + std::to_string(step) + R"(,"loss":)" + nlohmann::json(loss).dump() +
         R"(,"accuracy":0.5,"lr":0.1})" + "\n";
}

inline std::string epoch_line(int epoch, double accuracy) {
  return R"({"type":"epoch","step":)" + std::to_string(10 * (epoch + 1)) + R"(,"epoch":)" + std::to_string(epoch) +
         R"(,"train_loss":0.4,"train_accuracy":0.8,"test_loss":0.25,"test_accuracy":)" +
         nlohmann::json(accuracy).dump() + R"(,"lr":0.05,"seconds":2.5})" + "\n";
}

}  // namespace trireme::watch
