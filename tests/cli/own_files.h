// Small files of a user's own for tests of the program: images by class in folders, a table with class names, a NumPy
// array. The class is what is bright, so that a small network learns it in a few epochs.
#pragma once

#include "cli/program.h"
#include "data/readers/images/image_file.h"
#include "train/evaluation/predictions.h"

namespace trireme::cli_test {

constexpr int kPhotoSide = 28;

// A picture whose upper, middle or lower third is bright, with something that differs from picture to picture.
inline std::string photo(int third, int number, int colours = 1) {
  data::Image image{colours, kPhotoSide, kPhotoSide, {}};
  for (int c = 0; c < colours; ++c)
    for (int y = 0; y < kPhotoSide; ++y)
      for (int x = 0; x < kPhotoSide; ++x)
        image.pixels.push_back(
            static_cast<std::uint8_t>((y * 3 / kPhotoSide == third ? 200 : 20) + (x * 7 + y * 3 + number * 11) % 40));
  const auto bytes = data::encode_png(image);
  return {bytes.begin(), bytes.end()};
}

class OwnFiles : public Program {
 protected:
  // Folders bird, cat and dog with 12 pictures each: third 0, 1 and 2.
  void make_photos(const std::string& name, const Words& classes = {"bird", "cat", "dog"}) const {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (classes[c].empty()) continue;
      fs::create_directories(folder() / name / classes[c]);
      for (int i = 0; i < 12; ++i)
        write(folder() / name / classes[c] / (std::to_string(i) + ".png"), photo(static_cast<int>(c), i));
    }
  }
  // A run r on such pictures that has learnt them.
  void train_on_photos() const {
    make_photos("photos");
    const Json summary =
        trained({"--model", "mnist-cnn", "--data", "photos", "--batch", "8", "--epochs", "8", "--run", "r"});
    ASSERT_EQ(summary["test_accuracy"], 1);
  }
};

// Answers of a network that was never trained, one column per name.
inline train::Predictions made_up(data::TargetKind target, Words names, std::vector<float> outputs,
                                  std::vector<float> targets) {
  const auto width = static_cast<std::int64_t>(names.size());
  const auto samples = static_cast<std::int64_t>(outputs.size()) / width;
  train::Predictions all{{}, {{{1}}, target, width, std::move(names)}, samples, std::move(outputs), std::move(targets)};
  std::vector<double> sums(train::score_sums(all.spec));
  if (!sums.empty() && !all.targets.empty()) train::sum_scores(all.spec, {}, samples, all.outputs, all.targets, sums);
  all.evaluation.scores = train::scores_of(all.spec, sums);
  return all;
}

// A .npy file of bytes.
inline std::string npy_bytes(const std::string& shape, const std::string& values) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header + "\n" + values;
}

}  // namespace trireme::cli_test
