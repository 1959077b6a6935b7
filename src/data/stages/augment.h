// Augmentation: random changes of training images, applied by prepare.h. The random numbers are a pure function of
// (seed, epoch, sample index): they do not depend on the rank or on the order of the calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/stages/colour_jitter.h"
#include "data/stages/resized_crop.h"

namespace trireme::data {

struct Augmentation {
  double least_area = 0;    // resized crop: cut out this share of the area or more and enlarge it; 0: none
  double most_ratio = 1;    // of the sides of what is cut out, either way, relative to the image's
  std::int64_t pad = 0;     // crop: pad with this many zeros on each side, then cut the old size out at a random place
  bool flip = false;        // mirror left and right, with probability 1/2
  double degrees = 0;       // rotate around the centre by up to this many degrees, in either direction
  double brightness = 0;    // multiply by 1 - b ... 1 + b; bytes stay below 256
  std::int64_t cutout = 0;  // set a square of this side around a random pixel to black
  // Colour jitter: brightness, contrast and saturation are multiplied by 1 - x ... 1 + x, the hue is turned by up to
  // this share of a whole turn, in either direction.
  struct Jitter {
    double brightness = 0, contrast = 0, saturation = 0, hue = 0;
    friend bool operator==(const Jitter&, const Jitter&) = default;
  };
  Jitter jitter{};

  friend bool operator==(const Augmentation&, const Augmentation&) = default;
  // All but what changes single planes in one pass (plane.h).
  bool needs_whole_image() const { return least_area > 0 || jitter != Jitter{}; }
  bool does_nothing() const {
    return pad == 0 && !flip && degrees == 0 && brightness == 0 && cutout == 0 && !needs_whole_image();
  }
};

// "crop,flip", "crop=2,rotate=10", "none" or "". An unknown name is a user error with the nearest one.
Augmentation parse_augmentation(std::string_view text);
// Only reports the user errors of parse_augmentation().
inline void check_augmentation(std::string_view text) { (void)parse_augmentation(text); }

// User error when a change would leave nothing of an image: more padding or a larger square than its rows or columns.
void check_augmentation_fits(const Augmentation& augmentation, const std::vector<tensor::Shape>& inputs);

struct AugmentationInfo {
  std::string name, description;
};
std::vector<AugmentationInfo> augmentation_list();

// The changes drawn for one sample: dst(y, x) = src(y + down, x' + right), where x' = x or mirrored, both rotated
// around the centre; zero outside. Then the values are multiplied by gain, then the cutout square is set. Before all
// this, the window is enlarged to the whole image (no rows: there is none); colours change before gain and cutout.
struct Change {
  Window window{};
  ColourChange colours{};
  std::int64_t down = 0, right = 0;
  bool flip = false;
  float cosine = 1, sine = 0;
  float gain = 1;
  std::int64_t cut_top = 0, cut_left = 0, cut_side = 0;

  bool rotates() const { return sine != 0; }
};

// Draws the changes of an image of this size. All inputs of a sample share one cutout place.
Change draw_change(const Augmentation& augmentation, const AugmentationSeed& random, std::int64_t index,
                   std::int64_t height, std::int64_t width);

}  // namespace trireme::data
