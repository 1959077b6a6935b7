#include "data/decompress.h"

#include "helpers.h"

namespace trireme::data {
namespace {

Bytes pattern(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return bytes;
}

struct Packing {
  const char* ending;
  Bytes (*pack)(const Bytes&);
};
Bytes keep(const Bytes& bytes) { return bytes; }
const Packing kPackings[] = {{"", keep}, {".gz", pack_gz}, {".xz", pack_xz}};

TEST(Decompress, GivesBackTheContentInAnyPieces) {
  const TempFolder folder;
  for (const Packing& packing : kPackings)
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{65536}, std::size_t{1'000'003}}) {
      const Bytes content = pattern(size);
      const fs::path path = folder.path() / (std::string("file") + packing.ending);
      write_bytes(path, packing.pack(content));
      EXPECT_EQ(find_packed(folder.path(), "file"), path);
      for (const std::size_t piece : {std::size_t{977}, std::size_t{2'000'000}}) {
        UnpackedReader reader(path);
        Bytes read;
        Bytes buffer(piece);
        while (const std::size_t got = reader.read(buffer.data(), piece))
          read.insert(read.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
        EXPECT_EQ(read, content) << packing.ending << " " << size;
        EXPECT_EQ(reader.read(buffer.data(), piece), 0u);
      }
      UnpackedReader reader(path);
      EXPECT_EQ(reader.read_exactly(size, "all"), content);
      EXPECT_NO_THROW(reader.expect_end());
      fs::remove(path);
    }
  EXPECT_EQ(find_packed(folder.path(), "file"), fs::path());
}

TEST(Decompress, ReadsSeveralArchivesInARow) {
  const TempFolder folder;
  for (const Packing& packing : {kPackings[1], kPackings[2]}) {
    const Bytes content = pattern(1000);
    Bytes packed = packing.pack(content);
    const Bytes again = packed;
    packed.insert(packed.end(), again.begin(), again.end());
    const fs::path path = folder.path() / (std::string("twice") + packing.ending);
    write_bytes(path, packed);
    UnpackedReader reader(path);
    EXPECT_EQ(reader.read_exactly(1000, "first"), content);
    EXPECT_EQ(reader.read_exactly(1000, "second"), content);
    EXPECT_NO_THROW(reader.expect_end());
  }
}

TEST(Decompress, CutOffOrDamagedArchivesNameTheFile) {
  const TempFolder folder;
  const Bytes content = pattern(300'000);
  for (const Packing& packing : {kPackings[1], kPackings[2]}) {
    const Bytes whole = packing.pack(content);
    const fs::path path = folder.path() / (std::string("broken") + packing.ending);
    for (const std::size_t kept : {std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
      write_bytes(path, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)));
      expect_user_error(
          [&] {
            UnpackedReader reader(path);
            reader.read_exactly(content.size(), "the content");
            reader.expect_end();
          },
          {path.string()});
    }
    Bytes damaged = whole;
    for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 16; ++i) damaged[i] ^= 0x5a;
    write_bytes(path, damaged);
    expect_user_error(
        [&] {
          UnpackedReader reader(path);
          reader.read_exactly(content.size(), "the content");
          reader.expect_end();
        },
        {path.string(), "damaged"});
  }
}

TEST(Decompress, ABombIsReadOnlyAsFarAsAsked) {
  const TempFolder folder;
  const fs::path path = folder.path() / "bomb.gz";
  write_bytes(path, pack_gz(Bytes(50'000'000)));
  UnpackedReader reader(path);
  EXPECT_EQ(reader.read_exactly(100, "a little").size(), 100u);
  expect_user_error([&] { reader.expect_end(); }, {path.string(), "longer"});
}

TEST(Decompress, AFalsePromiseCostsNoMemory) {
  const TempFolder folder;
  const fs::path path = folder.path() / "short";
  write_bytes(path, pattern(10));
  UnpackedReader reader(path);
  expect_user_error([&] { reader.read_exactly(std::size_t{1} << 50, "its pixels"); },
                    {path.string(), "cut short", "10"});
}

TEST(Decompress, EndingAndContentMustAgree) {
  const TempFolder folder;
  for (const char* name : {"plain.gz", "plain.xz"}) {
    write_bytes(folder.path() / name, pattern(100));
    expect_user_error([&] { UnpackedReader reader(folder.path() / name); }, {name, "does not begin like"});
    write_bytes(folder.path() / name, {});
    expect_user_error([&] { UnpackedReader reader(folder.path() / name); }, {name});
  }
  expect_user_error([&] { UnpackedReader reader(folder.path() / "absent"); }, {"absent"});
  expect_user_error([&] { UnpackedReader reader(folder.path()); }, {"is a folder"});
}

}  // namespace
}  // namespace trireme::data
