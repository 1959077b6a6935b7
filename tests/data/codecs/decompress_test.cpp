#include "data/codecs/decompress.h"

#include <array>

#include "data/helpers.h"
#include "data/open_data.h"

namespace trireme::data {
namespace {

const CodecRegistry kCodecs = builtin_codecs();

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
const Packing kPackings[] = {{"", keep}, {".gz", pack_gz}, {".xz", pack_xz}, {".zst", pack_zstd}};

TEST(Decompress, GivesBackTheContentInAnyPieces) {
  const TempFolder folder;
  for (const Packing& packing : kPackings)
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{65536}, std::size_t{1'000'003}}) {
      const Bytes content = pattern(size);
      const fs::path path = folder.path() / (std::string("file") + packing.ending);
      write_bytes(path, packing.pack(content));
      EXPECT_EQ(find_packed(kCodecs, folder.path(), "file"), path);
      for (const std::size_t piece : {std::size_t{977}, std::size_t{2'000'000}}) {
        UnpackedReader reader(kCodecs, path);
        Bytes read;
        Bytes buffer(piece);
        while (const std::size_t got = reader.read(buffer.data(), piece))
          read.insert(read.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
        EXPECT_EQ(read, content) << packing.ending << " " << size;
        EXPECT_EQ(reader.read(buffer.data(), piece), 0u);
      }
      UnpackedReader reader(kCodecs, path);
      EXPECT_EQ(reader.read_exactly(size, "all"), content);
      EXPECT_NO_THROW(reader.expect_end());
      fs::remove(path);
    }
  EXPECT_EQ(find_packed(kCodecs, folder.path(), "file"), fs::path());
}

TEST(Decompress, ReadsSeveralArchivesInARow) {
  const TempFolder folder;
  for (const Packing& packing : {kPackings[1], kPackings[2], kPackings[3]}) {
    const Bytes content = pattern(1000);
    Bytes packed = packing.pack(content);
    const Bytes again = packed;
    packed.insert(packed.end(), again.begin(), again.end());
    const fs::path path = folder.path() / (std::string("twice") + packing.ending);
    write_bytes(path, packed);
    UnpackedReader reader(kCodecs, path);
    EXPECT_EQ(reader.read_exactly(1000, "first"), content);
    EXPECT_EQ(reader.read_exactly(1000, "second"), content);
    EXPECT_NO_THROW(reader.expect_end());
  }
}

TEST(Decompress, CutOffOrDamagedArchivesNameTheFile) {
  const TempFolder folder;
  const Bytes content = pattern(300'000);
  for (const Packing& packing : {kPackings[1], kPackings[2], kPackings[3]}) {
    const Bytes whole = packing.pack(content);
    const fs::path path = folder.path() / (std::string("broken") + packing.ending);
    for (const std::size_t kept : {std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
      write_bytes(path, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)));
      expect_user_error(
          [&] {
            UnpackedReader reader(kCodecs, path);
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
          UnpackedReader reader(kCodecs, path);
          reader.read_exactly(content.size(), "the content");
          reader.expect_end();
        },
        {path.string(), "damaged"});
  }
}

TEST(Decompress, ABombIsReadOnlyAsFarAsAsked) {
  const TempFolder folder;
  for (const Packing& packing : {kPackings[1], kPackings[3]}) {
    const fs::path path = folder.path() / (std::string("bomb") + packing.ending);
    write_bytes(path, packing.pack(Bytes(50'000'000)));
    UnpackedReader reader(kCodecs, path);
    EXPECT_EQ(reader.read_exactly(100, "a little").size(), 100u);
    expect_user_error([&] { reader.expect_end(); }, {path.string(), "longer"});
  }
}

TEST(Decompress, AFalsePromiseCostsNoMemory) {
  const TempFolder folder;
  const fs::path path = folder.path() / "short";
  write_bytes(path, pattern(10));
  UnpackedReader reader(kCodecs, path);
  expect_user_error([&] { reader.read_exactly(std::size_t{1} << 50, "its pixels"); },
                    {path.string(), "cut short", "10"});
}

TEST(Decompress, EndingAndContentMustAgree) {
  const TempFolder folder;
  for (const char* name : {"plain.gz", "plain.xz", "plain.zst"}) {
    write_bytes(folder.path() / name, pattern(100));
    expect_user_error([&] { UnpackedReader reader(kCodecs, folder.path() / name); }, {name, "does not begin like"});
    write_bytes(folder.path() / name, {});
    expect_user_error([&] { UnpackedReader reader(kCodecs, folder.path() / name); }, {name});
  }
  expect_user_error([&] { UnpackedReader reader(kCodecs, folder.path() / "absent"); }, {"absent"});
  expect_user_error([&] { UnpackedReader reader(kCodecs, folder.path()); }, {"is a folder"});
}

TEST(Decompress, FramesOfZstdMayBeSkipped) {
  const TempFolder folder;
  const Bytes content = pattern(1000);
  Bytes packed = {0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
  const Bytes frame = pack_zstd(content);
  for (int i = 0; i < 2; ++i) packed.insert(packed.end(), frame.begin(), frame.end());
  const fs::path path = folder.path() / "skip.zst";
  write_bytes(path, packed);
  UnpackedReader reader(kCodecs, path);
  EXPECT_EQ(reader.read_exactly(1000, "first"), content);
  EXPECT_EQ(reader.read_exactly(1000, "second"), content);
  EXPECT_NO_THROW(reader.expect_end());
}

TEST(Decompress, AZstdWindowBeyondTheLimitIsRefused) {
  // A frame's head: the magic, a descriptor without a content size, a window of 2^31 bytes; then an empty last block.
  const Bytes packed = {0x28, 0xb5, 0x2f, 0xfd, 0x00, (31 - 10) << 3, 0x01, 0x00, 0x00};
  UnpackedReader reader(kCodecs, packed, "long.zst");
  expect_user_error([&] { reader.expect_end(); }, {"long.zst", "too much memory", "--long"});
}

TEST(Decompress, BytesInMemoryReadLikeAFile) {
  const Bytes content = pattern(70'000);
  for (const Packing& packing : kPackings) {
    const Bytes packed = packing.pack(content);
    UnpackedReader reader(kCodecs, packed, std::string("memory") + packing.ending);
    EXPECT_EQ(reader.read_exactly(content.size(), "all"), content);
    EXPECT_NO_THROW(reader.expect_end());
  }
}

// A packing that a program adds to the readers: bytes behind a magic, each turned over.
class TurnedCodec : public Codec {
 public:
  using Codec::Codec;
  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override {
    if (!started_) read_packed(magic_.data(), magic_.size());
    started_ = true;
    const std::size_t got = read_packed(dst, bytes);
    for (std::size_t i = 0; i < got; ++i) dst[i] ^= 0xff;
    return got;
  }

 private:
  std::array<std::uint8_t, 4> magic_;
  bool started_ = false;
};

TEST(Decompress, AProgramAddsItsOwnPacking) {
  Readers readers = builtin_readers();
  readers.codecs.add({.name = "turned",
                      .summary = "bits turned over",
                      .ending = ".turned",
                      .fits =
                          [](FileHead head) {
                            return begins_with(head, {'t', 'u', 'r', 'n'});
                          },
                      .make =
                          [](std::string name, std::unique_ptr<std::istream> packed) {
                            return std::make_unique<TurnedCodec>(std::move(name), std::move(packed));
                          }});
  const std::string text = "1,2,0\n3,4,1\n5,6,0\n7,8,1\n";
  Bytes bytes{'t', 'u', 'r', 'n'};
  for (const char c : text) bytes.push_back(static_cast<std::uint8_t>(c) ^ 0xff);
  const TempFolder folder;
  const fs::path path = folder.path() / "a.csv.turned";
  write_bytes(path, bytes);
  const DataPair pair = open_dataset(readers, {.name = path.string()});
  EXPECT_EQ(pair.train->size() + pair.test->size(), 4);
  expect_user_error([&] { open_dataset({.name = path.string()}); }, {"a.csv.turned", "no known format"});
  write_bytes(path, pattern(100));
  expect_user_error([&] { open_dataset(readers, {.name = path.string()}); },
                    {"a.csv.turned", "does not begin like turned"});
}

// Every byte of a small archive changed, and every length: an error or some content, never a crash.
TEST(Decompress, DamageAnywhereIsSurvived) {
  const auto read_all = [](const Bytes& packed) {
    try {
      UnpackedReader reader(kCodecs, packed, "damaged");
      Bytes buffer(4096);
      while (reader.read(buffer.data(), buffer.size()) == buffer.size()) {
      }
    } catch (const base::Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << error.what();
    }
  };
  for (const Packing& packing : kPackings) {
    const Bytes whole = packing.pack(pattern(300));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      read_all(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)));
      for (const std::uint8_t change : {0x01, 0x80, 0xff}) {
        Bytes damaged = whole;
        damaged[i] ^= change;
        read_all(damaged);
      }
    }
  }
}

}  // namespace
}  // namespace trireme::data
