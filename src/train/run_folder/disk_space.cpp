#include "train/run_folder/disk_space.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/text/text.h"

namespace trireme::train {
namespace {

constexpr std::uint64_t kRecords = 256 * 1024;  // of the records, and of what a checkpoint has beside its floats

std::string human(std::uint64_t bytes) { return base::human_bytes(static_cast<double>(bytes)); }

}  // namespace

std::uint64_t bytes_of_checkpoint(const tensor::ParameterSpace& space, int slots) {
  return static_cast<std::uint64_t>(space.floats() + slots * space.trained_floats()) * sizeof(float) + kRecords;
}

std::uint64_t free_bytes(const base::fs::path& folder) {
  std::error_code cause;
  base::fs::path there = base::absolute_path(folder.string());
  while (!base::fs::exists(there, cause) && there.has_relative_path()) there = there.parent_path();
  const base::fs::space_info space = base::fs::space(there, cause);
  return cause ? std::numeric_limits<std::uint64_t>::max() : space.available;
}

std::string what_to_free(const std::string& sentence, const base::fs::path& folder, std::uint64_t needed) {
  const bool is_full = sentence.find(std::strerror(ENOSPC)) != std::string::npos;
  if (!is_full && sentence.find(std::strerror(EDQUOT)) == std::string::npos) return {};
  const std::uint64_t left = free_bytes(folder);
  if (!is_full || left >= needed)
    return fmt::format("; free at least {} in {} for a checkpoint", human(needed), folder.string());
  return fmt::format("; free at least {} in {}, which has {} left and needs {} for a checkpoint", human(needed - left),
                     folder.string(), human(left), human(needed));
}

}  // namespace trireme::train
