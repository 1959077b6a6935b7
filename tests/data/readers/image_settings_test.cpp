// The size of images: as options say it, and as it follows from many sizes.
#include "data/readers/image_settings.h"

#include "data/helpers.h"

namespace trireme::data {
namespace {

TEST(ImageSettings, SizesAreReadOrNamed) {
  EXPECT_EQ(parse_image_size("--image-size", "auto"), std::nullopt);
  EXPECT_EQ(parse_image_size("--image-size", "64"), (ImageSize{64, 64}));
  EXPECT_EQ(parse_image_size("--image-size", "48x4096"), (ImageSize{48, 4096}));
  for (const char* bad : {"", "0", "-3", "x", "48x", "x48", "4097", "48x64x3", "64 ", "1e2", "99999999999999999999"})
    expect_user_error([&] { (void)parse_image_size("--image-size", bad); },
                      {"--image-size", fmt::format("'{}'", bad), "ROWSxCOLUMNS", "4096"});
}

TEST(ImageSettings, UsualSizeFollowsTheMedianOfTheShorterSides) {
  const auto usual = [](const std::vector<ImageSize>& sizes) {
    const ImageSize size = usual_size(sizes);
    EXPECT_EQ(size.rows, size.columns);
    return size.rows;
  };
  EXPECT_EQ(usual({{3000, 4000}, {4000, 3000}, {20, 20}}), 128);
  EXPECT_EQ(usual({{100, 640}, {640, 95}, {200, 200}, {50, 50}}), 64);  // of an even number the lower one: 95
  EXPECT_EQ(usual({{96, 97}}), 96);
  EXPECT_EQ(usual({{31, 500}, {500, 31}}), 24);
  EXPECT_EQ(usual({{16, 20}}), 16);
  EXPECT_EQ(usual({{9, 20}, {1, 1}, {15, 9}}), 9);
}

}  // namespace
}  // namespace trireme::data
