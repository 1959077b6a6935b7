#include "train/results/profile_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/text.h"

namespace trireme::train {
namespace {

using OrderedJson = nlohmann::ordered_json;
using observe::Profile;
using observe::ProfilePhase;
using observe::ProfileRow;

const char* phase_name(ProfilePhase phase) {
  switch (phase) {
    case ProfilePhase::forward: return "forward";
    case ProfilePhase::backward: return "backward";
    case ProfilePhase::update: return "update";
  }
  return "";
}

// The figures of a row: per step, and relative to the whole profile.
struct Figures {
  double milliseconds, calls, share, gflops, gbytes;
  double roof;  // fraction of the roofline; 0 if the cost is unknown
};

Figures figures_of(const ProfileRow& row, const Profile& profile, const base::Peak& peak) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(profile.steps, 1));
  const double whole = profile.wall_seconds * profile.threads;
  const double seconds = std::max(row.seconds, 1e-12);
  return {1e3 * row.seconds / profile.threads / steps,
          row.calls / steps,
          whole > 0 ? row.seconds / whole : 0,
          1e-9 * row.flops / seconds,
          1e-9 * row.bytes / seconds,
          base::least_seconds(peak, row.flops, row.bytes) / seconds};
}

// Rows of one kind and phase together, longest first; a kind's forward and backward stay apart.
std::vector<ProfileRow> by_kind(const Profile& profile) {
  std::vector<ProfileRow> kinds;
  for (const ProfileRow& row : profile.rows) {
    auto found = std::find_if(kinds.begin(), kinds.end(),
                              [&](const ProfileRow& kind) { return kind.kind == row.kind && kind.phase == row.phase; });
    if (found == kinds.end()) {
      kinds.push_back({"", row.kind, "", row.phase});
      found = kinds.end() - 1;
    }
    found->seconds += row.seconds;
    found->calls += row.calls;
    found->flops += row.flops;
    found->bytes += row.bytes;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return kinds;
}

std::vector<ProfileRow> by_layer(const Profile& profile) {
  std::vector<ProfileRow> layers;
  for (const ProfileRow& row : profile.rows)
    if (!row.layer.empty()) layers.push_back(row);
  std::stable_sort(layers.begin(), layers.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return layers;
}

constexpr std::size_t kNameWidth = 42;

// Long names lose their beginning: layers of a network differ at the end.
std::string fitted(const std::string& name) {
  return name.size() <= kNameWidth ? name : ".." + name.substr(name.size() - kNameWidth + 2);
}

// A layer whose data stay in the caches is faster than memory, on which the roofline counts.
std::string roof_text(double roof) {
  if (roof <= 0) return "";
  return roof > 1.005 ? ">100 %" : fmt::format("{:.0f} %", 100 * roof);
}

std::string line_of(const std::string& name, const ProfileRow& row, const Figures& f) {
  const auto rate = [](double value, const char* unit) {
    return value > 0 ? fmt::format("{:.1f} {}", value, unit) : "";
  };
  return fmt::format("  {:<42} {:<9}{:>9.3f} ms {:>5.1f} % {:>7.0f} x {:>14} {:>11} {:>6}", fitted(name),
                     phase_name(row.phase), f.milliseconds, 100 * f.share, f.calls, rate(f.gflops, "GFLOP/s"),
                     rate(f.gbytes, "GB/s"), roof_text(f.roof));
}

OrderedJson row_json(const ProfileRow& row, const Figures& f) {
  OrderedJson json;
  if (!row.layer.empty()) json["layer"] = row.layer;
  json["kind"] = row.kind;
  json["phase"] = phase_name(row.phase);
  json["ms_per_step"] = f.milliseconds;
  json["calls_per_step"] = f.calls;
  json["share"] = f.share;
  json["gflops"] = f.gflops;
  json["gbytes_per_second"] = f.gbytes;
  json["roofline"] = f.roof;
  if (!row.kernel.empty()) json["kernel"] = row.kernel;
  return json;
}

}  // namespace

std::vector<std::string> profile_lines(const Profile& profile, const base::Peak& peak, std::size_t layers) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(profile.steps, 1));
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("profile of {} on {}: {:.3f} ms a step; the peak of a thread is {:.1f} GFLOP/s and {:.1f} GB/s",
                  base::counted(profile.steps, "step"), base::counted(profile.threads, "thread"),
                  1e3 * profile.wall_seconds / steps, 1e-9 * peak.flops_per_second / peak.threads,
                  1e-9 * peak.bytes_per_second() / peak.threads));
  lines.emplace_back(
      "by kind of op, with the share of its roofline (>100 %: its data stay in the caches, faster than memory):");
  for (const ProfileRow& row : by_kind(profile))
    lines.push_back(line_of(row.kind, row, figures_of(row, profile, peak)));
  const std::vector<ProfileRow> all = by_layer(profile);
  const std::size_t shown = std::min(layers, all.size());
  lines.push_back(fmt::format("the {} longest of {} by layer:", shown, all.size()));
  for (std::size_t i = 0; i < shown; ++i)
    lines.push_back(line_of(all[i].layer + " " + all[i].kind, all[i], figures_of(all[i], profile, peak)));
  return lines;
}

std::string profile_json(const Profile& profile, const base::Peak& peak) {
  const auto steps = static_cast<double>(std::max<std::int64_t>(profile.steps, 1));
  OrderedJson json{{"steps", profile.steps},
                   {"threads", profile.threads},
                   {"ms_per_step", 1e3 * profile.wall_seconds / steps},
                   {"peak_of_a_thread",
                    {{"gflops", 1e-9 * peak.flops_per_second / peak.threads},
                     {"gbytes_per_second", 1e-9 * peak.bytes_per_second() / peak.threads}}},
                   {"kinds", OrderedJson::array()},
                   {"layers", OrderedJson::array()}};
  for (const ProfileRow& row : by_kind(profile)) json["kinds"].push_back(row_json(row, figures_of(row, profile, peak)));
  for (const ProfileRow& row : by_layer(profile))
    json["layers"].push_back(row_json(row, figures_of(row, profile, peak)));
  return json.dump();
}

}  // namespace trireme::train
