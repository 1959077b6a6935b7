#include "data/readers/numpy/numpy.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "data/codecs/decompress.h"
#include "data/codecs/zip.h"
#include "data/dataset/columns.h"
#include "data/readers/numpy/npy.h"
#include "data/readers/numpy/numpy_names.h"
#include "data/readers/numpy/numpy_shape.h"
#include "data/readers/test_share.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownNames = 8;
constexpr std::int64_t kFewestSamples = 3;  // needed to split off a test set

// An array that was found but not read yet.
struct Found {
  std::string name;  // without .npy
  std::function<NumpyArray()> read;
};

// The arrays of one part (train, test or all), by role.
struct Part {
  std::map<int, const Found*> inputs;  // by their number
  const Found* target = nullptr;
};

using Parts = std::map<ArrayPart, Part>;

struct PartArrays {
  std::vector<NumpyArray> inputs;
  NumpyArray target;
};

std::string array_place(const std::string& file, const std::string& name) {
  return fmt::format("{}: the array '{}'", file, name);
}

std::vector<Found> find_in_archive(ZipArchive& archive) {
  std::vector<Found> found;
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(".npy")) continue;
    const std::string name = entry.name.substr(0, entry.name.size() - 4);
    found.push_back({name, [&archive, entry, name] {
                       ZipEntryReader reader(archive, entry);
                       return read_npy({.where = array_place(archive.name(), name),
                                        .read = [&](std::uint8_t* dst, std::size_t n) { return reader.read(dst, n); },
                                        .bytes = entry.bytes});
                     }});
  }
  return found;
}

NumpyArray read_npy_file(const CodecRegistry& codecs, const fs::path& path) {
  UnpackedReader reader(codecs, path);
  std::error_code unknown;
  const bool plain = without_packing(codecs, path) == path;
  const std::uintmax_t size = plain ? fs::file_size(path, unknown) : 0;
  return read_npy({.where = path.string(),
                   .read = [&](std::uint8_t* dst, std::size_t n) { return reader.read(dst, n); },
                   .bytes = plain && !unknown ? std::optional<std::uint64_t>(size) : std::nullopt});
}

// Sorted by name, so that messages do not depend on the file system.
std::vector<fs::path> npy_files(const CodecRegistry& codecs, const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (without_packing(codecs, it->path()).extension() == ".npy") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

// The result refers to `codecs`, which must outlive it.
std::vector<Found> find_in_folder(const CodecRegistry& codecs, const fs::path& folder) {
  std::vector<Found> found;
  for (const fs::path& path : npy_files(codecs, folder))
    found.push_back(
        {without_packing(codecs, path).stem().string(), [&codecs, path] { return read_npy_file(codecs, path); }});
  return found;
}

void place(const Found& array, const ArrayRole& role, Part& part, const std::string& where) {
  const Found*& slot = role.is_target ? part.target : part.inputs[role.number];
  if (slot)
    base::user_error("{}: the arrays '{}' and '{}' have one meaning; keep only one of them", where, slot->name,
                     array.name);
  slot = &array;
}

PartArrays read_part(const Part& part, const std::string& where) {
  if (part.inputs.empty() || !part.target) {
    const std::string missing = part.target ? "the inputs that belong to '" + part.target->name + "'"
                                : part.inputs.empty()
                                    ? "the arrays to train with"
                                    : "the targets that belong to '" + part.inputs.begin()->second->name + "'";
    base::user_error("{}: {} are missing; expected {}", where, missing, known_array_names());
  }
  if (part.inputs.size() > kMaxInputs)
    base::user_error("{}: {} inputs per sample, at most {} are possible", where, part.inputs.size(), kMaxInputs);
  PartArrays arrays;
  for (const auto& [number, found] : part.inputs) arrays.inputs.push_back(found->read());
  arrays.target = part.target->read();
  for (const NumpyArray& input : arrays.inputs)
    if (input.shape.rank() > 0 && arrays.target.shape.rank() > 0 && input.shape[0] != arrays.target.shape[0])
      base::user_error("{} has {} samples, {} has {}; both must have one length", input.where, input.shape[0],
                       arrays.target.where, arrays.target.shape[0]);
  return arrays;
}

void shape_part(PartArrays& arrays, const DataRequest& request, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < arrays.inputs.size(); ++i)
    shape_input(arrays.inputs[i], i < request.wanted_inputs.size() ? &request.wanted_inputs[i] : nullptr, notes);
  shape_target(arrays.target, request.wanted_target);
}

// One more than the largest class number.
std::int64_t count_classes(const NumpyArray& target) {
  float largest = 0;
  for (std::int64_t n = 0; n < target.shape[0]; ++n)
    largest = std::max(largest, target.value(static_cast<std::size_t>(n)));
  if (largest >= static_cast<float>(kMostClasses))
    base::user_error("{} holds the class number {}; expected classes 0, 1, ... below {}", target.where, largest,
                     kMostClasses);
  return static_cast<std::int64_t>(largest) + 1;
}

DatasetPtr make_source(DataSpec spec, PartArrays arrays) {
  const auto memory = std::make_shared<const PartArrays>(std::move(arrays));
  Columns columns;
  columns.samples = memory->target.shape[0];
  for (const NumpyArray& input : memory->inputs) {
    spec.inputs.push_back(input.shape.without_batch());
    columns.inputs.push_back({spec.inputs.back(), input.type, input.data()});
  }
  columns.target = {memory->target.shape.without_batch(), memory->target.type, memory->target.data()};
  columns.memory = memory;
  check_targets(spec, columns, memory->target.where);
  return column_source(std::move(spec), std::move(columns));
}

void check_same(const PartArrays& train, const PartArrays& test, const std::string& where) {
  if (train.inputs.size() != test.inputs.size())
    base::user_error("{}: {} inputs for training, {} for the test; both must have the same", where, train.inputs.size(),
                     test.inputs.size());
  const auto compare = [](const NumpyArray& a, const NumpyArray& b) {
    if (a.shape.without_batch() != b.shape.without_batch())
      base::user_error("{} has samples of {}, {} of {}; both must have one shape", a.where,
                       a.shape.without_batch().text(), b.where, b.shape.without_batch().text());
  };
  for (std::size_t i = 0; i < train.inputs.size(); ++i) compare(train.inputs[i], test.inputs[i]);
  compare(train.target, test.target);
}

DataSpec make_spec(const DataRequest& request, const PartArrays& train, const PartArrays* test) {
  DataSpec spec;
  spec.target = request.wanted_target;
  spec.classes = train.target.shape[1];
  if (spec.target == TargetKind::classes) {
    spec.classes = std::max(count_classes(train.target), request.wanted_classes);
    if (test) spec.classes = std::max(spec.classes, count_classes(test->target));
  }
  return spec;
}

std::string some_names(const std::vector<std::string>& names) {
  const std::span shown = std::span(names).first(std::min(names.size(), kShownNames));
  return base::join(shown, ", ") + (shown.size() < names.size() ? ", ..." : "");
}

Parts find_parts(const std::vector<Found>& found, const std::string& where, std::vector<std::string>& notes) {
  Parts parts;
  std::vector<std::string> others;
  for (const Found& array : found)
    if (const auto role = array_role(array.name))
      place(array, *role, parts[role->part], where);
    else
      others.push_back(array.name);
  if (parts.empty())
    base::user_error("{} has no arrays of a known name (it has: {}); expected {}", where,
                     others.empty() ? "none" : some_names(others), known_array_names());
  if (parts.size() > 1 && parts.contains(ArrayPart::all)) {
    for (const auto& [number, array] : parts[ArrayPart::all].inputs) others.push_back(array->name);
    if (const Found* target = parts[ArrayPart::all].target) others.push_back(target->name);
  }
  if (!others.empty()) notes.push_back(fmt::format("{}: not used: {}", where, some_names(others)));
  return parts;
}

DataPair make_pair(const std::vector<Found>& found, const std::string& where, const DataRequest& request) {
  std::vector<std::string> notes;
  Parts parts = find_parts(found, where, notes);
  if (request.whole && parts.contains(ArrayPart::test) && !parts.contains(ArrayPart::train)) {
    parts[ArrayPart::all] = parts[ArrayPart::test];
    parts.erase(ArrayPart::test);
  }
  const bool split = parts.contains(ArrayPart::train) || parts.contains(ArrayPart::test);
  PartArrays train = read_part(parts[split ? ArrayPart::train : ArrayPart::all], where);
  shape_part(train, request, notes);
  if (!parts.contains(ArrayPart::test)) {
    if (!request.whole && train.target.shape[0] < kFewestSamples)
      base::user_error("{} has {} samples, too few to keep some as a test set; add x_test and y_test", where,
                       train.target.shape[0]);
    DataSpec spec = make_spec(request, train, nullptr);
    DataPair pair = with_test_share(make_source(std::move(spec), std::move(train)), request);
    pair.notes.insert(pair.notes.begin(), notes.begin(), notes.end());
    return pair;
  }
  PartArrays test = read_part(parts[ArrayPart::test], where);
  shape_part(test, request, notes);
  check_same(train, test, where);
  const DataSpec spec = make_spec(request, train, &test);
  return {make_source(spec, std::move(train)), make_source(spec, std::move(test)), std::move(notes)};
}

// The inputs of the arrays as samples without targets; no value if there are targets.
std::optional<DataPair> make_unlabelled(const std::vector<Found>& found, const std::string& where,
                                        const DataRequest& request) {
  std::vector<std::string> notes;
  const Parts parts = find_parts(found, where, notes);
  if (std::ranges::any_of(parts, [](const auto& part) { return part.second.target != nullptr; })) return {};
  const auto chosen = parts.contains(ArrayPart::test)  ? parts.find(ArrayPart::test)
                      : parts.contains(ArrayPart::all) ? parts.find(ArrayPart::all)
                                                       : parts.begin();
  struct Memory {
    std::vector<NumpyArray> inputs;
  };
  const auto memory = std::make_shared<Memory>();
  DataSpec spec{{}, request.wanted_target, request.wanted_classes, {}};
  Columns columns{0, {}, {}, memory};
  if (chosen->second.inputs.size() > kMaxInputs)
    base::user_error("{}: {} inputs per sample, at most {} are possible", where, chosen->second.inputs.size(),
                     kMaxInputs);
  for (const auto& [number, array] : chosen->second.inputs) memory->inputs.push_back(array->read());
  for (std::size_t i = 0; i < memory->inputs.size(); ++i) {
    NumpyArray& input = memory->inputs[i];
    shape_input(input, i < request.wanted_inputs.size() ? &request.wanted_inputs[i] : nullptr, notes);
    if (input.shape[0] != memory->inputs[0].shape[0])
      base::user_error("{} has {} samples, {} has {}; both must have one length", memory->inputs[0].where,
                       memory->inputs[0].shape[0], input.where, input.shape[0]);
    columns.samples = input.shape[0];
    spec.inputs.push_back(input.shape.without_batch());
    columns.inputs.push_back({spec.inputs.back(), input.type, input.data()});
  }
  const DatasetPtr samples = source_without_targets(std::move(spec), std::move(columns));
  return DataPair{samples, samples, std::move(notes)};
}

}  // namespace

std::optional<DataPair> open_unlabelled_numpy(const DataRequest& request) {
  const fs::path path = request.name;
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return make_unlabelled(find_in_folder(request.codecs, path), path.string(), request);
  if (without_packing(request.codecs, path).extension() == ".npy") {
    const Found array{"x", [&] { return read_npy_file(request.codecs, path); }};
    return make_unlabelled({array}, path.string(), request);
  }
  if (path.extension() != ".npz") return {};
  ZipArchive archive(path);
  return make_unlabelled(find_in_archive(archive), path.string(), request);
}

bool is_numpy(const DataRequest& request) {
  const fs::path path = request.name;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return !npy_files(request.codecs, path).empty();
  const fs::path ending = without_packing(request.codecs, path).extension();
  return ending == ".npz" || ending == ".npy";
}

DataPair open_numpy(const DataRequest& request) {
  const fs::path path = request.name;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return make_pair(find_in_folder(request.codecs, path), path.string(), request);
  if (without_packing(request.codecs, path) != path)
    base::user_error("{} is packed; .npz files are read as NumPy writes them (np.savez_compressed packs them itself)",
                     path.string());
  if (path.extension() == ".npy")
    base::user_error("{} is a single array, without targets; give its folder, with {}, or one .npz file", path.string(),
                     known_array_names());
  ZipArchive archive(path);
  return make_pair(find_in_archive(archive), path.string(), request);
}

DataPair read_npz(std::span<const std::uint8_t> bytes, const std::string& name, const DataRequest& request) {
  ZipArchive archive(bytes, name);
  return make_pair(find_in_archive(archive), name, request);
}

}  // namespace trireme::data
