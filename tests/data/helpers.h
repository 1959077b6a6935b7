// What the tests of this part share: a temporary folder, packed files, a dataset of known content, error texts.
#pragma once

#include <gtest/gtest.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/dataset/dataset.h"
#include "support/temporary_folder.h"

namespace trireme::data {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

using TempFolder = test::TemporaryFolder;

inline void write_bytes(const fs::path& path, const Bytes& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.good());
}

inline Bytes pack_gz(const Bytes& content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, content.size()) + 64);
  Bytes copy = content;
  stream.next_in = copy.data();
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline Bytes pack_xz(const Bytes& content) {
  Bytes packed(lzma_stream_buffer_bound(content.size()));
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, content.data(), content.size(), packed.data(), &size,
                                    packed.size()),
            LZMA_OK);
  packed.resize(size);
  return packed;
}

inline Bytes pack_zstd(const Bytes& content) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);  // as the program zstd does
  Bytes packed(ZSTD_compressBound(content.size()));
  const std::size_t size = ZSTD_compress2(context.get(), packed.data(), packed.size(), content.data(), content.size());
  EXPECT_FALSE(ZSTD_isError(size));
  packed.resize(size);
  return packed;
}

// Sample i, value k of input j is start(j) + 1000 i + k; the target is i modulo the classes.
class CountingDataset : public Dataset {
 public:
  CountingDataset(std::vector<tensor::Shape> inputs, std::int64_t samples, std::int64_t classes = 10)
      : samples_(samples) {
    spec_.inputs = std::move(inputs);
    spec_.classes = classes;
  }
  const DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return samples_; }
  void fetch(std::int64_t index, const AugmentationSeed&, std::span<float* const> inputs,
             float* target) const override {
    for (std::size_t j = 0; j < inputs.size(); ++j)
      for (std::int64_t k = 0; k < spec_.inputs[j].count(); ++k) inputs[j][k] = value(index, j, k);
    *target = static_cast<float>(index % spec_.classes);
  }
  static float value(std::int64_t index, std::size_t input, std::int64_t k) {
    return static_cast<float>(1000 * index + k) + 0.25f * static_cast<float>(input);
  }

 private:
  DataSpec spec_;
  std::int64_t samples_;
};

struct Sample {
  std::vector<std::vector<float>> inputs;
  std::vector<float> target;
};

inline Sample fetch_sample(const Dataset& dataset, std::int64_t index, const AugmentationSeed& random = {}) {
  Sample sample;
  std::vector<float*> pointers;
  for (const tensor::Shape& shape : dataset.spec().inputs)
    sample.inputs.emplace_back(static_cast<std::size_t>(shape.count()), -12345.0f);
  for (auto& input : sample.inputs) pointers.push_back(input.data());
  sample.target.resize(static_cast<std::size_t>(target_floats(dataset.spec())));
  dataset.fetch(index, random, pointers, sample.target.data());
  return sample;
}

// Expects a user error (exit code 2) whose sentence contains every part.
inline void expect_user_error(const std::function<void()>& act, const std::vector<std::string>& parts) {
  try {
    act();
    ADD_FAILURE() << "no error was thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.exit_code(), 2) << error.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << error.what();
  }
}

}  // namespace trireme::data
