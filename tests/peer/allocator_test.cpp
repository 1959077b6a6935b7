// Which memory allocators are found for a peer.
#include "peer/allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace trireme::peer {
namespace {

namespace fs = std::filesystem;

TEST(Allocators, ThoseBesideTheInterpreterComeFirst) {
  const test::TemporaryFolder folder;
  fs::create_directories(folder / "env/lib");
  for (const char* file : {"libjemalloc.so.2", "libtcmalloc.so.4", "libtcmalloc_minimal.so.4"})
    std::ofstream(folder / "env/lib" / file) << "\n";
  const std::vector<Allocator> found = installed_allocators((folder / "env/bin/python").string());
  ASSERT_EQ(found.size(), 2u) << "one of each name";
  EXPECT_EQ(found[0].name, "jemalloc");
  EXPECT_EQ(found[0].file, (folder / "env/lib/libjemalloc.so.2").string());
  EXPECT_EQ(found[1].name, "tcmalloc");
  EXPECT_EQ(found[1].file, (folder / "env/lib/libtcmalloc.so.4").string());
}

TEST(Allocators, ArePreloaded) {
  EXPECT_TRUE(Allocator{}.environment().empty()) << "the C library's";
  EXPECT_EQ((Allocator{"tcmalloc", "/x/t.so"}).environment(), std::vector<std::string>{"LD_PRELOAD=/x/t.so"});
  const std::vector<std::string> of_jemalloc = Allocator{"jemalloc", "/x/j.so"}.environment();
  EXPECT_EQ(of_jemalloc.at(0), "LD_PRELOAD=/x/j.so");
  EXPECT_TRUE(of_jemalloc.at(1).starts_with("MALLOC_CONF="));
}

}  // namespace
}  // namespace trireme::peer
