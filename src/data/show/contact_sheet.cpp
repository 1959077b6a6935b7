#include "data/show/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/show/label_font.h"
#include "data/show/picture.h"
#include "data/show/sheet_label.h"
#include "data/show/sheet_panel.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kMargin = 16, kGapAcross = 14, kGapDown = 14, kInputGap = 4, kLabelGap = 6;
constexpr std::int64_t kWidestLabel = 168;  // in pixels; wider ones are broken into lines
constexpr std::int64_t kMaxCells = 64;      // in each direction
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 27;
constexpr Colour kInk = {32, 32, 32};

// One sample, fetched into reused memory.
class Fetched {
 public:
  explicit Fetched(const Dataset& dataset)
      : dataset_(dataset), target(static_cast<std::size_t>(target_floats(dataset.spec()))) {
    for (const tensor::Shape& shape : dataset.spec().inputs)
      inputs.emplace_back(static_cast<std::size_t>(shape.count()));
    for (auto& input : inputs) pointers_.push_back(input.data());
  }
  void fetch(std::int64_t index, const AugmentationSeed& random) {
    dataset_.fetch(index, random, pointers_, target.data());
  }

 private:
  const Dataset& dataset_;
  std::vector<float*> pointers_;

 public:
  std::vector<std::vector<float>> inputs;
  std::vector<float> target;
};

std::vector<std::int64_t> choose(const Dataset& dataset, const SheetOptions& options) {
  for (const std::int64_t index : options.indices)
    if (index < 0 || index >= dataset.size())
      base::user_error("there is no sample {}; the dataset has 0 ... {}", index, dataset.size() - 1);
  const std::int64_t cells = options.columns * options.rows;
  std::vector<std::int64_t> chosen = options.indices;
  if (static_cast<std::int64_t>(chosen.size()) > cells) chosen.resize(static_cast<std::size_t>(cells));
  if (!chosen.empty()) return chosen;
  const std::int64_t count = std::min(cells, dataset.size());
  for (std::int64_t i = 0; i < count; ++i) chosen.push_back(count == 1 ? 0 : i * (dataset.size() - 1) / (count - 1));
  return chosen;
}

// The range of values that an input has on the sheet. Integers from 0 to 255 with at least one above 1 count as bytes.
struct Seen {
  float smallest = std::numeric_limits<float>::infinity(), largest = -smallest;
  bool all_bytes = true;

  void add(const std::vector<float>& values) {
    for (const float value : values) {
      if (!std::isfinite(value)) continue;
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
      all_bytes = all_bytes && value >= 0 && value <= 255 && value == std::floor(value);
    }
  }
  SheetOptions::Range range() const {
    if (all_bytes && largest > 1) return {0, 255};
    return {smallest, largest};
  }
};

// The layout of the sheet.
struct Plan {
  std::vector<Panel> panels;
  std::int64_t columns, rows;
  std::int64_t cell_width = 0, panels_width = 0, panels_height = 0, label_height = 0;

  std::int64_t cell_height() const { return panels_height + kLabelGap + label_height; }
  std::int64_t width() const { return 2 * kMargin + columns * cell_width + (columns - 1) * kGapAcross; }
  std::int64_t height() const { return 2 * kMargin + rows * cell_height() + (rows - 1) * kGapDown; }
};

Plan make_plan(const DataSpec& spec, const SheetOptions& options, std::int64_t count,
               const std::vector<std::string>& labels, LabelFont& font) {
  Plan plan;
  plan.columns = std::min(options.columns, count);
  plan.rows = (count + plan.columns - 1) / plan.columns;
  for (const tensor::Shape& shape : spec.inputs) {
    plan.panels.emplace_back(shape);
    plan.panels_width += plan.panels.back().width() + (plan.panels.size() > 1 ? kInputGap : 0);
    plan.panels_height = std::max(plan.panels_height, plan.panels.back().height());
  }
  for (const std::string& label : labels) plan.cell_width = std::max(plan.cell_width, font.width(label));
  plan.cell_width = std::max(plan.panels_width, std::min(plan.cell_width, kWidestLabel));
  for (const std::string& label : labels)
    plan.label_height = std::max(plan.label_height, font.height(label, plan.cell_width));
  return plan;
}

void draw_inputs(const Fetched& sample, const Plan& plan, const std::vector<SheetOptions::Range>& ranges,
                 std::int64_t x, std::int64_t y, Picture& picture) {
  x += (plan.cell_width - plan.panels_width) / 2;
  for (std::size_t i = 0; i < plan.panels.size(); ++i) {
    const Panel& panel = plan.panels[i];
    draw_panel(panel, sample.inputs[i].data(), ranges[i].black, ranges[i].white, x,
               y + (plan.panels_height - panel.height()) / 2, picture);
    x += panel.width() + kInputGap;
  }
}

}  // namespace

ContactSheet contact_sheet(const Dataset& dataset, const SheetOptions& options) {
  if (options.columns < 1 || options.rows < 1 || options.columns > kMaxCells || options.rows > kMaxCells)
    base::user_error("a sheet of {} columns and {} rows cannot be drawn, expected 1 ... {} each way", options.columns,
                     options.rows, kMaxCells);
  const std::vector<std::int64_t> chosen = choose(dataset, options);
  if (chosen.empty()) base::user_error("a dataset without samples cannot be drawn");

  // Samples are fetched twice instead of kept: first for the ranges and labels, then for drawing.
  Fetched sample(dataset);
  std::vector<Seen> seen(dataset.spec().inputs.size());
  std::vector<std::string> labels;
  for (const std::int64_t index : chosen) {
    sample.fetch(index, options.random);
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i].add(sample.inputs[i]);
    const std::size_t cell = labels.size();
    labels.push_back(cell < options.labels.size() ? options.labels[cell] : label_text(dataset.spec(), sample.target));
  }
  std::vector<SheetOptions::Range> ranges;
  for (const Seen& of_input : seen) ranges.push_back(options.range.value_or(of_input.range()));

  LabelFont font;
  ContactSheet sheet;
  const std::int64_t lacking = std::ranges::count_if(labels, [&](std::string& label) {
    LabelFont::Drawable drawable = font.drawable(label);
    label = std::move(drawable.text);
    return drawable.lacks_font;
  });
  if (!font.has_fonts())
    sheet.notes.push_back("this machine has no fonts, so the labels are left out (Debian: fonts-dejavu-core)");
  else if (lacking > 0)
    sheet.notes.push_back(
        fmt::format("no font of this machine has some characters of {} of {} labels; they are written as U+ and their "
                    "number (Debian's fonts-noto has most scripts, fonts-noto-cjk Chinese, Japanese and Korean)",
                    lacking, labels.size()));

  const auto count = static_cast<std::int64_t>(chosen.size());
  const Plan plan = make_plan(dataset.spec(), options, count, labels, font);
  if (plan.width() * plan.height() > kMaxPixels || std::max(plan.width(), plan.height()) > Picture::kMostPixelsEachWay)
    base::user_error(
        "a sheet of {} x {} samples would have {}x{} pixels, at most {} each way and {} in all are drawn; choose fewer",
        plan.rows, plan.columns, plan.height(), plan.width(), Picture::kMostPixelsEachWay, kMaxPixels);
  Picture picture(plan.width(), plan.height());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t x = kMargin + i % plan.columns * (plan.cell_width + kGapAcross);
    const std::int64_t y = kMargin + i / plan.columns * (plan.cell_height() + kGapDown);
    sample.fetch(chosen[static_cast<std::size_t>(i)], options.random);
    draw_inputs(sample, plan, ranges, x, y, picture);
    font.draw(picture, labels[static_cast<std::size_t>(i)], x, y + plan.panels_height + kLabelGap, plan.cell_width,
              kInk);
  }
  sheet.png = picture.png();
  return sheet;
}

}  // namespace trireme::data
