// Packed files with damaged samples: found when they are opened, or by the next sample that is asked for.
#include "data/readers/checked_packed.h"

#include "base/system/clock.h"
#include "base/system/files.h"
#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/readers/packed.h"
#include "data/readers/synthetic.h"
#include "support/temporary_folder.h"

namespace trireme::data {
namespace {

using std::chrono::milliseconds;

class CheckedPacked : public testing::Test {
 protected:
  void SetUp() override {
    DataSpec spec;
    spec.inputs = {{3, 8, 8}};
    spec.classes = 3;
    write_packed(file_, {make_synthetic(spec, 200, 1, false), make_synthetic(spec, 20, 1, true)});
  }
  // Changes a byte of the training images, in the middle of the file.
  void damage() {
    Bytes content;
    for (const std::byte byte : base::read_file(file_)) content.push_back(std::to_integer<std::uint8_t>(byte));
    content[content.size() / 2] ^= 1;
    std::filesystem::remove(file_);
    write_bytes(file_, content);
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "a.trireme";
};

TEST_F(CheckedPacked, AWholeFileIsTheSameDataset) {
  const DataPair plain = open_packed(file_);
  for (const milliseconds patience : {milliseconds(0), milliseconds(60'000)}) {
    const DataPair checked = open_checked_packed(file_, patience);
    ASSERT_EQ(checked.train->size(), 200);
    ASSERT_EQ(checked.test->size(), 20);
    EXPECT_NE(checked.train->columns(), nullptr);
    for (const std::int64_t i : {0, 99, 199})
      EXPECT_EQ(fetch_sample(*checked.train, i).inputs, fetch_sample(*plain.train, i).inputs);
  }
}

TEST_F(CheckedPacked, DamageIsFoundWhenItIsOpened) {
  damage();
  (void)open_packed(file_);  // reads the header alone
  expect_user_error([&] { open_checked_packed(file_, milliseconds(60'000)); },
                    {"a.trireme is damaged", "train set's input 1", "pack it again"});
}

TEST_F(CheckedPacked, DamageThatIsFoundLaterEndsTheNextSample) {
  damage();
  DataPair pair;
  try {
    pair = open_checked_packed(file_, milliseconds(0));
  } catch (const base::Error&) {
    return;  // the thread was faster
  }
  expect_user_error(
      [&] {
        const std::int64_t deadline = base::in_seconds(60);
        while (base::now_ns() < deadline) (void)fetch_sample(*pair.test, 0);
      },
      {"a.trireme is damaged"});
}

}  // namespace
}  // namespace trireme::data
