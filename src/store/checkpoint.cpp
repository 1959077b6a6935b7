#include "store/checkpoint.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/system/log.h"
#include "base/text/text.h"
#include "store/checkpoint_state.h"
#include "store/parameters_io.h"

namespace trireme::store {
namespace {

namespace fs = base::fs;

constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kState = "state.json";
constexpr const char* kBest = "best";

std::string folder_name(std::int64_t step) { return fmt::format("step-{:08d}", step); }

// The step in the name of a checkpoint folder, or -1 for any other name.
std::int64_t step_of(const std::string& name) {
  constexpr std::string_view kStart = "step-";
  if (!name.starts_with(kStart)) return -1;
  std::int64_t step = -1;
  const char* end = name.data() + name.size();
  const auto [last, cause] = std::from_chars(name.data() + kStart.size(), end, step);
  return cause == std::errc() && last == end && step >= 0 && name == folder_name(step) ? step : -1;
}

fs::path partial_path(const fs::path& folder, const std::string& name) { return folder / ("." + name + ".partial"); }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code cause;
  for (fs::directory_iterator entry(folder, cause), end; !cause && entry != end; entry.increment(cause))
    names.push_back(entry->path().filename().string());
  return names;
}

// Moves a finished partial folder to `target`. An older folder there ends up under the partial name. Returns 0 or
// errno.
int move_into_place(const fs::path& partial, const fs::path& target) {
  if (::rename(partial.c_str(), target.c_str()) == 0) return 0;
  if (errno != ENOTEMPTY && errno != EEXIST) return errno;
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return 0;
  // For file systems without RENAME_EXCHANGE: move the older folder away first.
  const fs::path aside = partial.parent_path() / ("." + target.filename().string() + ".old.partial");
  if (::rename(target.c_str(), aside.c_str()) != 0) return errno;
  if (::rename(partial.c_str(), target.c_str()) == 0) return 0;
  const int cause = errno;
  return ::rename(aside.c_str(), target.c_str()) == 0 ? cause : errno;
}

void write_contents(const fs::path& folder, const Checkpoint& checkpoint) {
  base::check(checkpoint.space != nullptr, "a checkpoint of step {} has no parameter space", checkpoint.progress.step);
  Digests digests;
  digests[kWeights] = write_safetensors(folder / kWeights, export_parameters(*checkpoint.space, checkpoint.weights),
                                        {{"format", "pt"}, {"step", std::to_string(checkpoint.progress.step)}});
  std::vector<NamedTensor> slots;
  for (const Checkpoint::Slot& slot : checkpoint.slots)
    std::ranges::move(export_parameters(*checkpoint.space, slot.state, slot.name + "/", Parameters::trained),
                      std::back_inserter(slots));
  digests[kOptimizer] = write_safetensors(folder / kOptimizer, slots);
  base::write_text_atomically(folder / kState, state_text(checkpoint.progress, digests));
}

SafetensorsFile read_verified(const fs::path& folder, const char* name, const Digests& digests) {
  const fs::path path = folder / name;
  std::error_code cause;
  if (!fs::is_regular_file(path, cause))
    base::user_error("checkpoint {} is damaged: it has no {}", folder.string(), name);
  const std::vector<std::byte> bytes = base::read_file(path);
  const auto expected = digests.find(name);
  if (expected == digests.end())
    base::user_error("checkpoint {} is damaged: its {} names no sha256 of {}", folder.string(), kState, name);
  if (const std::string found = base::sha256_hex(bytes); found != expected->second)
    base::user_error("checkpoint {} is damaged: {} has {} bytes with sha256 {:.16}..., {} says {:.16}...",
                     folder.string(), name, bytes.size(), found, kState, expected->second);
  return parse_safetensors(bytes, path.string());
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path folder, int keep_last) : folder_(std::move(folder)), keep_last_(keep_last) {
  if (keep_last < 1) base::user_error("the number of checkpoints to keep is {}, expected 1 or more", keep_last);
}

void CheckpointStore::save(const Checkpoint& checkpoint, bool best) {
  base::check(checkpoint.progress.step >= 0, "a checkpoint of step {}", checkpoint.progress.step);
  const std::string name = folder_name(checkpoint.progress.step);
  const fs::path partial = partial_path(folder_, name), target = folder_ / name;
  std::error_code cause;
  fs::create_directories(folder_, cause);
  if (cause) base::run_error("cannot make the folder {}: {}", folder_.string(), cause.message());
  clean();
  try {
    if (!fs::create_directory(partial, cause) || cause)
      base::run_error("cannot make the folder {}: {}", partial.string(),
                      cause ? cause.message() : "something of that name is in the way");
    write_contents(partial, checkpoint);
    base::sync_folder(partial);
    if (const int failed = move_into_place(partial, target); failed != 0)
      base::run_error("cannot rename {} to {}: {}", partial.string(), target.string(), std::strerror(failed));
  } catch (...) {
    fs::remove_all(partial, cause);
    throw;
  }
  base::sync_folder(folder_);
  if (best) base::write_text_atomically(folder_ / kBest, name + "\n");
  clean();
  prune();
}

void CheckpointStore::clean() const {
  for (const std::string& name : names_in(folder_)) {
    if (!name.ends_with(".partial") || !(name.starts_with(".step-") || name.starts_with(kBest))) continue;
    std::error_code cause;
    fs::remove_all(folder_ / name, cause);
    if (cause) base::log_warn("cannot remove {}: {}", (folder_ / name).string(), cause.message());
  }
}

void CheckpointStore::drop_after(std::int64_t step) const {
  for (const fs::path& folder : list()) {
    const std::string name = folder.filename().string();
    if (step_of(name) <= step) continue;
    std::error_code cause;
    fs::rename(folder, partial_path(folder_, name), cause);
    if (cause) base::run_error("cannot move {} away: {}", folder.string(), cause.message());
  }
}

void CheckpointStore::prune() const {
  std::vector<fs::path> old = list();
  if (old.size() <= static_cast<std::size_t>(keep_last_)) return;
  old.resize(old.size() - static_cast<std::size_t>(keep_last_));
  const std::optional<fs::path> kept = best();
  for (const fs::path& folder : old) {
    if (kept && folder == *kept) continue;
    // Renamed first: an interrupted removal must not leave half a checkpoint under a valid name.
    const fs::path doomed = partial_path(folder_, folder.filename().string());
    std::error_code cause;
    fs::rename(folder, doomed, cause);
    if (!cause) fs::remove_all(doomed, cause);
    if (cause) base::log_warn("cannot remove the old checkpoint {}: {}", folder.string(), cause.message());
  }
}

std::vector<fs::path> CheckpointStore::list() const {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  for (const std::string& name : names_in(folder_)) {
    std::error_code cause;
    if (const std::int64_t step = step_of(name); step >= 0 && fs::is_directory(folder_ / name, cause))
      found.emplace_back(step, folder_ / name);
  }
  std::ranges::sort(found);
  std::vector<fs::path> folders;
  for (auto& [step, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

std::optional<fs::path> CheckpointStore::latest() const {
  const std::vector<fs::path> all = list();
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::int64_t CheckpointStore::latest_step() const {
  const auto folder = latest();
  return folder ? step_of(folder->filename().string()) : -1;
}

std::optional<fs::path> CheckpointStore::best() const {
  std::error_code cause;
  if (!fs::is_regular_file(folder_ / kBest, cause)) return std::nullopt;
  std::string name = base::read_text(folder_ / kBest);
  while (name.ends_with('\n')) name.pop_back();
  if (step_of(name) < 0 || !fs::is_directory(folder_ / name, cause)) return std::nullopt;
  return folder_ / name;
}

std::optional<std::int64_t> CheckpointStore::best_step() const {
  const auto folder = best();
  return folder ? std::optional(step_of(folder->filename().string())) : std::nullopt;
}

std::optional<LoadedCheckpoint> CheckpointStore::latest_valid(const Check& check) const {
  const std::vector<fs::path> all = list();
  for (std::size_t i = all.size(); i-- > 0;) {
    try {
      LoadedCheckpoint loaded = load(all[i]);
      if (check) check(loaded);
      return loaded;
    } catch (const base::Error& error) {
      if (i == 0)
        base::user_error("{}; {}, so start a new run", error.what(),
                         all.size() == 1 ? "it is the only one" : "no newer one can be read either");
      base::log_warn("{}; trying the one before it", error.what());
    }
  }
  return std::nullopt;
}

LoadedCheckpoint CheckpointStore::load(const fs::path& folder, bool with_optimizer) {
  std::error_code cause;
  if (!fs::is_directory(folder, cause))
    base::user_error("{} is not a checkpoint: a folder with {}, {} and {} was expected", folder.string(), kWeights,
                     kOptimizer, kState);
  if (!fs::is_regular_file(folder / kState, cause))
    base::user_error("checkpoint {} is damaged: it has no {}", folder.string(), kState);
  LoadedCheckpoint loaded;
  loaded.folder = folder;
  Digests digests;
  loaded.progress = read_state(base::read_text(folder / kState), folder.string(), digests);
  if (const std::int64_t named = step_of(folder.filename().string()); named >= 0 && named != loaded.progress.step)
    base::user_error("checkpoint {} is damaged: its {} is of step {}", folder.string(), kState, loaded.progress.step);
  loaded.weights = read_verified(folder, kWeights, digests);
  if (with_optimizer) loaded.optimizer = read_verified(folder, kOptimizer, digests);
  return loaded;
}

void restore(const LoadedCheckpoint& loaded, const tensor::ParameterSpace& space, std::span<float> weights,
             std::span<const SlotBuffer> slots) {
  std::set<std::string> saved, expected;
  for (const NamedTensor& tensor : loaded.optimizer.tensors) saved.insert(tensor.name.substr(0, tensor.name.find('/')));
  if (space.trained_floats() > 0)
    for (const SlotBuffer& slot : slots) expected.insert(slot.name);
  if (saved != expected) {
    const auto text = [](const std::set<std::string>& names) {
      const std::vector<std::string> list(names.begin(), names.end());
      return list.empty() ? std::string("none") : base::join(list, ", ");
    };
    base::user_error(
        "checkpoint {} was written with another optimizer: its state is {}, this run's is {}; use the same "
        "optimizer, or start a new run from its weights alone",
        loaded.folder.string(), text(saved), text(expected));
  }
  // Read everything into copies first, so that a mismatch changes nothing.
  std::vector<float> new_weights(weights.begin(), weights.end());
  import_parameters(space, new_weights, loaded.weights);
  std::vector<std::vector<float>> new_states;
  for (const SlotBuffer& slot : slots) {
    new_states.emplace_back(slot.state.begin(), slot.state.end());
    import_parameters(space, new_states.back(), loaded.optimizer, slot.name + "/", Parameters::trained);
  }
  std::ranges::copy(new_weights, weights.begin());
  for (std::size_t i = 0; i < slots.size(); ++i) std::ranges::copy(new_states[i], slots[i].state.begin());
}

}  // namespace trireme::store
