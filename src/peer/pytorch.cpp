#include "peer/pytorch.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trireme::peer {
namespace {

namespace fs = std::filesystem;

constexpr double kImportSeconds = 120;  // the first import after a boot reads a gigabyte
constexpr const char* kWhatToDo = "install python3-torch, or name an interpreter with --python or TRIREME_PYTHON";

// Empty when this python imports torch, else what it said.
std::string why_not(const std::string& python) {
  Child child(python, {python, "-c", "import torch"});
  const int code = child.finish(kImportSeconds);
  if (code == 0) return "";
  if (code == 127) return "there is no such program";
  if (code < 0) return "it took longer than two minutes";
  const std::string words = child.last_words();
  return words.empty() ? fmt::format("exit code {}", code) : words.substr(words.rfind(" / ") + 1);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> with_script(const std::string& python, const std::string& script,
                                     const std::vector<std::string>& arguments) {
  std::vector<std::string> all{python, "-B", "-W", "ignore", script};  // -B: leaves no files beside the scripts
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

}  // namespace

std::string find_python(const PytorchPlace& place) {
  const std::string& named = place.python.empty() ? place.environment_python : place.python;
  if (!named.empty()) {
    const std::string why = why_not(named);
    if (why.empty()) return named;
    base::user_error("{} '{}' cannot import torch ({}); {}", place.python.empty() ? "TRIREME_PYTHON" : "--python",
                     named, why, kWhatToDo);
  }
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (why_not(python).empty()) return python;
  base::user_error("neither python3 nor /usr/bin/python3 imports torch; {}", kWhatToDo);
}

std::string find_script(const std::string& name, const PytorchPlace& place) {
  std::error_code ignored;
  const fs::path below = fs::path("pytorch") / name;
  if (!place.scripts.empty()) {
    if (const fs::path path = place.scripts / below; fs::exists(path, ignored)) return path.string();
    base::user_error("TRIREME_PEERS is '{}', but there is no {} in it", place.scripts, below.string());
  }
  // The program lies in <source>/build, its tests one folder deeper; installed, in <prefix>/bin.
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  fs::path folder = program.parent_path();
  for (int level = 0; level < 3 && folder.has_relative_path(); ++level, folder = folder.parent_path())
    for (const char* peers : {"peers", "share/trireme/peers"})
      if (const fs::path path = folder / peers / below; fs::exists(path, ignored)) return path.string();
  base::user_error("the script peers/{} was not found near {}; name the folder peers with TRIREME_PEERS",
                   below.string(), program.string());
}

Pytorch::Pytorch(const std::string& python, const std::string& script, const std::vector<std::string>& arguments,
                 const std::vector<int>& cpus)
    : child_("PyTorch", with_script(python, script, arguments), cpus) {}

std::string Pytorch::ask(const std::string& json, double deadline_seconds) {
  std::string text = child_.ask(json, deadline_seconds);
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  if (!answer.is_object()) base::run_error("PyTorch answered '{}', a JSON object was expected", text);
  if (const auto error = answer.find("error"); error != answer.end())
    base::run_error("PyTorch failed: {}", first_line(error->is_string() ? error->get<std::string>() : error->dump()));
  return text;
}

}  // namespace trireme::peer
