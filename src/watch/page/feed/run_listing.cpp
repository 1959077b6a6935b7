#include "watch/page/feed/run_listing.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/run_folder/run_folder.h"

namespace trireme::watch {
namespace {

namespace fs = base::fs;
using ListJson = nlohmann::json;

constexpr std::int64_t kEndOfMetrics = 1 << 16;

std::string stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "-";
  return fmt::format("{}.{}/{}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size);
}

ListJson document(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  ListJson json = ListJson::parse(in, nullptr, false);
  return json.is_object() ? json : ListJson::object();
}

// The members of these names.
void take_members(const ListJson& from, std::initializer_list<const char*> names, ListJson& to) {
  if (!from.is_object()) return;
  for (const char* name : names)
    if (const auto found = from.find(name); found != from.end() && found->is_primitive()) to[name] = *found;
}

// The last step and the last epoch of metrics.jsonl.
void take_newest(const fs::path& file, ListJson& to) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::int64_t size = in.tellg();
  if (size <= 0) return;
  in.seekg(std::max<std::int64_t>(0, size - kEndOfMetrics));
  std::string step, epoch;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    if (line.starts_with(R"({"type":"step")")) step = std::move(line);
    if (line.starts_with(R"({"type":"epoch")")) epoch = std::move(line);
  }
  take_members(ListJson::parse(step, nullptr, false), {"step", "loss", "accuracy"}, to);
  take_members(ListJson::parse(epoch, nullptr, false),
               {"epoch", "test_loss", "test_accuracy", "validation_loss", "validation_accuracy"}, to);
}

std::string about(const std::string& name, const fs::path& folder, bool is_running) {
  const ListJson run = document(folder / "run.json");
  ListJson json{{"name", name}};
  if (run.contains("configuration")) take_members(run["configuration"], {"model", "data", "strategy"}, json);
  if (run.contains("resolved")) take_members(run["resolved"], {"workers", "servers", "total_steps"}, json);
  take_newest(folder / "metrics.jsonl", json);
  std::error_code ignored;
  json["state"] = is_running ? "running" : fs::exists(folder / "summary.json", ignored) ? "finished" : "interrupted";
  struct stat status {};
  if (::stat((folder / "network.json").c_str(), &status) == 0 || ::stat((folder / "run.json").c_str(), &status) == 0)
    json["started"] = status.st_mtime;
  return json.dump(-1, ' ', false, ListJson::error_handler_t::replace);
}

bool is_running(const fs::path& folder) {
  try {
    return train::RunFolder::open(folder.string()).is_locked();
  } catch (const base::Error&) {
    return false;
  }
}

}  // namespace

void RunListing::look_into(const fs::path& folder, int levels, std::map<std::string, Entry>& found) const {
  std::error_code cause;
  if (fs::exists(folder / "run.json", cause)) {
    std::string name = folder.lexically_relative(root_).generic_string();
    if (name == "." || name.empty()) name = root_.filename().string();
    if (name.empty()) name = root_.parent_path().filename().string();
    found[name].folder = folder;
    return;
  }
  if (levels == 0) return;
  constexpr auto kSkip = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::directory_iterator(folder, kSkip, cause); !cause && entry != fs::directory_iterator();
       entry.increment(cause)) {
    std::error_code ignored;
    if (found.size() < kMostRuns && entry->is_directory(ignored) && !entry->path().filename().string().starts_with("."))
      look_into(entry->path(), levels - 1, found);
  }
}

bool RunListing::refresh() {
  std::map<std::string, Entry> found;
  look_into(root_, levels_, found);
  std::string json = "[";
  for (auto& [name, entry] : found) {
    const bool runs = is_running(entry.folder);
    entry.stamp = fmt::format("{} {} {} {}", runs, stamp_of(entry.folder / "run.json"),
                              stamp_of(entry.folder / "metrics.jsonl"), stamp_of(entry.folder / "summary.json"));
    const auto before = runs_.find(name);
    const bool is_known = before != runs_.end() && before->second.stamp == entry.stamp;
    entry.json = is_known ? before->second.json : about(name, entry.folder, runs);
    json += (json.size() > 1 ? "," : "") + entry.json;
  }
  json += "]";
  runs_ = std::move(found);
  if (json == json_) return false;
  json_ = std::move(json);
  return true;
}

std::map<std::string, fs::path> RunListing::folders() const {
  std::map<std::string, fs::path> folders;
  for (const auto& [name, entry] : runs_) folders[name] = entry.folder;
  return folders;
}

fs::path RunListing::folder_of(const std::string& name) const {
  const auto found = runs_.find(name);
  return found == runs_.end() ? fs::path() : found->second.folder;
}

}  // namespace trireme::watch
