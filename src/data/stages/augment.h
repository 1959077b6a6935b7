// Augmentation: random changes of training images. What is drawn is a pure function of (seed, epoch, sample index),
// never of who asks or when. prepare.h applies it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::data {

struct Augmentation {
  std::int64_t pad = 0;     // crop: pad this many zeros on each side, then take the old size at a random place
  bool flip = false;        // mirror left and right, every second time
  double degrees = 0;       // rotate by up to this many, either way, around the centre
  double brightness = 0;    // multiply by 1 - b ... 1 + b; bytes stay below 256
  std::int64_t cutout = 0;  // black out a square of this side around a random pixel

  bool does_nothing() const { return pad == 0 && !flip && degrees == 0 && brightness == 0 && cutout == 0; }
};

// "crop,flip", "crop=2,rotate=10", "none" or "". An unknown name is a user error with the nearest one.
Augmentation parse_augmentation(std::string_view text);
// Only its user error.
inline void check_augmentation(std::string_view text) { (void)parse_augmentation(text); }

struct AugmentationInfo {
  std::string name, description;
};
std::vector<AugmentationInfo> augmentation_list();

// What happens to one sample: dst(y, x) = src(y + down, x' + right), where x' = x, or mirrored; both turned around the
// centre; zero outside; then times gain, then the square.
struct Change {
  std::int64_t down = 0, right = 0;
  bool flip = false;
  float cosine = 1, sine = 0;
  float gain = 1;
  std::int64_t cut_top = 0, cut_left = 0, cut_side = 0;

  bool rotates() const { return sine != 0; }
};

// For images of this size; the squares of a sample's inputs lie at the same place.
Change draw_change(const Augmentation& augmentation, const AugmentationSeed& random, std::int64_t index,
                   std::int64_t height, std::int64_t width);

}  // namespace trireme::data
