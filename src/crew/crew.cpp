#include "crew/crew.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/simd.h"
#include "graph/fusion.h"
#include "ops/batch_norm.h"
#include "tensor/add_into.h"

namespace trireme::crew {
namespace {

constexpr std::int64_t kChunkFloats = 16 * 1024;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct MoveStatistic {
  TRIREME_INLINE static void run(float* running, const float* sum, std::int64_t count, float keep, float scale) {
    for (std::int64_t i = 0; i < count; ++i) running[i] = running[i] * keep + sum[i] * scale;
  }
};

}  // namespace

struct Crew::Station {
  tensor::Buffer arena;
  std::vector<tensor::Buffer> slots;
  std::vector<float*> slot_pointers;
  std::map<std::pair<std::int64_t, bool>, std::unique_ptr<graph::Instance>> instances;
  std::int64_t forward_ns = 0, backward_ns = 0;  // of the current step
};

Crew::Crew(const graph::Network& network, const CrewOptions& options)
    : options_(options),
      network_(graph::fuse(network)),
      oar_loss_(at(options.oars)),
      oar_correct_(at(options.oars)),
      team_(options.threads, options.cpus, options.may_spin) {
  if (options_.oars > options_.batch)
    base::user_error("{} oars are more than the {} samples of a batch; use --oars {} or fewer", options_.oars,
                     options_.batch, options_.batch);
  // The largest oar's Program chooses the live layouts of all parameters.
  const graph::Program& first =
      options_.training ? program(oar_sizes(options_.batch).front(), true) : program(options_.evaluation_batch, false);
  const auto& layouts = first.parameter_layouts();
  std::vector<tensor::ParameterSpace::Entry> entries;
  for (std::size_t p = 0; p < network_.parameters().size(); ++p) {
    const auto& parameter = network_.parameters()[p];
    const auto kind = parameter.spec.is_statistic() ? tensor::ParameterKind::statistic : tensor::ParameterKind::trained;
    entries.push_back({parameter.name, kind, parameter.spec.shape, layouts[p]});
  }
  space_ = tensor::ParameterSpace(entries);
  weights_ = tensor::Buffer(at(space_.floats()) * sizeof(float));
  forms_ = std::make_unique<graph::WeightForms>(space_, weights_.floats(), options_.threads_per_oar);

  const StepPlan full = plan_step(options_.batch, options_.oars, options_.threads, options_.reduce);
  for (int member = 0; member < options_.threads; ++member) {
    auto station = std::make_unique<Station>();
    for (int s = 0; options_.training && s < full.slots[at(member)]; ++s) {
      station->slots.emplace_back(at(space_.floats()) * sizeof(float));
      station->slot_pointers.push_back(station->slots.back().floats());
    }
    stations_.push_back(std::move(station));
  }
  for (const int p : space_.memory_order()) {
    const auto& range = space_.range(p);
    if (range.kind != tensor::ParameterKind::trained) continue;
    for (std::int64_t done = 0; done < range.floats(); done += kChunkFloats)
      chunks_.push_back(
          {static_cast<int>(chunks_.size()), p, range.offset + done, std::min(kChunkFloats, range.floats() - done)});
  }
  for (const graph::PlanTask& task : first.plan().tasks)
    for (const int p : task.parameters)
      if (space_.range(p).kind == tensor::ParameterKind::statistic) moving_statistics_.push_back(p);
  if (options_.training) prepare(options_.batch);
}

Crew::~Crew() = default;

std::vector<std::int64_t> Crew::oar_sizes(std::int64_t samples) const {
  std::set<std::int64_t, std::greater<>> sizes;
  for (int oar = 0; oar < options_.oars; ++oar) sizes.insert(base::oar_samples(oar, options_.oars, samples).size());
  sizes.erase(0);
  return {sizes.begin(), sizes.end()};
}

std::vector<std::int64_t> Crew::evaluation_sizes(std::int64_t count) const {
  std::set<std::int64_t, std::greater<>> sizes;
  if (count >= options_.evaluation_batch) sizes.insert(options_.evaluation_batch);
  if (count % options_.evaluation_batch != 0) sizes.insert(count % options_.evaluation_batch);
  return {sizes.begin(), sizes.end()};
}

const graph::Program& Crew::program(std::int64_t samples, bool training) {
  auto& program = programs_[{samples, training}];
  if (!program) {
    const auto fixed = first_program_ ? first_program_->parameter_layouts() : std::vector<ops::Layout>{};
    program = std::make_unique<graph::Program>(
        network_, graph::ProgramOptions{samples, training, options_.threads_per_oar}, fixed);
    if (!first_program_) first_program_ = program.get();
  }
  return *program;
}

const graph::Instance& Crew::instance(Station& station, std::int64_t samples, bool training) {
  const graph::Program& compiled = program(samples, training);
  if (compiled.arena_bytes() > station.arena.bytes()) {
    // A larger arena moves everything: whatever was bound to the old one is bound anew on its next use.
    station.instances.clear();
    steps_.clear();
    current_ = nullptr;
    station.arena = tensor::Buffer();
    station.arena = tensor::Buffer(compiled.arena_bytes());
  }
  auto& made = station.instances[{samples, training}];
  if (!made)
    made = std::make_unique<graph::Instance>(
        compiled, space_, station.arena.data(), weights_.floats(), *forms_,
        training ? std::span<float* const>(station.slot_pointers) : std::span<float* const>());
  return *made;
}

Crew::PreparedStep& Crew::prepare(std::int64_t samples) {
  if (const auto found = steps_.find(samples); found != steps_.end()) return found->second;
  PreparedStep step{plan_step(samples, options_.oars, options_.threads, options_.reduce), {}};
  // Largest first, so that no arena is replaced after something was bound to it here.
  for (std::size_t member = 0; member < stations_.size(); ++member) {
    std::set<std::int64_t> sizes;
    for (const OarTask& task : step.plan.members[member]) sizes.insert(task.samples.size());
    for (const std::int64_t size : sizes)
      if (program(size, true).arena_bytes() > stations_[member]->arena.bytes())
        instance(*stations_[member], size, true);
  }
  for (std::size_t member = 0; member < stations_.size(); ++member) {
    step.instances.emplace_back();
    for (const OarTask& task : step.plan.members[member])
      step.instances.back().push_back(&instance(*stations_[member], task.samples.size(), true));
  }
  return steps_.emplace(samples, std::move(step)).first->second;
}

float* Crew::slot(SlotPlace place) const { return stations_[at(place.member)]->slot_pointers[at(place.slot)]; }

void Crew::refresh_weight_forms() { forms_->refresh_all(); }

void Crew::row_oars(int member, const PreparedStep& step, const BatchView& batch, const Draw& draw) {
  Station& station = *stations_[at(member)];
  station.forward_ns = station.backward_ns = 0;
  const auto& tasks = step.plan.members[at(member)];
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const OarTask& task = tasks[t];
    const graph::Instance& instance = *step.instances[at(member)][t];
    const std::int64_t start = base::now_ns();
    for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
      const std::int64_t floats = network_.nodes()[at(network_.inputs()[i])].shape.count();
      std::memcpy(instance.input(static_cast<int>(i)), batch.inputs[i] + task.samples.begin * floats,
                  at(task.samples.size() * floats) * sizeof(float));
    }
    const std::int64_t floats = network_.nodes()[at(network_.target())].shape.count();
    std::memcpy(instance.target(), batch.target + task.samples.begin * floats,
                at(task.samples.size() * floats) * sizeof(float));
    ops::OarRun run;
    run.seed = draw.seed;
    run.epoch = draw.epoch;
    run.sample_indices = batch.indices.subspan(at(task.samples.begin), at(task.samples.size()));
    run.loss_scale = static_cast<float>(1.0 / static_cast<double>(batch.samples));
    run.slot = task.slot;
    instance.forward(run);
    const std::int64_t middle = base::now_ns();
    instance.backward(run, [&](std::span<const int> parameters) {
      for (const SlotSum& sum : task.sums)
        for (const int p : parameters) {
          const auto& range = space_.range(p);
          tensor::add_into(station.slot_pointers[at(sum.into)] + range.offset,
                           station.slot_pointers[at(sum.from)] + range.offset, range.floats());
        }
    });
    oar_loss_[at(task.oar)] = run.loss;
    oar_correct_[at(task.oar)] = run.correct;
    const std::int64_t end = base::now_ns();
    station.forward_ns += middle - start;
    station.backward_ns += end - middle;
    if (options_.trace) {
      options_.trace->add("forward", kFirstMemberLane + member, start, middle);
      options_.trace->add("backward", kFirstMemberLane + member, middle, end);
    }
  }
}

RowReport Crew::row(const BatchView& batch, const Draw& draw) {
  base::check(options_.training, "row() of a crew that only evaluates");
  base::check(batch.samples >= 1 && batch.samples <= options_.batch, "a batch of {} samples, the crew was made for {}",
              batch.samples, options_.batch);
  const PreparedStep& step = prepare(batch.samples);
  const std::int64_t start = base::now_ns();
  team_.run([&](int member) { row_oars(member, step, batch, draw); });
  const double wall = base::seconds_since(start);
  current_ = &step;
  current_samples_ = batch.samples;
  summed_ = false;
  total_ = slot(step.plan.total);

  RowReport report;
  const auto empty = [&](int oar) { return base::oar_samples(oar, options_.oars, batch.samples).empty(); };
  const auto tree_sum = [&](const std::vector<double>& values) {
    return base::oar_tree_sum<double>(
        0, options_.oars, [&](int oar) { return values[at(oar)]; }, empty, [](double a, double b) { return a + b; });
  };
  report.loss = tree_sum(oar_loss_);
  report.correct = tree_sum(oar_correct_);
  double forward = 0, backward = 0;
  for (const auto& station : stations_) {
    forward += static_cast<double>(station->forward_ns);
    backward += static_cast<double>(station->backward_ns);
  }
  report.forward_seconds = wall * forward / (forward + backward);
  report.backward_seconds = wall - report.forward_seconds;
  return report;
}

void Crew::sum_across_members(std::int64_t offset, std::int64_t count) const {
  for (const MemberSum& sum : current_->plan.sums)
    tensor::add_into(slot(sum.into) + offset, slot(sum.from) + offset, count);
}

void Crew::for_each_chunk(base::FunctionRef<void(const Chunk&, const float* gradient)> f) {
  base::check(current_ != nullptr, "for_each_chunk() before row()");
  const auto chunk_count = static_cast<std::int64_t>(chunks_.size());
  team_.run([&](int member) {
    const std::int64_t begin = chunk_count * member / team_.members(),
                       end = chunk_count * (member + 1) / team_.members();
    for (std::int64_t c = begin; c < end; ++c) {
      const Chunk& chunk = chunks_[at(c)];
      if (!summed_) sum_across_members(chunk.offset, chunk.count);
      f(chunk, total_ + chunk.offset);
    }
  });
  summed_ = true;
}

void Crew::finish_step() {
  base::check(current_ != nullptr && summed_, "finish_step() before for_each_chunk()");
  const std::int64_t statistics = space_.floats() - space_.trained_floats();
  if (statistics > 0) {
    sum_across_members(space_.trained_floats(), statistics);
    for (const int p : moving_statistics_) {
      const auto& range = space_.range(p);
      const auto& parameter = network_.parameters()[at(p)];
      const double momentum = network_.nodes()[at(parameter.node)].op->statistics_momentum();
      base::dispatch<MoveStatistic>(weights_.floats() + range.offset, total_ + range.offset, range.floats(),
                                    static_cast<float>(1 - momentum),
                                    static_cast<float>(momentum / static_cast<double>(current_samples_)));
    }
  }
  current_ = nullptr;
  const int forms = forms_->size();
  if (forms == 0) return;
  std::atomic<int> next{0};
  team_.run([&](int) {
    for (int form = next.fetch_add(1); form < forms; form = next.fetch_add(1)) forms_->refresh(form);
  });
}

EvaluationReport Crew::evaluate(std::int64_t count, const Fill& fill, const See& see) {
  base::check(current_ == nullptr, "evaluate() between row() and finish_step()");
  const std::int64_t unit = std::min(options_.evaluation_batch, std::max<std::int64_t>(count, 1));
  const std::int64_t units = (count + unit - 1) / unit;
  const std::int64_t last = count - (units - 1) * unit;
  EvaluationReport report;
  if (units == 0) return report;
  std::vector<std::array<const graph::Instance*, 2>> instances;  // whole units, the last unit
  for (auto& station : stations_) {
    if (program(last, false).arena_bytes() > station->arena.bytes()) instance(*station, last, false);
    const graph::Instance* whole = &instance(*station, unit, false);
    instances.push_back({whole, &instance(*station, last, false)});
  }
  std::vector<double> loss(at(units)), correct(at(units));
  std::atomic<std::int64_t> next{0};
  team_.run([&](int member) {
    std::vector<float*> inputs;
    std::vector<float> plain;
    for (std::int64_t u = next.fetch_add(1); u < units; u = next.fetch_add(1)) {
      const bool is_last = u == units - 1;
      const std::int64_t samples = is_last ? last : unit;
      const graph::Instance& instance = *instances[at(member)][is_last ? 1 : 0];
      inputs.clear();
      for (std::size_t i = 0; i < network_.inputs().size(); ++i) inputs.push_back(instance.input(static_cast<int>(i)));
      fill(u * unit, samples, inputs, instance.target());
      ops::OarRun run;
      instance.forward(run);
      loss[at(u)] = run.loss;
      correct[at(u)] = run.correct;
      if (!see) continue;
      plain.resize(at(instance.prediction_layout().shape.count()));
      tensor::to_plain(instance.prediction_layout(), instance.prediction(), plain.data());
      see(u * unit, samples, plain.data());
    }
  });
  report.samples = count;
  for (std::int64_t u = 0; u < units; ++u) {
    report.loss += loss[at(u)];
    report.correct += correct[at(u)];
  }
  return report;
}

std::size_t Crew::arena_bytes() const {
  std::size_t bytes = 0;
  for (const auto& station : stations_) bytes += station->arena.bytes();
  return bytes;
}

std::size_t Crew::gradient_bytes() const {
  std::size_t bytes = 0;
  for (const auto& station : stations_)
    for (const auto& buffer : station->slots) bytes += buffer.bytes();
  return bytes;
}

}  // namespace trireme::crew
