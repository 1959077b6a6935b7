#include "optim/learning_rate_schedule.h"

#include <algorithm>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::optim {
namespace {

// Sine and cosine for |x| <= pi/4 by Taylor series; the first omitted term is below 1e-17.
double small_cos(double x) {
  const double z = x * x;
  double sum = 0;
  for (int k = 18; k > 0; k -= 2) sum = z / ((k - 1) * k) * (1 - sum);
  return 1 - sum;
}

double small_sin(double x) {
  const double z = x * x;
  double sum = 0;
  for (int k = 19; k > 1; k -= 2) sum = z / ((k - 1) * k) * (1 - sum);
  return x * (1 - sum);
}

// Half a cosine wave from `from` (progress 0) to `to` (progress 1).
double anneal(double from, double to, double progress) {
  return to + (from - to) / 2 * (1 + cos_pi(std::clamp(progress, 0.0, 1.0)));
}

class Constant final : public LearningRateSchedule {
 public:
  using LearningRateSchedule::LearningRateSchedule;

 private:
  double shaped(double base_lr, const Position&) const override { return base_lr; }
};

class Steps final : public LearningRateSchedule {
 public:
  struct Drop {
    std::int64_t epoch;
    double lr;
  };
  Steps(std::string text, const WarmUp& warm_up, std::vector<Drop> drops)
      : LearningRateSchedule(std::move(text), warm_up), drops_(std::move(drops)) {}

 private:
  double shaped(double base_lr, const Position& at) const override {
    double lr = base_lr;
    const std::int64_t epoch = at.step / at.steps_per_epoch;
    for (const Drop& drop : drops_)
      if (epoch >= drop.epoch) lr = drop.lr;
    return lr;
  }
  std::vector<Drop> drops_;
};

class Cosine final : public LearningRateSchedule {
 public:
  Cosine(std::string text, const WarmUp& warm_up, double min)
      : LearningRateSchedule(std::move(text), warm_up), min_(min) {}

 private:
  double shaped(double base_lr, const Position& at) const override {
    const std::int64_t span = std::max<std::int64_t>(1, at.total_steps - at.warm_steps);
    return anneal(base_lr, min_, static_cast<double>(at.step - at.warm_steps) / static_cast<double>(span));
  }
  double min_;
};

class OneCycle final : public LearningRateSchedule {
 public:
  struct Shape {
    double peak, warm, start, end;
  };
  OneCycle(std::string text, const WarmUp& warm_up, const Shape& shape)
      : LearningRateSchedule(std::move(text), warm_up), shape_(shape) {}

 private:
  // The peak is at step warm * total - 1, as in PyTorch; this need not be a whole number.
  double shaped(double base_lr, const Position& at) const override {
    const double peak = shape_.peak > 0 ? shape_.peak : base_lr;
    const double top = shape_.warm * static_cast<double>(at.total_steps) - 1;
    const double last = static_cast<double>(at.total_steps - 1);
    const double step = std::min(static_cast<double>(at.step), last);
    if (step <= top) return top > 0 ? anneal(peak / shape_.start, peak, step / top) : peak;
    return anneal(peak, peak / shape_.end, (step - top) / (last - top));
  }
  Shape shape_;
};

WarmUp read_warm_up(base::Spec& spec) {
  const WarmUp warm_up{spec.number("warmup", 0), spec.integer("warmup-steps", 0)};
  if (warm_up.epochs < 0 || warm_up.steps < 0)
    base::user_error("schedule {}: a warm-up cannot be negative, expected 0 or more", spec.name());
  if (warm_up.epochs > 0 && warm_up.steps > 0)
    base::user_error("schedule {} has both warmup= (epochs) and warmup-steps=; give one of them", spec.name());
  return warm_up;
}

double read_positive(base::Spec& spec, const std::string& key, double otherwise) {
  const double value = spec.number(key, otherwise);
  if (value <= 0) base::user_error("schedule option {}:{} is {}, expected more than 0", spec.name(), key, value);
  return value;
}

std::unique_ptr<LearningRateSchedule> make_constant(base::Spec& spec, std::string text) {
  return std::make_unique<Constant>(std::move(text), read_warm_up(spec));
}

std::unique_ptr<LearningRateSchedule> make_steps(base::Spec& spec, std::string text) {
  const WarmUp warm_up = read_warm_up(spec);
  std::vector<Steps::Drop> drops;
  for (const auto& [key, value] : spec.all()) {
    if (key == "warmup" || key == "warmup-steps") continue;
    const Steps::Drop drop{base::parse_int("an epoch of schedule step", key),
                           base::parse_double("a learning rate of schedule step", value)};
    if (drop.epoch < 0 || drop.lr < 0)
      base::user_error("schedule step: '{}={}' is negative, expected EPOCH=RATE, both 0 or more", key, value);
    if (!drops.empty() && drop.epoch <= drops.back().epoch)
      base::user_error("schedule step: epoch {} comes after epoch {}; write the epochs in ascending order", drop.epoch,
                       drops.back().epoch);
    drops.push_back(drop);
  }
  if (drops.empty()) base::user_error("schedule step names no epoch; write for example step:80=0.01,130=0.001");
  return std::make_unique<Steps>(std::move(text), warm_up, std::move(drops));
}

std::unique_ptr<LearningRateSchedule> make_cosine(base::Spec& spec, std::string text) {
  const WarmUp warm_up = read_warm_up(spec);
  const double min = spec.number("min", 0);
  if (min < 0) base::user_error("schedule option cosine:min is {}, expected 0 or more", min);
  return std::make_unique<Cosine>(std::move(text), warm_up, min);
}

std::unique_ptr<LearningRateSchedule> make_onecycle(base::Spec& spec, std::string text) {
  const WarmUp warm_up = read_warm_up(spec);
  OneCycle::Shape shape{};
  const bool own_peak = !spec.word("peak", "").empty();
  shape.peak = own_peak ? read_positive(spec, "peak", 0) : 0;
  shape.warm = base::parse_fraction("schedule option onecycle:warm", spec.word("warm", "30%"));
  shape.start = read_positive(spec, "start", 25);
  shape.end = read_positive(spec, "end", 1e4);
  return std::make_unique<OneCycle>(std::move(text), warm_up, shape);
}

struct Row {
  const char* name;
  const char* form;
  std::unique_ptr<LearningRateSchedule> (*make)(base::Spec&, std::string);
};

constexpr Row kSchedules[] = {
    {"constant", "constant: the optimizer's learning rate", make_constant},
    {"step", "step:80=0.01,130=0.001: these rates from these epochs on", make_steps},
    {"cosine", "cosine:min=0: half a cosine down to min at the end of the run", make_cosine},
    {"onecycle", "onecycle:peak=0.1,warm=30%: up to the peak and down again, cosines both ways", make_onecycle},
};

}  // namespace

double cos_pi(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x > 0.5) return -cos_pi(1 - x);
  return x <= 0.25 ? small_cos(kPi * x) : small_sin(kPi * (0.5 - x));
}

double LearningRateSchedule::lr(double base_lr, std::int64_t step, std::int64_t steps_per_epoch,
                                std::int64_t total_steps) const {
  base::check(step >= 0 && steps_per_epoch >= 1 && total_steps >= 1,
              "schedule asked for step {} with {} steps per epoch and {} in total", step, steps_per_epoch, total_steps);
  const double by_epochs = warm_up_.epochs * static_cast<double>(steps_per_epoch) + 0.5;
  const std::int64_t warm_steps = warm_up_.steps > 0 ? warm_up_.steps : static_cast<std::int64_t>(by_epochs);
  const double rate = shaped(base_lr, {step, steps_per_epoch, total_steps, warm_steps});
  return step < warm_steps ? rate * static_cast<double>(step + 1) / static_cast<double>(warm_steps) : rate;
}

std::unique_ptr<LearningRateSchedule> make_schedule(std::string_view text) {
  base::Spec spec("schedule", text);
  std::vector<std::string> names;
  for (const Row& row : kSchedules) {
    names.emplace_back(row.name);
    if (spec.name() != row.name) continue;
    auto made = row.make(spec, std::string(text));
    spec.finish();
    return made;
  }
  base::user_error("{}", base::unknown_name("schedule", spec.name(), names));
}

std::vector<std::string> schedule_forms() {
  std::vector<std::string> forms;
  for (const Row& row : kSchedules) forms.emplace_back(row.form);
  return forms;
}

}  // namespace trireme::optim
