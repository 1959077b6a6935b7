// All rules, on this repository.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "structure/parts.h"
#include "structure/public_headers.h"
#include "structure/rooms.h"
#include "structure/rules.h"
#include "structure/type_names.h"
#include "structure/united_names.h"

namespace trireme::structure {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TRIREME_SOURCE_DIR;

SourceFile read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return {fs::relative(path, kRoot).generic_string(), text.str()};
}

// The C++ files under the given folders of the repository.
std::vector<SourceFile> cpp_files(const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(kRoot / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") files.push_back(read(entry.path()));
  }
  return files;
}

void expect_none(const Offences& offences) {
  for (const std::string& offence : offences) ADD_FAILURE() << offence;
}

void expect_lawful(const std::vector<SourceFile>& files, const std::function<Offences(const SourceFile&)>& check) {
  ASSERT_FALSE(files.empty());
  for (const SourceFile& file : files) expect_none(check(file));
}

TEST(Tree, PartsIncludeOnlyWhatTheyMay) {
  const std::vector<SourceFile> files = cpp_files({"src"});
  std::set<std::string> existing;
  for (const SourceFile& file : files) existing.insert(file.path);
  expect_lawful(files, [&](const SourceFile& file) { return check_includes(file, design_arrows(), existing); });
}

TEST(Tree, CMakeLinksAsTheDesignSays) {
  const Arrows declared = cmake_arrows(read(kRoot / "CMakeLists.txt").text);
  ASSERT_TRUE(declared.contains("base"));
  for (const auto& [part, targets] : declared) {
    ASSERT_TRUE(design_arrows().contains(part)) << part;
    for (const std::string& target : targets)
      EXPECT_TRUE(reachable(design_arrows(), part).contains(target)) << part << " is linked with " << target;
  }
}

TEST(Tree, LibrariesAreLinkedWithWhatTheyInclude) {
  expect_none(check_links(cmake_arrows(read(kRoot / "CMakeLists.txt").text), included_parts(cpp_files({"src"}))));
}

TEST(Tree, FilesThatAreCompiledAsOneDoNotOverloadEachOther) {
  const std::set<std::string> together = parts_together(read(kRoot / "CMakeLists.txt").text);
  EXPECT_FALSE(together.empty());
  expect_none(check_united_names(cpp_files({"src"}), together));
}

TEST(Tree, EveryPartIsBuilt) {
  const Arrows declared = cmake_arrows(read(kRoot / "CMakeLists.txt").text);
  for (const auto& entry : fs::directory_iterator(kRoot / "src")) {
    const std::string part = entry.path().filename().string();
    if (entry.is_directory() && !fs::is_empty(entry.path())) {
      EXPECT_TRUE(declared.contains(part)) << "src/" << part << " has no trireme_part() line in CMakeLists.txt";
    }
  }
}

TEST(Tree, LibrariesStayBehindTheirGates) { expect_lawful(cpp_files({"src"}), check_library_headers); }

TEST(Tree, EnvironmentIsReadInFewPlaces) { expect_lawful(cpp_files({"src"}), check_environment); }

TEST(Tree, NoLibmWhereBitsAreMade) { expect_lawful(cpp_files({"src"}), check_libm); }

TEST(Tree, NoMachineDependentBuildFlags) {
  std::vector<SourceFile> files;
  for (const char* name :
       {"CMakeLists.txt", "CMakePresets.json", "Makefile", "tests/CMakeLists.txt", "bench/CMakeLists.txt"})
    files.push_back(read(kRoot / name));
  for (const auto& entry : fs::directory_iterator(kRoot / "cmake")) files.push_back(read(entry.path()));
  expect_lawful(files, check_build_flags);
}

TEST(Tree, RoomsFormNoCycle) { expect_none(check_room_cycles(cpp_files({"src"}))); }

TEST(Tree, RoomsKeepApart) { expect_lawful(cpp_files({"src"}), check_sibling_rooms); }

TEST(Tree, FoldersStaySmall) {
  std::set<std::string> paths;
  for (const SourceFile& file : cpp_files({"src", "tests"})) paths.insert(file.path);
  ASSERT_GT(paths.size(), 100u);
  expect_none(check_folder_sizes(paths));
}

TEST(Tree, TypeNamesHaveOneMeaning) { expect_none(check_type_names(cpp_files({"src"}))); }

TEST(Tree, PublicHeadersNeedWhatIsListed) {
  const std::vector<SourceFile> files = cpp_files({"include", "src"});
  expect_none(check_public_headers(files, read(kRoot / "cmake/public_headers.txt").text));
  expect_lawful(files, check_public_use);
}

TEST(Tree, FilesStayShort) { expect_lawful(cpp_files({"include", "src", "tests", "bench", "examples"}), check_length); }

}  // namespace
}  // namespace trireme::structure
