#include "train/run_folder/checkpoint_interval.h"

#include <charconv>
#include <string_view>

#include "base/error.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;
constexpr double kMostSeconds = 1e9;  // 31 years

struct TimeUnit {
  const char* name;
  double seconds;
};
constexpr TimeUnit kTimeUnits[] = {{"s", 1}, {"min", 60}, {"h", 3600}};

}  // namespace

CheckpointInterval parse_checkpoint_interval(const std::string& label, const std::string& text) {
  const auto refuse = [&] {
    base::user_error(
        "{} is '{}', expected steps (500 or 500steps), epochs (2epochs), a time (30s, 10min, 1h), or 0 for after each "
        "epoch",
        label, text);
  };
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const char *begin = text.data(), *end = begin + digits;
  const std::string_view unit = std::string_view(text).substr(digits);
  double number = 0;
  if (const auto [last, cause] = std::from_chars(begin, end, number);
      digits == 0 || cause != std::errc() || last != end)
    refuse();
  for (const TimeUnit& one : kTimeUnits) {
    if (unit != one.name) continue;
    if (number * one.seconds > kMostSeconds) refuse();
    return {.seconds = number * one.seconds};
  }
  std::int64_t count = 0;
  if (const auto [last, cause] = std::from_chars(begin, end, count);
      cause != std::errc() || last != end || count > kMostSteps)
    refuse();
  if (unit.empty() || unit == "step" || unit == "steps") return {.steps = count};
  if (unit != "epoch" && unit != "epochs") refuse();
  return {.epochs = count};
}

}  // namespace trireme::train
