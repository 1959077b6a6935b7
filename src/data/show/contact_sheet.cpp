#include "data/show/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "data/show/canvas.h"
#include "data/show/glyphs.h"
#include "data/show/sheet_label.h"
#include "data/show/sheet_panel.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kMargin = 16, kGapAcross = 14, kGapDown = 14, kInputGap = 4, kLabelGap = 6;
constexpr std::int64_t kTextScale = 2, kLineHeight = (kGlyphHeight + kGlyphDrop + 1) * kTextScale;
constexpr std::size_t kWidestLabel = 14, kMostLabelLines = 3;
constexpr std::int64_t kMaxCells = 64;  // in each direction
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
  std::size_t label_width = 0;  // in characters

  std::int64_t cell_height() const { return panels_height + kLabelGap + label_height; }
  std::int64_t width() const { return 2 * kMargin + columns * cell_width + (columns - 1) * kGapAcross; }
  std::int64_t height() const { return 2 * kMargin + rows * cell_height() + (rows - 1) * kGapDown; }
};

Plan make_plan(const DataSpec& spec, const SheetOptions& options, std::int64_t count,
               const std::vector<std::string>& labels) {
  Plan plan;
  plan.columns = std::min(options.columns, count);
  plan.rows = (count + plan.columns - 1) / plan.columns;
  for (const tensor::Shape& shape : spec.inputs) {
    plan.panels.emplace_back(shape);
    plan.panels_width += plan.panels.back().width() + (plan.panels.size() > 1 ? kInputGap : 0);
    plan.panels_height = std::max(plan.panels_height, plan.panels.back().height());
  }
  std::size_t longest = 1;
  for (const std::string& label : labels) longest = std::max(longest, drawable(label).size());
  plan.cell_width = std::max(plan.panels_width, Canvas::text_width(std::min(longest, kWidestLabel), kTextScale));
  const std::int64_t advance = (kGlyphWidth + 1) * kTextScale;
  plan.label_width = static_cast<std::size_t>((plan.cell_width + kTextScale) / advance);
  std::size_t lines = 1;
  for (const std::string& label : labels)
    lines = std::max(lines, label_lines(label, plan.label_width, kMostLabelLines).size());
  plan.label_height = static_cast<std::int64_t>(lines) * kLineHeight;
  return plan;
}

void draw_label(const std::string& label, const Plan& plan, std::int64_t x, std::int64_t y, Canvas& canvas) {
  for (const std::string& line : label_lines(label, plan.label_width, kMostLabelLines)) {
    const std::int64_t width = Canvas::text_width(line.size(), kTextScale);
    canvas.text(x + (plan.cell_width - width) / 2, y, line, kTextScale, kInk);
    y += kLineHeight;
  }
}

void draw_inputs(const Fetched& sample, const Plan& plan, const std::vector<SheetOptions::Range>& ranges,
                 std::int64_t x, std::int64_t y, Canvas& canvas) {
  x += (plan.cell_width - plan.panels_width) / 2;
  for (std::size_t i = 0; i < plan.panels.size(); ++i) {
    const Panel& panel = plan.panels[i];
    draw_panel(panel, sample.inputs[i].data(), ranges[i].black, ranges[i].white, x,
               y + (plan.panels_height - panel.height()) / 2, canvas);
    x += panel.width() + kInputGap;
  }
}

}  // namespace

std::vector<std::uint8_t> contact_sheet(const Dataset& dataset, const SheetOptions& options) {
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

  const auto count = static_cast<std::int64_t>(chosen.size());
  const Plan plan = make_plan(dataset.spec(), options, count, labels);
  if (plan.width() * plan.height() > kMaxPixels)
    base::user_error("a sheet of {} x {} samples would have {}x{} pixels, at most {} in all are drawn; choose fewer",
                     plan.rows, plan.columns, plan.height(), plan.width(), kMaxPixels);
  Canvas canvas(plan.width(), plan.height());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t x = kMargin + i % plan.columns * (plan.cell_width + kGapAcross);
    const std::int64_t y = kMargin + i / plan.columns * (plan.cell_height() + kGapDown);
    sample.fetch(chosen[static_cast<std::size_t>(i)], options.random);
    draw_inputs(sample, plan, ranges, x, y, canvas);
    draw_label(labels[static_cast<std::size_t>(i)], plan, x, y + plan.panels_height + kLabelGap, canvas);
  }
  return encode_png(canvas.image());
}

}  // namespace trireme::data
