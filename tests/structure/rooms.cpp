#include "structure/rooms.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace trireme::structure {
namespace {

// Below each folder, the rooms that do not include each other.
const std::map<std::string, std::set<std::string>> kSiblings = {
    {"bench/", {"collective", "input", "step", "train"}},
    {"comm/", {"collective", "mailbox"}},
    {"data/readers/", {"images", "numpy", "table"}},
    {"ops/", {"activation", "dense", "loss", "merge", "norm", "pool"}},
    {"ops/conv/", {"direct", "narrow", "norm_conv", "small_map", "toom_cook", "winograd"}},
    {"strategy/", {"all_reduce", "groups", "local", "ps"}},
    {"train/", {"server", "worker"}},
};

// "winograd" of "ops/conv/winograd/plan.h" below "ops/conv/"; empty when the path is elsewhere or in no such room.
std::string room_below(const std::string& folder, const std::string& path) {
  if (!path.starts_with(folder)) return {};
  const std::size_t end = path.find('/', folder.size());
  return end == std::string::npos ? std::string{} : path.substr(folder.size(), end - folder.size());
}

// "ops/conv" of "ops/conv/conv.h".
std::string room_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Room -> the rooms of the same part that it includes, each with one such include: "a.h includes b.h".
using RoomGraph = std::map<std::string, std::map<std::string, std::string>>;

RoomGraph graph_of(const std::vector<SourceFile>& files) {
  RoomGraph graph;
  for (const SourceFile& file : files) {
    const std::string inside = file.path.substr(std::string_view("src/").size()), room = room_of(inside);
    for (const Include& include : includes_of(file)) {
      const std::string other = room_of(include.path);
      if (include.quoted && other != room && part_of("src/" + include.path) == part_of(file.path))
        graph[room].emplace(other, inside + " includes " + include.path);
    }
  }
  return graph;
}

// The rooms of the shortest cycle from `first` back to it that meets no room before it in the alphabet; empty: none.
std::vector<std::string> cycle_from(const RoomGraph& graph, const std::string& first) {
  std::map<std::string, std::string> reached_from;
  std::vector<std::string> queue = {first};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto entry = graph.find(queue[i]);
    if (entry == graph.end()) continue;
    const std::string room = queue[i];
    for (const auto& [next, include] : entry->second) {
      if (next == first) {
        std::vector<std::string> cycle = {room};
        while (cycle.back() != first) cycle.push_back(reached_from.at(cycle.back()));
        std::ranges::reverse(cycle);
        return cycle;
      }
      if (next > first && reached_from.emplace(next, room).second) queue.push_back(next);
    }
  }
  return {};
}

}  // namespace

Offences check_room_cycles(const std::vector<SourceFile>& files) {
  const RoomGraph graph = graph_of(files);
  Offences offences;
  for (const auto& [room, edges] : graph) {
    const std::vector<std::string> cycle = cycle_from(graph, room);
    if (cycle.empty()) continue;
    std::string way, whys;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      way += cycle[i] + " -> ";
      whys += (i == 0 ? "" : "; ") + graph.at(cycle[i]).at(cycle[(i + 1) % cycle.size()]);
    }
    offences.push_back(fmt::format("src: the rooms {}{} form a cycle: {}", way, room, whys));
  }
  return offences;
}

Offences check_sibling_rooms(const SourceFile& file) {
  Offences offences;
  const std::string inside = file.path.substr(std::string_view("src/").size());
  for (const auto& [folder, rooms] : kSiblings) {
    const std::string own = room_below(folder, inside);
    if (!rooms.contains(own)) continue;
    for (const Include& include : includes_of(file)) {
      const std::string other = room_below(folder, include.path);
      if (other != own && rooms.contains(other))
        offences.push_back(
            fmt::format("{}:{}: includes {}: {} may not use {}; put what they share into a room below both", file.path,
                        include.line, include.path, own, other));
    }
  }
  return offences;
}

Offences check_folder_sizes(const std::set<std::string>& paths) {
  std::map<std::string, int> sizes;
  for (const std::string& path : paths) ++sizes[path.substr(0, path.rfind('/'))];
  Offences offences;
  for (const auto& [folder, size] : sizes)
    if (size > kLargestFolder)
      offences.push_back(
          fmt::format("{}: {} files, at most {} are allowed; give it rooms", folder, size, kLargestFolder));
  return offences;
}

}  // namespace trireme::structure
