// The rules of rooms: each sees a made-up offence and lets the lawful neighbour pass.
#include "structure/rooms.h"

#include <gtest/gtest.h>

namespace trireme::structure {
namespace {

TEST(RoomCycles, TwoRoomsThatIncludeEachOtherAreSeen) {
  const std::vector<SourceFile> files = {{"src/comm/mailbox/a.h", "#include \"comm/link/b.h\"\n"},
                                         {"src/comm/link/b.cpp", "#include \"comm/mailbox/a.h\"\n"}};
  EXPECT_EQ(check_room_cycles(files),
            Offences{"src: the rooms comm/link -> comm/mailbox -> comm/link form a cycle: comm/link/b.cpp includes "
                     "comm/mailbox/a.h; comm/mailbox/a.h includes comm/link/b.h"});
}

TEST(RoomCycles, LongOnesAndThoseThroughTheTopFolderAreSeen) {
  const std::vector<SourceFile> files = {{"src/ops/conv.h", "#include \"ops/winograd/a.h\"\n"},
                                         {"src/ops/winograd/a.h", "#include \"ops/core/b.h\"\n"},
                                         {"src/ops/core/b.h", "#include \"ops/conv.h\"\n"},
                                         {"src/ops/core/c.h", "#include \"ops/vector/d.h\"\n"}};
  ASSERT_EQ(check_room_cycles(files).size(), 1u);
  EXPECT_NE(check_room_cycles(files)[0].find("the rooms ops -> ops/winograd -> ops/core -> ops form a cycle"),
            std::string::npos)
      << check_room_cycles(files)[0];
}

TEST(RoomCycles, AreSeenPerPart) {
  const std::vector<SourceFile> files = {{"src/ops/conv/a.h", "#include \"ops/core/b.h\"\n"},
                                         {"src/ops/core/b.h", "#include \"ops/conv/a.h\"\n"},
                                         {"src/comm/group/c.h", "#include \"comm/mailbox/d.h\"\n"},
                                         {"src/comm/mailbox/d.h", "#include \"comm/group/c.h\"\n"}};
  EXPECT_EQ(check_room_cycles(files).size(), 2u);
}

TEST(RoomCycles, AGraphWithoutThemPasses) {
  const std::vector<SourceFile> files = {
      {"src/ops/conv/conv.cpp", "#include \"ops/conv/winograd/a.h\"\n#include \"ops/core/b.h\"\n"},
      {"src/ops/conv/winograd/a.h", "#include \"ops/core/b.h\"\n#include \"ops/conv/winograd/c.h\"\n"},
      {"src/ops/core/b.h", "#include \"base/error.h\"\n#include <vector>\n"},
      {"src/main.cpp", "#include \"ops/conv/conv.h\"\n"}};
  EXPECT_TRUE(check_room_cycles(files).empty());
}

TEST(Rooms, SiblingsDoNotIncludeEachOther) {
  const auto offences = [](const std::string& path, const std::string& header) {
    return check_sibling_rooms({path, "#include \"" + header + "\"\n"});
  };
  ASSERT_EQ(offences("src/ops/conv/winograd/a.cpp", "ops/conv/narrow/b.h").size(), 1u);
  EXPECT_EQ(offences("src/ops/conv/winograd/a.cpp", "ops/conv/narrow/b.h")[0],
            "src/ops/conv/winograd/a.cpp:1: includes ops/conv/narrow/b.h: winograd may not use narrow; put what they "
            "share into a room below both");
  EXPECT_EQ(offences("src/data/readers/table/a.h", "data/readers/numpy/b.h").size(), 1u);
  EXPECT_TRUE(offences("src/ops/conv/winograd/a.cpp", "ops/conv/winograd/b.h").empty());
  EXPECT_TRUE(offences("src/ops/conv/winograd/a.cpp", "ops/conv/conv.h").empty());
  EXPECT_TRUE(offences("src/ops/conv/conv.cpp", "ops/conv/narrow/b.h").empty()) << "the room above knows all";
  EXPECT_TRUE(offences("src/ops/norm/a.cpp", "ops/vector/wide.h").empty());
}

TEST(Rooms, FullFoldersAreSeen) {
  std::set<std::string> paths;
  for (int i = 0; i < kLargestFolder; ++i) paths.insert("src/ops/a" + std::to_string(i) + ".h");
  paths.insert("src/ops/conv/b.h");
  EXPECT_TRUE(check_folder_sizes(paths).empty()) << "rooms are counted apart";
  paths.insert("src/ops/one_more.h");
  ASSERT_EQ(check_folder_sizes(paths).size(), 1u);
  EXPECT_EQ(check_folder_sizes(paths)[0], "src/ops: 31 files, at most 30 are allowed; give it rooms");
}

}  // namespace
}  // namespace trireme::structure
