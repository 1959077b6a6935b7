#include "fuzz/targets.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "data/codecs/decompress.h"
#include "data/dataset/columns.h"
#include "data/dataset/table_schema.h"
#include "data/helpers.h"
#include "data/open_data.h"
#include "data/readers/cifar.h"
#include "data/readers/idx.h"
#include "data/readers/images/image_exif.h"
#include "data/readers/images/image_file.h"
#include "data/readers/images/image_helpers.h"
#include "data/readers/numpy/npy.h"
#include "data/readers/numpy/numpy.h"
#include "data/readers/numpy/numpy_files.h"
#include "data/readers/packed.h"
#include "data/readers/table/csv.h"
#include "data/readers/table/table_summary.h"
#include "fuzz/comm_targets.h"
#include "fuzz/model_targets.h"
#include "fuzz/trace_targets.h"
#include "support/temporary_folder.h"

namespace trireme::fuzz {
namespace {

namespace fs = std::filesystem;
using Span = std::span<const std::uint8_t>;

// For readers that want files: always the same few names in a folder of this process.
fs::path file(const char* name, Span bytes) {
  static const test::TemporaryFolder folder;
  const fs::path path = folder.path() / name;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

// Reads samples of what was opened, so that its memory is touched.
void look_at(const data::Dataset& set) {
  for (std::int64_t i = 0; i < std::min<std::int64_t>(set.size(), 8); ++i) data::fetch_sample(set, i);
}
void look_at(const data::DataPair& pair) {
  look_at(*pair.train);
  look_at(*pair.test);
}

data::DataRequest request(data::TargetKind kind) {
  data::DataRequest request;
  request.wanted_target = kind;
  return request;
}

constexpr std::array kKinds = {data::TargetKind::classes, data::TargetKind::labels, data::TargetKind::values};

void read_unpacked(Span bytes) {
  data::UnpackedReader reader(data::builtin_codecs(), bytes, "input");
  std::array<std::uint8_t, 4096> piece;
  for (int pieces = 0; pieces < 256 && reader.read(piece.data(), piece.size()) == piece.size();) ++pieces;
}

// Images and labels in one input: the first two bytes say where the labels begin.
void read_idx(Span bytes) {
  if (bytes.size() < 2) return;
  const std::size_t cut = std::min<std::size_t>(bytes[0] | bytes[1] << 8, bytes.size() - 2);
  look_at(*data::read_idx(data::builtin_codecs(), file("images", bytes.subspan(2, cut)),
                          file("labels", bytes.subspan(2 + cut)), 10, {}));
}

void read_cifar(Span bytes) {
  const fs::path folder = file("train.bin", bytes).parent_path();
  file("test.bin", bytes);
  look_at(data::open_cifar100({.data_dir = folder.string()}));
}

void read_npy(Span bytes) { data::read_npy(bytes, "input.npy"); }

void read_npz(Span bytes) {
  for (const data::TargetKind kind : kKinds) try {
      look_at(data::read_npz(bytes, "input.npz", request(kind)));
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::user) throw;
    }
}

// Reads the table with each kind of target and each way to treat its columns, and once more as a run of it would.
void read_table(Span bytes) {
  const std::array<data::TableOptions, 3> options{
      {{},
       {.missing = data::MissingValues::mean},
       {.targets = {"2", "1"}, .categories = {"3"}, .missing = data::MissingValues::zero}}};
  for (const data::TargetKind kind : kKinds)
    for (const data::TableOptions& option : options) try {
        data::DataRequest wanted = request(kind);
        wanted.table = option;
        const data::DataPair pair = data::read_table(bytes, "input.csv", wanted);
        look_at(pair);
        wanted.schema = pair.train->spec().schema;
        if (!wanted.schema) continue;
        base::check(data::schema_from_json(data::to_json(*wanted.schema)) == *wanted.schema, "a schema changed");
        look_at(data::read_table(bytes, "input.csv", wanted));
      } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::user) throw;
      }
  const data::CodecRegistry codecs = data::builtin_codecs();
  data::describe_table(data::TableFile{codecs, "input.csv", &bytes});
}

void read_image(Span bytes) {
  data::decode_image_head(bytes, "input");
  data::turn_upright(data::decode_image(bytes, "input"));
}

void read_exif(Span bytes) {
  (void)data::tiff_orientation(bytes);
  (void)data::jpeg_orientation(bytes);
}

void read_packed(Span bytes) {
  const fs::path path = file("input.trireme", bytes);
  look_at(data::open_packed(path));
  data::verify_packed(path);
}

std::vector<Bytes> unpacked_seeds() {
  const Bytes content(300, 7);
  return {data::pack_gz(content), data::pack_xz(content), data::pack_zstd(content), content};
}

std::vector<Bytes> idx_seeds() {
  Bytes images{0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2};
  images.resize(images.size() + 12, 9);
  const Bytes labels{0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 9};
  Bytes both{static_cast<std::uint8_t>(images.size()), 0};
  both.insert(both.end(), images.begin(), images.end());
  both.insert(both.end(), labels.begin(), labels.end());
  return {both};
}

std::vector<Bytes> cifar_seeds() { return {Bytes(2 * 3074, 5)}; }

std::vector<Bytes> npy_seeds() {
  return {data::npy_bytes("(2, 3)", 6), data::npy_labels({0, 1, 2}),
          data::npy("<f4", "(3,)", data::raw(std::vector<float>{1, 2, 3})),
          data::npy(">i2", "(2, 2)", data::raw(std::vector<std::int16_t>{1, 2, 3, 4}, true), true)};
}

std::vector<Bytes> npz_seeds() {
  const Bytes x = data::npy_bytes("(6, 2, 2)", 24), y = data::npy_labels({0, 1, 0, 1, 0, 1});
  return {data::zip({{"x.npy", x}, {"y.npy", y}}),
          data::zip({{"x_train.npy", x}, {"y_train.npy", y}, {"x_test.npy", x}, {"y_test.npy", y}})};
}

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<Bytes> table_seeds() {
  return {bytes_of("a,b,class\n1,2.5,x\n3,-4e2,y\n5,6,x\n7,8,y\n9,1,x\n"),
          bytes_of("# numbers\n1 2 3 0\n4 5 6 1\r\n7 8 9 0\n\n1 1 1 1\n2 2 2 0\n"),
          bytes_of("1;2\n3;4\n5;6\n7;8\n9;1\n"),
          bytes_of("a;\"b \"\"c\"\"\";d;y\n1;\"x;\n# y\";?;0\n-;z;7;1\n2;\"z\";7;1 # note\n3;z;8;0\n"),
          bytes_of("red,S,0,1\nblue,M,1,0\nred,M,1,NA\n,S,0,1\nred,L,1,1\n")};
}

std::vector<Bytes> image_seeds() {
  return {data::plain_png(3, 4, {1, 2, 3}),
          data::plain_png(2, 2, {9}),
          data::make_jpeg(4, 4, JCS_RGB, Bytes(48, 80)),
          data::make_jpeg(8, 3, JCS_GRAYSCALE, Bytes(24, 200)),
          data::with_exif(data::make_jpeg(8, 3, JCS_GRAYSCALE, Bytes(24, 200)), data::make_tiff(6, true)),
          data::make_png(3, {{1, 2, 250}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .exif = data::make_tiff(3, false)})};
}

std::vector<Bytes> exif_seeds() {
  const Bytes jpeg = data::make_jpeg(2, 2, JCS_GRAYSCALE, Bytes(4, 200));
  return {data::make_tiff(6, true), data::make_tiff(3, false), data::with_exif(jpeg, data::make_tiff(8, true))};
}

std::vector<Bytes> packed_seeds() {
  const test::TemporaryFolder folder;
  data::DataSpec spec;
  spec.inputs = {{1, 2, 2}};
  spec.classes = 2;
  const data::DatasetPtr set = data::image_source(spec, Bytes(12, 3), {0, 1, 0});
  const fs::path path = folder.path() / "seed.trireme";
  data::write_packed(path, {set, set});
  std::ifstream in(path, std::ios::binary);
  return {Bytes(std::istreambuf_iterator<char>(in), {})};
}

constexpr std::array kTargets{
    Target{"unpack", read_unpacked, unpacked_seeds},
    Target{"idx", read_idx, idx_seeds},
    Target{"cifar", read_cifar, cifar_seeds},
    Target{"npy", read_npy, npy_seeds},
    Target{"npz", read_npz, npz_seeds},
    Target{"table", read_table, table_seeds},
    Target{"image", read_image, image_seeds},
    Target{"exif", read_exif, exif_seeds},
    Target{"packed", read_packed, packed_seeds},
    Target{"model_toml", read_model_toml, model_toml_seeds},
    Target{"model_json", read_model_json, model_json_seeds},
    Target{"frame", read_frames, frame_seeds},
    Target{"link", read_link, link_seeds},
    Target{"listener", visit_listener, listener_seeds},
    Target{"arbiter", visit_arbiter, arbiter_seeds},
    Target{"membership", host_member, membership_seeds},
    Target{"spans", read_spans, span_seeds},
    Target{"trace", read_trace, trace_seeds},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

void run(const Target& target, std::span<const std::uint8_t> bytes) {
  try {
    target.read(bytes);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::user) throw;
  }
}

}  // namespace trireme::fuzz
