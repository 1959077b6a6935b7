// Finding PyTorch and its scripts, and talking to it; the interpreter is made up.
#include "peer/script.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "support/core_errors.h"
#include "support/temporary_folder.h"

namespace trireme::peer {
namespace {

using support::contains;

namespace fs = std::filesystem;

constexpr double kScriptSeconds = 60;

std::string error_of(const std::function<void()>& f, base::ErrorKind kind) {
  try {
    f();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

// A program of this name in the folder.
std::string program(const test::TemporaryFolder& folder, const std::string& name, const std::string& script) {
  const fs::path path = folder / name;
  std::ofstream(path) << "#!/bin/sh\n" << script;
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

TEST(FindPython, TakesTheNamedOneThatImportsTorch) {
  const test::TemporaryFolder folder;
  const std::string good = program(folder, "good", "test \"$1 $2\" = '-c import torch'\n");
  EXPECT_EQ(find_python(pytorch(), {good, "/no/such/python", ""}), good) << "the option wins";
  EXPECT_EQ(find_python(pytorch(), {"", good, ""}), good);
}

TEST(FindPython, SaysWhyTheNamedOneIsNone) {
  const test::TemporaryFolder folder;
  const std::string bad = program(folder, "bad", "echo Traceback >&2; echo no module torch >&2; exit 1\n");
  const auto user = base::ErrorKind::user;
  const std::string of_option = error_of([&] { find_python(pytorch(), {bad, "", ""}); }, user);
  EXPECT_TRUE(contains(of_option, "--python") && contains(of_option, bad) && contains(of_option, "(no module torch)"))
      << of_option;
  EXPECT_FALSE(contains(of_option, "\n")) << of_option;
  const std::string of_environment = error_of([&] { find_python(pytorch(), {"", bad, ""}); }, user);
  EXPECT_TRUE(contains(of_environment, "TRIREME_PYTHON")) << of_environment;
  const std::string absent = error_of([] { find_python(pytorch(), {"/no/such/python", "", ""}); }, user);
  EXPECT_TRUE(contains(absent, "/no/such/python") && contains(absent, "no such program")) << absent;
}

TEST(FindSystem, KnowsTwoAndSaysWhich) {
  EXPECT_EQ(find_system("pytorch").module, "torch");
  EXPECT_EQ(find_system("tensorflow").title, "TensorFlow");
  const std::string wrong = error_of([] { find_system("pytroch"); }, base::ErrorKind::user);
  EXPECT_TRUE(contains(wrong, "--peer") && contains(wrong, "pytorch")) << wrong;
}

TEST(FindPython, SaysWhatToInstallForEachSystem) {
  const std::string none = error_of(
      [] {
        find_python(find_system("tensorflow"), {"/no/such/python", "", ""});
      },
      base::ErrorKind::user);
  EXPECT_TRUE(contains(none, "tensorflow-cpu")) << none;
}

TEST(FindScript, LooksInTheNamedFolderOrBesideTheSource) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "pytorch");
  std::ofstream(folder / "pytorch/own.py") << "\n";
  EXPECT_EQ(find_script(pytorch(), "own.py", {"", "", folder.path().string()}),
            (folder.path() / "pytorch/own.py").string());
  const std::string missing = error_of(
      [&] {
        find_script(pytorch(), "step.py", {"", "", folder.path().string()});
      },
      base::ErrorKind::user);
  EXPECT_TRUE(contains(missing, "TRIREME_PEERS") && contains(missing, "step.py")) << missing;
  EXPECT_TRUE(
      fs::equivalent(find_script(pytorch(), "step.py", {}), fs::path(TRIREME_SOURCE_DIR) / "peers/pytorch/step.py"));
  EXPECT_TRUE(contains(error_of([] { find_script(pytorch(), "no.py", {}); }, base::ErrorKind::user), "TRIREME_PEERS"));
}

TEST(Script, SpeaksJson) {
  const test::TemporaryFolder folder;
  const std::string python = program(folder, "python",
                                     "while read -r line; do case $line in\n"
                                     "  *good*) echo \"{\\\"arguments\\\": \\\"$*\\\"}\";;\n"
                                     "  *error*) printf '%s\\n' '{\"error\": \"out of\\nmemory\"}';;\n"
                                     "  *refused*) echo '{\"refused\": \"no such rule\"}';;\n"
                                     "  *) echo hello;;\n"
                                     "esac; done\n");
  Script script("PyTorch", python, "step.py", {"2", "pin"}, {});
  EXPECT_EQ(script.ask("{\"do\": \"good\"}", kScriptSeconds), "{\"arguments\": \"-B -W ignore step.py 2 pin\"}");
  const std::string failed = error_of([&] { script.ask("{\"do\": \"error\"}", kScriptSeconds); }, base::ErrorKind::run);
  EXPECT_TRUE(contains(failed, "PyTorch failed: out of")) << failed;
  EXPECT_FALSE(contains(failed, "\n")) << "one sentence";
  EXPECT_EQ(error_of([&] { script.ask("{\"do\": \"refused\"}", kScriptSeconds); }, base::ErrorKind::user),
            "no such rule");
  const std::string garbled = error_of([&] { script.ask("{}", kScriptSeconds); }, base::ErrorKind::run);
  EXPECT_TRUE(contains(garbled, "'hello'")) << garbled;
}

TEST(Script, HasTheEnvironmentItIsGiven) {
  const test::TemporaryFolder folder;
  const std::string python =
      program(folder, "python", "while read -r line; do echo \"{\\\"is\\\": \\\"$OARS $HOME\\\"}\"; done\n");
  Script script("PyTorch", python, "step.py", {}, {}, {"OARS=one two", "HOME=/here"});
  EXPECT_EQ(script.ask("{}", kScriptSeconds), "{\"is\": \"one two /here\"}");
}

}  // namespace
}  // namespace trireme::peer
