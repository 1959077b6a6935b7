#include "train/run_folder/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/system/beside_program.h"
#include "base/version.h"
#include "data/dataset/table_schema.h"
#include "data/readers/image_settings.h"
#include "graph/description/network_json.h"
#include "models/files/model_file.h"
#include "ops/core/onednn.h"
#include "store/json_checksum.h"
#include "train/experiment/options.h"
#include "train/experiment/target_scale.h"

namespace trireme::train {
namespace {

namespace fs = base::fs;

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

void make_folder(const fs::path& path) {
  std::error_code cause;
  fs::create_directories(path, cause);
  if (cause) base::user_error("cannot make the run folder {}: {}", path.string(), cause.message());
  if (::access(path.c_str(), W_OK) != 0)
    base::user_error("cannot write into the run folder {}: {}", path.string(), std::strerror(errno));
}

// Beside data, which may also be a name.
constexpr std::array kPathOptions{"data-dir", "init-from", "kernel-table"};

constexpr const char* kNetworkFile = "network.json";

std::string sha256_of(const std::string& text) { return base::sha256_hex(std::as_bytes(std::span(text))); }

}  // namespace

RunFolder RunFolder::create(const std::string& wanted, const std::string& model, const std::string& data) {
  if (!wanted.empty()) {
    std::error_code ignored;
    if (fs::exists(wanted, ignored) && !(fs::is_directory(wanted, ignored) && fs::is_empty(wanted, ignored)))
      base::user_error("the run folder {} exists already; name a new one, or go on with it: --resume {}", wanted,
                       wanted);
    const bool new_folder = !fs::exists(wanted, ignored);
    make_folder(wanted);
    return {wanted, new_folder};
  }
  make_folder("runs");
  const fs::path given = fs::path(data).lexically_normal();
  const std::string short_name = (given.has_filename() ? given : given.parent_path()).stem().string();
  const std::string short_model = models::is_model_file(model) ? fs::path(model).stem().string() : model;
  for (int number = 1;; ++number) {
    const fs::path path = fmt::format("runs/{}-{}-{}", short_model, short_name, number);
    std::error_code cause;
    if (fs::create_directory(path, cause)) return {path, true};
    if (cause) base::user_error("cannot make the run folder {}: {}", path.string(), cause.message());
  }
}

RunFolder RunFolder::open(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) base::user_error("there is no run folder {}", path);
  if (!fs::exists(fs::path(path) / "run.json", ignored))
    base::user_error("{} is not a run folder: it has no run.json", path);
  return {path, false};
}

void RunFolder::lock() {
  const int folder = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) base::user_error("cannot open the run folder {}: {}", path_.string(), std::strerror(errno));
  lock_ = std::shared_ptr<const int>(new int(folder), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  if (::flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    base::user_error("another process is training in {}; wait for it or stop it", path_.string());
}

bool RunFolder::is_locked() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return false;
  // "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF". Trying the lock instead could disturb a run that begins.
  const std::string inode = fmt::format(":{} 0 EOF", status.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);)
    if (line.find("FLOCK") != std::string::npos && line.ends_with(inode)) return true;
  return false;
}

void RunFolder::remove_if_empty() const {
  std::error_code ignored;
  if (made_ && fs::is_empty(path_, ignored)) fs::remove(path_, ignored);
}

std::string to_text(const data::Normalization& normalization) {
  nlohmann::ordered_json json{{"kind", normalization.kind}, {"inputs", nlohmann::ordered_json::array()}};
  for (const data::InputNormalization& input : normalization.inputs)
    json["inputs"].push_back({{"mean", input.mean}, {"divisor", input.divisor}});
  return json.dump();
}

data::Normalization normalization_from_text(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  data::Normalization normalization{json.at("kind"), {}};
  for (const auto& input : json.at("inputs")) normalization.inputs.push_back({input.at("mean"), input.at("divisor")});
  return normalization;
}

std::string to_text(const data::TargetScale& scale) {
  return nlohmann::ordered_json{{"mean", scale.mean}, {"deviation", scale.deviation}}.dump();
}

data::TargetScale target_scale_from_text(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return {json.at("mean"), json.at("deviation")};
}

namespace {

nlohmann::ordered_json samples_json(const RunSamples& samples) {
  nlohmann::ordered_json json{{"inputs", nlohmann::ordered_json::array()},
                              {"network_inputs", nlohmann::ordered_json::array()},
                              {"target", data::target_name(samples.spec.target)},
                              {"classes", samples.spec.classes},
                              {"class_names", samples.spec.class_names}};
  for (const tensor::Shape& shape : samples.spec.inputs) json["inputs"].push_back(shape.sizes());
  for (const tensor::Shape& shape : samples.network_inputs) json["network_inputs"].push_back(shape.sizes());
  if (samples.spec.schema) json["table"] = nlohmann::ordered_json::parse(data::to_json(*samples.spec.schema));
  return json;
}

RunSamples samples_of(const nlohmann::json& json) {
  const auto shapes = [&](const char* name) {
    std::vector<tensor::Shape> all;
    (void)json.at(name).at(0);  // throws where there is none
    for (const auto& sizes : json.at(name)) all.emplace_back(sizes.get<std::vector<std::int64_t>>());
    return all;
  };
  const data::TargetKind target = data::target_kind(json.at("target").get<std::string>()).value();
  RunSamples samples{{shapes("inputs"), target, json.at("classes"), json.at("class_names")}, shapes("network_inputs")};
  if (json.contains("table"))
    samples.spec.schema = std::make_shared<const data::TableSchema>(data::schema_from_json(json.at("table").dump()));
  return samples;
}

}  // namespace

void write_run_json(const RunFolder& folder, const base::Settings& settings, const Experiment& e,
                    const std::vector<graph::KernelPrint>& prints, const WorldOfRun& world,
                    const std::vector<RunStart>& starts) {
  nlohmann::ordered_json json;
  json["trireme"] = base::version_text();
  json["configuration"] = settings.all();
  // The resolved values instead of "0: the default", so that --config with this file reproduces the run anywhere.
  json["configuration"]["batch"] = std::to_string(e.batch);
  json["configuration"]["oars"] = std::to_string(e.oars);
  json["configuration"]["init"] = e.network.initialiser();
  json["configuration"]["validation"] = e.validation_plan.text;
  json["configuration"]["target-scale"] = target_scale_name(e.target_scale);
  // Absolute, so that the run is found again from any folder.
  if (!e.data_path.empty()) json["configuration"]["data"] = e.data_path;
  for (const char* name : kPathOptions) json["configuration"][name] = base::absolute_path(settings.text(name));
  json["starts"] = nlohmann::ordered_json::parse(to_json(starts));
  if (e.images) {
    if (e.images->size) json["configuration"]["image-size"] = data::size_text(*e.images->size);
    json["configuration"]["image-fit"] = data::fit_name(e.images->fit);
    json["configuration"]["image-upright"] = e.images->turn_upright ? "yes" : "no";
  }
  json["resolved"] = {{"batch", e.batch},
                      {"oars", e.oars},
                      {"threads", e.threads},
                      {"world", world.processes.size()},
                      {"workers", world.workers},
                      {"servers", world.servers},
                      {"steps_per_epoch", e.steps_per_epoch},
                      {"total_steps", e.total_steps},
                      {"train_samples", e.train->size()},
                      {"validation_samples", e.validation ? e.validation->size() : 0},
                      {"test_samples", e.test->size()},
                      {"parameters", e.network.parameter_count()},
                      {"pinned", !e.crew_options.cpus.empty()}};
  if (!e.crew_options.class_weights.empty()) json["resolved"]["class_weights"] = e.crew_options.class_weights;
  const std::string network = graph::network_json(e.network);
  json["network_sha256"] = sha256_of(network);
  json["data_hash"] = data_hash(e);
  json["normalization"] = nlohmann::ordered_json::parse(to_text(e.normalization));
  if (!e.target_scale.is_none()) json["target_scale"] = nlohmann::ordered_json::parse(to_text(e.target_scale));
  json["samples"] = samples_json({e.data_spec, e.train->spec().inputs});
  utsname system{};
  ::uname(&system);
  json["host"] = {{"name", system.nodename},
                  {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
                  {"cpu", cpu_model()},
                  {"cores", e.cores.usable},
                  {"l1d_bytes", sysconf(_SC_LEVEL1_DCACHE_SIZE)},
                  {"l2_bytes", sysconf(_SC_LEVEL2_CACHE_SIZE)},
                  {"l3_bytes", sysconf(_SC_LEVEL3_CACHE_SIZE)}};
  for (const WorldOfRun::Process& process : world.processes)
    json["processes"].push_back({{"name", process.name}, {"host", process.host}, {"threads", process.threads}});
  json["libraries"] = {{"onednn", ops::onednn::library_version()}, {"compiler", __VERSION__}};
  json["isa"] = base::isa_name(base::active_isa());
  const ops::KernelTable table = e.crew_options.kernel_table ? *e.crew_options.kernel_table : ops::KernelTable();
  json["kernel_table"] = {{"source", table.source()}, {"rows", table.size()}, {"sha256", table.sha256()}};
  auto& list = json["fingerprint"] = nlohmann::ordered_json::array();
  for (const graph::KernelPrint& print : prints)
    list.push_back({{"kernel", print.kernel}, {"hash", fmt::format("{:016x}", print.hash)}});
  json[store::kChecksum] = store::json_checksum(json.dump());
  base::write_text_atomically(folder.file(kNetworkFile), network);
  try {
    base::write_text_atomically(folder.file("run.json"), json.dump(2) + "\n");
  } catch (const base::Error&) {  // a new folder without run.json is no run: nothing must stay in it
    std::error_code ignored;
    if (!fs::exists(folder.file("run.json"), ignored)) fs::remove(folder.file(kNetworkFile), ignored);
    throw;
  }
}

namespace {

// Calls read(json) on a run.json and names the file when something in it is missing or of the wrong kind.
template <class Read>
auto from_run_json(const RunFolder& folder, const char* what, const Read& read) {
  const std::string path = folder.file("run.json").string();
  try {
    return read(nlohmann::json::parse(base::read_text(path)).at(what));
  } catch (const base::Error&) {
    throw;
  } catch (const std::exception&) {
    base::user_error("{} has no readable '{}'; was it edited?", path, what);
  }
}

}  // namespace

data::Normalization stored_normalization(const RunFolder& folder) {
  return from_run_json(folder, "normalization",
                       [](const nlohmann::json& json) { return normalization_from_text(json.dump()); });
}

data::TargetScale stored_target_scale(const RunFolder& folder) {
  const auto json = nlohmann::json::parse(base::read_text(folder.file("run.json")), nullptr, false);
  if (!json.is_object() || !json.contains("target_scale")) return {};
  return from_run_json(folder, "target_scale",
                       [](const nlohmann::json& found) { return target_scale_from_text(found.dump()); });
}

std::optional<ModelText> stored_network(const RunFolder& folder) {
  const auto path = folder.file(kNetworkFile);
  const nlohmann::json run = nlohmann::json::parse(base::read_text(folder.file("run.json")), nullptr, false);
  if (!run.is_object() || !run.contains("network_sha256")) return std::nullopt;  // written by an older program
  ModelText text{path.string(), base::read_text(path)};
  if (run["network_sha256"] != sha256_of(text.text))
    base::user_error(
        "{} was changed since the run wrote it; put it back as it was, or train the changed network: {} train "
        "--model {} --run NEW",
        text.file, base::program_name(), text.file);
  return text;
}

std::optional<RunSamples> stored_samples(const RunFolder& folder) {
  const auto json = nlohmann::json::parse(base::read_text(folder.file("run.json")), nullptr, false);
  if (json.is_object() && !json.contains("samples")) return {};
  return from_run_json(folder, "samples", samples_of);
}

std::vector<RunStart> stored_starts(const RunFolder& folder) {
  const auto json = nlohmann::json::parse(base::read_text(folder.file("run.json")), nullptr, false);
  return json.is_object() && json.contains("starts") ? starts_from_json(json["starts"].dump())
                                                     : std::vector<RunStart>{};
}

std::string SetSizes::text() const {
  const std::string kept = validation > 0 ? fmt::format(" {} validation,", validation) : "";
  return fmt::format("{} training,{} {}", train, kept, base::counted(test, "test sample"));
}

SetSizes set_sizes(const Experiment& e) {
  return {e.train->size(), e.validation ? e.validation->size() : 0, e.test->size()};
}

std::optional<SetSizes> stored_set_sizes(const RunFolder& folder) {
  const auto json = nlohmann::json::parse(base::read_text(folder.file("run.json")), nullptr, false);
  if (!json.is_object() || !json.contains("resolved")) return {};
  const auto number = [&](const char* name) { return json["resolved"].value(name, std::int64_t{0}); };
  return SetSizes{number("train_samples"), number("validation_samples"), number("test_samples")};
}

std::string stored_data_hash(const RunFolder& folder) {
  return from_run_json(folder, "data_hash", [](const nlohmann::json& json) { return json.get<std::string>(); });
}

std::vector<graph::KernelPrint> stored_fingerprint(const RunFolder& folder) {
  return from_run_json(folder, "fingerprint", [](const nlohmann::json& json) {
    std::vector<graph::KernelPrint> prints;
    for (const auto& print : json)
      prints.push_back({print.at("kernel"), std::stoull(print.at("hash").get<std::string>(), nullptr, 16)});
    return prints;
  });
}

void read_configuration(base::Settings& settings, const std::string& run_json) {
  const auto json = nlohmann::json::parse(base::read_text(run_json), nullptr, false);
  if (!json.is_object() || !json.contains("configuration") || !json["configuration"].is_object())
    base::user_error("{} is not a run.json: expected valid JSON with an object 'configuration'", run_json);
  for (const auto& [name, value] : json["configuration"].items()) {
    if (!value.is_string()) base::user_error("{}: configuration '{}' must be a string", run_json, name);
    if (is_about_place(name) || settings.is_set(name)) continue;
    const auto text = value.get<std::string>();
    settings.set(name, name == "validation" ? recorded_validation(text) : text, run_json);
  }
  // Runs from before these options did not turn images and learnt values as they are.
  for (const auto& [name, before] : {std::pair("image-upright", "no"), std::pair("target-scale", "none")})
    if (!json["configuration"].contains(name) && !settings.is_set(name)) settings.set(name, before, run_json);
}

base::Settings settings_of_run(const std::string& run) {
  base::Settings settings(train_options());
  const std::string run_json = RunFolder::open(run).file("run.json").string();
  read_configuration(settings, run_json);
  if (!store::json_checksum_agrees(base::read_text(run_json)))
    base::user_error(
        "{} was changed since the run wrote it, so this would be another experiment; put it back as it was, or start a "
        "new run from it: {} train --config {} --run NEW",
        run_json, base::program_name(), run_json);
  return settings;
}

}  // namespace trireme::train
