// The critical path for people, and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "watch/trace/critical_path.h"

namespace trireme::watch {
namespace {

std::string ms(double seconds) {
  return seconds < 1e-4 ? fmt::format("{:.3g} us", 1e6 * seconds) : fmt::format("{:.3g} ms", 1e3 * seconds);
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string bucket_text(const PathBucket& bucket) {
  return fmt::format("bucket {} ({}), {}, {}{}", bucket.bucket, bucket.detail, base::human_bytes(bucket.bytes),
                     ms(bucket.seconds), bucket.waited_for.empty() ? "" : ", waiting for " + bucket.waited_for);
}

std::string culprit(const CriticalPath& path) {
  const PathPart& part = path.parts[path.decides];
  if (part.phase != "network") return fmt::format("{} of {}", part.phase, part.process);
  if (path.bucket.bucket < 0) return "the network";
  return fmt::format("the network, bucket {}{}", path.bucket.bucket,
                     path.bucket.waited_for.empty() ? "" : ", to and from " + path.bucket.waited_for);
}

}  // namespace

std::vector<std::string> path_lines(const CriticalPath& path) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("median step: number {}, of {} in the trace, {}{}{}", path.step,
                              base::counted(path.steps, "step"), ms(path.seconds),
                              path.mean_of > 1 ? fmt::format(" (mean of {} around it)", path.mean_of) : "",
                              path.is_synchronous ? "" : ", of the slowest worker"));
  lines.push_back(
      fmt::format("  {:<28} {:<10} {:>10} {:>6}   {}", "process", "phase", "time", "share", "gained if free"));
  for (const PathPart& part : path.parts)
    lines.push_back(fmt::format("  {:<28} {:<10} {:>10} {:>4.0f} %   {}", part.process, part.phase, ms(part.seconds),
                                percent(part.seconds, path.seconds), ms(part.gained)));
  if (path.bucket.bucket >= 0) lines.push_back("longest communication: " + bucket_text(path.bucket));
  const PathPart& part = path.parts[path.decides];
  lines.push_back(
      fmt::format("decided by: {}: {} of {} ({:.0f} %); if it were free, a step would take {} ({:.0f} % less)",
                  culprit(path), ms(part.seconds), ms(path.seconds), percent(part.seconds, path.seconds),
                  ms(path.seconds - part.gained), percent(part.gained, path.seconds)));
  if (!path.slow_worker.empty())
    lines.push_back(
        fmt::format("{} computes {:.1f} times slower than the others; as fast as they are, it would save {} "
                    "of a step ({:.0f} %)",
                    path.slow_worker, path.slow_factor, ms(path.slow_gained), percent(path.slow_gained, path.seconds)));
  if (path.clock_bound_us > 0)
    lines.push_back(fmt::format("clocks agree within {:.0f} us", path.clock_bound_us));
  else if (std::isnan(path.clock_bound_us))
    lines.push_back("how well the clocks agree is not known");
  return lines;
}

std::string path_json(const CriticalPath& path) {
  nlohmann::ordered_json json{{"step", path.step},
                              {"steps", path.steps},
                              {"mean_of", path.mean_of},
                              {"seconds", path.seconds},
                              {"synchronous", path.is_synchronous},
                              {"decided_by", culprit(path)}};
  for (const PathPart& part : path.parts)
    json["path"].push_back(
        {{"process", part.process}, {"phase", part.phase}, {"seconds", part.seconds}, {"gained_seconds", part.gained}});
  json["decides"] = json["path"][path.decides];
  json["bucket"] = nullptr;
  if (path.bucket.bucket >= 0)
    json["bucket"] = {{"number", path.bucket.bucket},
                      {"detail", path.bucket.detail},
                      {"bytes", path.bucket.bytes},
                      {"seconds", path.bucket.seconds},
                      {"waited_for", path.bucket.waited_for}};
  json["slow_worker"] = nullptr;
  if (!path.slow_worker.empty())
    json["slow_worker"] = {
        {"process", path.slow_worker}, {"factor", path.slow_factor}, {"gained_seconds", path.slow_gained}};
  json["clock_bound_us"] = path.clock_bound_us;
  return json.dump();
}

}  // namespace trireme::watch
