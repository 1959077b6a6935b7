#include "peer/script.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text/nearest.h"

namespace trireme::peer {
namespace {

namespace fs = std::filesystem;

constexpr double kImportSeconds = 120;  // the first import after a boot reads a gigabyte

const std::array kSystems{System{"pytorch", "PyTorch", "torch", "python3-torch"},
                          System{"tensorflow", "TensorFlow", "tensorflow", "TensorFlow (pip install tensorflow-cpu)"}};

std::string what_to_do(const System& system) {
  return fmt::format("install {}, or name an interpreter with --python or TRIREME_PYTHON", system.install);
}

// Empty if this python imports the module, else the reason.
std::string why_not(const std::string& python, const System& system) {
  AnsweringProcess child(python, {python, "-c", "import " + system.module});
  const int code = child.finish(kImportSeconds);
  if (code == 0) return "";
  if (code == 127) return "there is no such program";
  if (code < 0) return "it took longer than two minutes";
  const std::vector<std::string> lines = child.error_lines();
  return lines.empty() ? fmt::format("exit code {}", code) : lines.back();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> command_of(const std::string& python, const std::string& script,
                                    const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& environment) {
  std::vector<std::string> all;
  if (!environment.empty()) {
    all.emplace_back("env");  // sets the environment, then executes the interpreter
    all.insert(all.end(), environment.begin(), environment.end());
  }
  all.insert(all.end(), {python, "-B", "-W", "ignore", script});  // -B: writes no bytecode beside the scripts
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

}  // namespace

const System& pytorch() { return kSystems[0]; }

const System& find_system(const std::string& name) {
  std::vector<std::string> names;
  for (const System& one : kSystems) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  base::user_error("--peer: {}", base::unknown_name("system", name, names));
}

std::string find_python(const System& system, const PeerLocation& place) {
  const std::string& named = place.python.empty() ? place.environment_python : place.python;
  if (!named.empty()) {
    const std::string why = why_not(named, system);
    if (why.empty()) return named;
    base::user_error("{} '{}' cannot import {} ({}); {}", place.python.empty() ? "TRIREME_PYTHON" : "--python", named,
                     system.module, why, what_to_do(system));
  }
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (why_not(python, system).empty()) return python;
  base::user_error("neither python3 nor /usr/bin/python3 imports {}; {}", system.module, what_to_do(system));
}

std::string find_script(const System& system, const std::string& name, const PeerLocation& place) {
  std::error_code ignored;
  const fs::path below = fs::path(system.name) / name;
  if (!place.scripts.empty()) {
    if (const fs::path path = place.scripts / below; fs::exists(path, ignored)) return path.string();
    base::user_error("TRIREME_PEERS is '{}', but there is no {} in it", place.scripts, below.string());
  }
  // The program is in <source>/build, its tests one folder deeper; installed, it is in <prefix>/bin.
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  fs::path folder = program.parent_path();
  for (int level = 0; level < 3 && folder.has_relative_path(); ++level, folder = folder.parent_path())
    for (const char* peers : {"peers", "share/trireme/peers"})
      if (const fs::path path = folder / peers / below; fs::exists(path, ignored)) return path.string();
  base::user_error("the script peers/{} was not found near {}; set TRIREME_PEERS to the folder peers", below.string(),
                   program.string());
}

Script::Script(const std::string& title, const std::string& python, const std::string& script,
               const std::vector<std::string>& arguments, const std::vector<int>& cpus,
               const std::vector<std::string>& environment)
    : title_(title), process_(title, command_of(python, script, arguments, environment), cpus) {}

std::string Script::ask(const std::string& json, double deadline_seconds) {
  std::string text = process_.ask(json, deadline_seconds);
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  if (!answer.is_object()) base::run_error("{} answered '{}', a JSON object was expected", title_, text);
  const auto words = [](const nlohmann::json& of) {
    return first_line(of.is_string() ? of.get<std::string>() : of.dump());
  };
  if (const auto refused = answer.find("refused"); refused != answer.end()) base::user_error("{}", words(*refused));
  if (const auto error = answer.find("error"); error != answer.end())
    base::run_error("{} failed: {}", title_, words(*error));
  return text;
}

}  // namespace trireme::peer
