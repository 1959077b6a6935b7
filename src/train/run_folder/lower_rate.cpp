#include "train/run_folder/lower_rate.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "cluster/launcher/start_on_host.h"
#include "store/checkpoint.h"

namespace trireme::train {
namespace {

constexpr double kHighest = 0.01;  // with a bounded gradient hardly any network diverges at this rate

std::string lowered(double rate) { return fmt::format("{:.3g}", std::min(rate / 10, kHighest)); }

// "NAME:key=value,..." with the rates under the keys lowered; `is_rate` says which these are.
template <class IsRate>
std::string with_lower_rates(const std::string& text, const IsRate& is_rate) {
  base::Spec spec("options", text);
  std::vector<std::string> options;
  for (const auto& [key, value] : spec.all())
    options.push_back(key + "=" + (is_rate(key) ? lowered(base::parse_double(key, value)) : value));
  return options.empty() ? spec.name() : spec.name() + ":" + base::join(options, ",");
}

}  // namespace

std::string options_for_lower_rate(const base::Settings& settings, double rate) {
  std::string optimizer =
      with_lower_rates(settings.text("optimizer"), [](const std::string& key) { return key == "lr"; });
  if (optimizer.find("lr=") == std::string::npos)
    optimizer += (optimizer.find(':') == std::string::npos ? ":lr=" : ",lr=") + lowered(rate);
  const std::string& schedule = settings.text("schedule");
  const std::string lower = with_lower_rates(schedule, [](const std::string& key) {
    return key == "peak" || key.find_first_not_of("0123456789") == std::string::npos;  // the epochs of step
  });
  const double clip = settings.number("clip");
  return " --optimizer " + cluster::quoted(optimizer) +
         (lower == schedule ? std::string() : " --schedule " + cluster::quoted(lower)) +
         fmt::format(" --clip {:.3g}", clip > 0 ? std::min(clip / 10, 1.0) : 1.0);
}

bool decides_rate(const std::string& option) {
  return option == "optimizer" || option == "schedule" || option == "clip";
}

bool has_diverged(const RunFolder& folder) {
  const std::int64_t last = store::CheckpointStore(folder.checkpoints(), 1).latest_step();
  std::ifstream in(folder.file("metrics.jsonl"));
  for (std::string line; std::getline(in, line);) {
    if (line.find("\"diverged\"") == std::string::npos) continue;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("type") || json["type"] != "diverged") continue;
    if (json.contains("step") && json["step"].is_number_integer() && json["step"].get<std::int64_t>() > last)
      return true;
  }
  return false;
}

}  // namespace trireme::train
