#include "crew/crew.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include "base/cpu/add_into.h"
#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "crew/member_state.h"
#include "crew/move_statistic.h"
#include "graph/fusion.h"
#include "ops/norm/batch_norm.h"

namespace trireme::crew {
namespace {

using base::at;

tensor::ParameterSpace space_from(const graph::Network& network, const graph::Program& first) {
  const auto& layouts = first.parameter_layouts();
  std::vector<tensor::ParameterSpace::Entry> entries;
  for (std::size_t p = 0; p < network.parameters().size(); ++p) {
    const auto& parameter = network.parameters()[p];
    const auto kind = parameter.spec.is_statistic() ? tensor::ParameterKind::statistic : tensor::ParameterKind::trained;
    entries.push_back({parameter.name, kind, parameter.spec.shape, layouts[p]});
  }
  return tensor::ParameterSpace(entries);
}

}  // namespace

tensor::ParameterSpace space_of(const graph::Network& network, const CrewOptions& options) {
  const graph::Network fused = graph::fuse(network);
  const std::int64_t largest = (options.batch + options.oars - 1) / options.oars;
  return space_from(fused,
                    graph::Program(fused, {largest, true, options.threads_per_oar, options.kernel_table.get()}, {}));
}

Crew::Crew(const graph::Network& network, const CrewOptions& options)
    : options_(options),
      network_(graph::fuse(network)),
      events_(options.threads > 1, options.may_spin),
      exchange_(options.threads, events_),
      oar_loss_(at(options.oars)),
      oar_correct_(at(options.oars)),
      team_(options.threads, options.cpus, options.may_spin) {
  if (options_.oars > options_.batch)
    base::user_error("{} oars are more than the {} samples of a batch; use --oars {} or fewer", options_.oars,
                     options_.batch, options_.batch);
  // The largest oar's Program chooses the live layouts of all parameters.
  const graph::Program& first =
      options_.training ? program(oar_sizes(options_.batch).front(), true) : program(options_.evaluation_batch, false);
  space_ = space_from(network_, first);
  weights_ = tensor::Buffer(at(space_.floats()) * sizeof(float));
  forms_ = std::make_unique<graph::WeightForms>(space_, weights_.floats(), options_.threads_per_oar);
  segment_times_ = SegmentTimes(first.forward_segments().size() + first.backward_segments().size());
  for (const graph::PlanTask& task : first.plan().tasks)
    for (const int p : task.parameters)
      if (const auto& range = space_.range(p); range.kind == tensor::ParameterKind::statistic) {
        const graph::Node& node = network_.nodes()[at(network_.parameters()[at(p)].node)];
        moving_statistics_.push_back({range.offset, range.floats(), node.op->statistics_momentum()});
      }

  if (options_.share.oars.empty()) options_.share = whole();
  const auto plan = [&](OarSchedule schedule) {
    return plan_step(options_.batch, options_.oars, options_.share, options_.threads, options_.reduce, schedule);
  };
  StepPlan full = plan(OarSchedule::oar_by_oar);
  const std::size_t kept = at(full.slots[0].whole) * at(space_.trained_floats()) * sizeof(float);
  const std::size_t arenas = (std::max<std::size_t>(full.members[0].size(), 1) - 1) * first.arena_bytes();
  const bool one_each = std::ranges::all_of(full.members, [](const auto& oars) { return oars.size() <= 1; });
  schedule_ =
      options_.schedule.value_or(one_each || arenas < kept ? OarSchedule::layer_by_layer : OarSchedule::oar_by_oar);
  if (schedule_ == OarSchedule::layer_by_layer) full = plan(schedule_);
  late_ = schedule_ == OarSchedule::layer_by_layer;
  layers_ = GradientLayers(space_, first, options_.threads > 1, late_);
  const bool freezes = std::ranges::any_of(network_.parameters(), &graph::ParameterInfo::is_frozen);
  if (freezes || !layers_.unreached().empty()) zeros_.assign(at(layers_.most_chunk_floats()), 0.0f);
  std::vector<int> chunks;
  for (const GradientLayer& layer : layers_.layers()) chunks.push_back(static_cast<int>(layer.chunks.size()));
  queue_ = std::make_unique<LayerQueue>(chunks, layers_.prompt_layers(), events_);
  make_states(full);
  if (options_.training) prepare(options_.batch, options_.share);
}

void Crew::make_states(const StepPlan& full) {
  for (int member = 0; member < options_.threads; ++member) {
    auto state = std::make_unique<MemberState>();
    state->member = member;
    if (options_.spans != nullptr)
      state->spans = &options_.spans->lane(kFirstMemberLane + member, fmt::format("oars of thread {}", member));
    state->took_ns.resize(segment_times_.segments());
    state->arenas.resize(1);
    state->runs.resize(1);
    states_.push_back(std::move(state));
    threads_.push_back(std::make_unique<ThreadState>());
  }
  if (options_.training) grow_states(full);
}

// Allocates what the plan needs beyond the plans before it. Instances bound to memory that moved are bound again.
void Crew::grow_states(const StepPlan& plan) {
  const auto grow = [](std::vector<tensor::Buffer>& buffers, std::size_t count, std::int64_t floats) {
    const bool grows = buffers.size() < count;
    while (buffers.size() < count) buffers.emplace_back(at(floats) * sizeof(float));
    return grows;
  };
  bool grown = false;
  for (const auto& state : states_) {
    const std::size_t oars = plan.members[at(state->member)].size();
    const SlotCount slots = plan.slots[at(state->member)];
    if (late_ && state->arenas.size() < oars) {
      state->arenas.resize(oars);
      state->runs.resize(oars);
    }
    bool moved = grow(state->whole, at(slots.whole), space_.trained_floats());
    moved |= grow(state->passing, at(slots.passing), layers_.ring_floats());
    const std::size_t sets = late_ ? oars : state->whole.size() + state->passing.size();
    moved |= grow(state->statistics, sets, space_.floats() - space_.trained_floats());
    if (moved) state->instances.clear();
    grown |= moved;
  }
  if (grown) {
    steps_.clear();
    current_ = nullptr;
  }
  make_late_sums(static_cast<int>(plan.totals.size()));
}

void Crew::make_late_sums(int partials) {
  for (const auto& thread : threads_) thread->partials.reserve(at(partials));
  std::size_t scratch = 0;
  for (int p = 0; p < space_.size() && late_; ++p)
    if (layers_.is_late(p))
      scratch = std::max(scratch,
                         first_program_->plan().tasks[at(first_program_->late_task(p))].kernel->plan().scratch_bytes);
  if (scratch == 0) return;
  // A node of the tree needs one buffer more than its deeper child; finished sums of other partials keep theirs.
  const std::size_t sums = at(std::bit_width(static_cast<unsigned>(options_.oars - 1)) + std::max(partials, 1));
  for (const auto& thread : threads_) {
    if (thread->scratch.bytes() == 0) thread->scratch = tensor::Buffer(scratch);
    while (thread->sums.size() < sums) thread->sums.emplace_back(at(layers_.most_chunk_floats()) * sizeof(float));
  }
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
        network_, graph::ProgramOptions{samples, training, options_.threads_per_oar, options_.kernel_table.get()},
        fixed);
    if (!first_program_) first_program_ = program.get();
  }
  return *program;
}

const graph::Instance& Crew::instance(MemberState& state, std::int64_t samples, bool training, int arena) {
  const graph::Program& compiled = program(samples, training);
  tensor::Buffer& memory = state.arenas[at(arena)];
  if (compiled.arena_bytes() > memory.bytes()) {
    // A larger arena moves everything: instances bound to the old one are bound again on their next use.
    std::erase_if(state.instances, [&](const auto& made) { return std::get<2>(made.first) == arena; });
    steps_.clear();
    current_ = nullptr;
    memory = tensor::Buffer();
    memory = tensor::Buffer(compiled.arena_bytes());
  }
  auto& made = state.instances[{samples, training, arena}];
  if (!made) {
    const int member = state.member;
    const int whole = static_cast<int>(state.whole.size());
    const int slots = training ? whole + static_cast<int>(state.passing.size()) : 0;
    made = std::make_unique<graph::Instance>(
        compiled, space_, memory.data(), weights_.floats(), *forms_, slots, [&](int number, int parameter) {
          const bool passing = number >= whole;
          return gradient_place({member, {passing, passing ? number - whole : number, arena}}, parameter);
        });
  }
  if (options_.profile && training)
    made->set_profile(&state.profile.tasks.try_emplace(samples, compiled.plan().tasks.size()).first->second);
  return *made;
}

Crew::PreparedStep& Crew::prepare(std::int64_t samples, const Share& share) {
  const base::Range mean_over = share.whole(options_.oars);
  const StepKey key{samples, share.oars.begin, share.oars.end, mean_over.begin, mean_over.end};
  if (const auto found = steps_.find(key); found != steps_.end()) return found->second;
  PreparedStep step{plan_step(samples, options_.oars, share, options_.threads, options_.reduce, schedule_)};
  grow_states(step.plan);
  for (std::int64_t oar = mean_over.begin; oar < mean_over.end; ++oar)
    step.mean_of += base::oar_samples(static_cast<int>(oar), options_.oars, samples).size();
  step.of_oar.resize(at(options_.oars));
  // The first pass grows the arenas, which replaces them; the second one binds instances to the final arenas.
  for (const bool bound : {false, true})
    for (std::size_t member = 0; member < states_.size(); ++member) {
      const auto& tasks = step.plan.members[member];
      std::vector<const graph::Instance*> instances;
      for (std::size_t t = 0; t < tasks.size(); ++t) {
        instances.push_back(&instance(*states_[member], tasks[t].samples.size(), true, arena_of(t)));
        step.of_oar[at(tasks[t].oar)] = instances.back();
      }
      if (!bound) continue;
      step.computing_members += tasks.empty() ? 0 : 1;
      step.instances.push_back(std::move(instances));
    }
  step.crosses.resize(states_.size());
  const auto crosses = [&](const SlotPlace& place) {
    if (place.slot.passing) step.crosses[at(place.member)] = true;
  };
  for (const SlotPlace& total : step.plan.totals) crosses(total);
  for (const MemberSum& sum : step.plan.sums) crosses(sum.into), crosses(sum.from);
  return steps_.emplace(key, std::move(step)).first->second;
}

GradientOrder Crew::gradient_order() const {
  GradientOrder order;
  order.turn.assign(layers_.chunks().size(), static_cast<int>(layers_.layers().size()));
  for (std::size_t layer = 0; layer < layers_.layers().size(); ++layer)
    for (const int chunk : layers_.layers()[layer].chunks) order.turn[at(chunk)] = static_cast<int>(layer);
  order.prompt_turns = layers_.prompt_layers();
  order.unread = layers_.unreached();
  return order;
}

const std::vector<base::Range>& Crew::partials(std::int64_t samples, const Share& share) {
  return prepare(samples, share).plan.partials;
}

float* Crew::gradient_place(const SlotPlace& place, int parameter) const {
  const MemberState& state = *states_[at(place.member)];
  const tensor::ParameterRange& range = space_.range(parameter);
  if (range.kind == tensor::ParameterKind::statistic)
    return statistics_place(place) + (range.offset - space_.trained_floats());
  if (layers_.is_late(parameter)) return nullptr;
  // Layer by layer, member 0's first slot is that of its first oar, which is the left operand of all its sums.
  const bool is_first = place.member == 0 && place.slot.passing && place.slot.index == 0;
  if (placed_gradient_ && is_first && schedule_ == OarSchedule::layer_by_layer) return placed_gradient_ + range.offset;
  if (place.slot.passing) return state.passing[at(place.slot.index)].floats() + layers_.ring_offset(parameter);
  return state.whole[at(place.slot.index)].floats() + range.offset;
}

float* Crew::statistics_place(const SlotPlace& place) const {
  const MemberState& state = *states_[at(place.member)];
  const int set = schedule_ == OarSchedule::layer_by_layer ? place.slot.task : state.number(place.slot);
  return state.statistics[at(set)].floats();
}

void Crew::move_weights(float* memory) {
  std::memcpy(memory, weights_.data(), weights_.bytes());
  share_weights(memory);
}

void Crew::share_weights(float* memory) {
  weights_ = tensor::Buffer(memory, weights_.bytes());
  forms_ = std::make_unique<graph::WeightForms>(space_, weights_.floats(), options_.threads_per_oar);
  bind_anew();
}

void Crew::place_gradient(float* memory) {
  placed_gradient_ = memory;
  bind_anew();
}

void Crew::bind_anew() {
  for (const auto& state : states_) state->instances.clear();
  steps_.clear();
  current_ = nullptr;
  if (options_.training) prepare(options_.batch, options_.share);
}

void Crew::refresh_weight_forms() {
  const int forms = forms_->size();
  if (forms == 0) return;
  std::atomic<int> next{0};
  team_.run([&](int member) {
    for (int form = next.fetch_add(1); form < forms; form = next.fetch_add(1)) {
      const observe::Stopwatch watch(profiled(threads_[at(member)]->profile.forms));
      forms_->refresh(form);
    }
  });
}

void Crew::refresh_weight_forms(int parameter) {
  for (int form = 0; form < forms_->size(); ++form)
    if (forms_->parameter(form) == parameter) forms_->refresh(form);
}

void Crew::for_each_chunk(TakeGradient f) {
  base::check(current_ != nullptr && kept_is_current_, "for_each_chunk() before compute()");
  for_each_chunk(kept_.floats(), {0, static_cast<std::int64_t>(chunks().size())}, f);
}

void Crew::for_each_chunk(const float* gradient, base::Range chosen, TakeGradient f) {
  const std::int64_t start = base::now_ns();
  team_.run([&](int member) {
    const observe::Stopwatch watch(profiled(threads_[at(member)]->profile.update));
    const std::int64_t begin = chosen.begin + chosen.size() * member / team_.members(),
                       end = chosen.begin + chosen.size() * (member + 1) / team_.members();
    for (std::int64_t c = begin; c < end; ++c) f(chunks()[at(c)], gradient + chunks()[at(c)].offset);
  });
  profiled_ns_ += base::now_ns() - start;
}

std::span<const float* const> Crew::statistics_sums() {
  base::check(current_ != nullptr, "statistics_sums() before compute()");
  const std::int64_t count = space_.floats() - space_.trained_floats();
  statistics_.clear();
  const StepPlan& plan = std::exchange(current_, nullptr)->plan;
  if (count == 0) return statistics_;
  for (const MemberSum& sum : plan.sums) base::add_into(statistics_place(sum.into), statistics_place(sum.from), count);
  for (const SlotPlace& total : plan.totals) statistics_.push_back(statistics_place(total));
  return statistics_;
}

void Crew::move_statistics(const float* sums, std::int64_t samples, double momentum) {
  for (const MovingStatistic& statistic : moving_statistics_)
    move_statistic(weights_.floats() + statistic.offset, sums + (statistic.offset - space_.trained_floats()),
                   statistic.count, momentum * statistic.momentum, samples);
}

void Crew::finish_step() {
  base::check(current_ != nullptr, "finish_step() before compute()");
  const std::int64_t start = base::now_ns();
  {
    const observe::Stopwatch watch(profiled(threads_[0]->profile.statistics));
    const auto sums = statistics_sums();
    const std::int64_t first = space_.trained_floats(), count = space_.floats() - first;
    if (!sums.empty()) {
      move_statistics(sums[0], current_samples_);
      if (kept_is_current_) std::memcpy(kept_.floats() + first, sums[0], at(count) * sizeof(float));
    }
  }
  refresh_weight_forms();
  profiled_ns_ += base::now_ns() - start;
}

std::int64_t Crew::evaluation_batches(std::int64_t count) const {
  return (count + options_.evaluation_batch - 1) / options_.evaluation_batch;
}

EvaluationReport Crew::evaluate(std::int64_t count, const Fill& fill, const See& see) {
  return evaluate(count, {0, evaluation_batches(count)}, fill, see);
}

EvaluationReport Crew::evaluate(std::int64_t count, base::Range batches, const Fill& fill, const See& see) {
  current_ = nullptr;  // evaluation overwrites the arenas that hold the last step
  EvaluationReport report;
  if (count == 0 || batches.empty()) return report;
  const std::int64_t unit = std::min(options_.evaluation_batch, count);
  const std::int64_t units = evaluation_batches(count);
  const std::int64_t last = count - (units - 1) * unit;
  std::vector<std::array<const graph::Instance*, 2>> instances;  // whole units, the last unit
  for (auto& state : states_) {
    instance(*state, last, false, 0);  // grows the arena if the last unit needs more than a whole one
    const graph::Instance* whole = &instance(*state, unit, false, 0);
    instances.push_back({whole, &instance(*state, last, false, 0)});
  }
  report.losses.resize(at(batches.size()));
  report.corrects.resize(at(batches.size()));
  std::atomic<std::int64_t> next{batches.begin}, seen{0};
  team_.run([&](int member) {
    std::vector<float*> inputs;
    std::vector<float> plain;
    for (std::int64_t u = next.fetch_add(1); u < batches.end; u = next.fetch_add(1)) {
      const bool is_last = u == units - 1;
      const std::int64_t samples = is_last ? last : unit;
      const graph::Instance& instance = *instances[at(member)][is_last ? 1 : 0];
      inputs.clear();
      for (std::size_t i = 0; i < network_.inputs().size(); ++i) inputs.push_back(instance.input(static_cast<int>(i)));
      fill(u * unit, samples, inputs, instance.target());
      ops::OarRun run;
      instance.forward(run);
      report.losses[at(u - batches.begin)] = run.loss;
      report.corrects[at(u - batches.begin)] = run.correct;
      seen.fetch_add(samples, std::memory_order_relaxed);
      if (!see) continue;
      plain.resize(at(instance.prediction_layout().shape.count()));
      tensor::to_plain(instance.prediction_layout(), instance.prediction(), plain.data());
      see(u * unit, samples, plain.data());
    }
  });
  report.samples = seen.load();
  for (const double loss : report.losses) report.loss += loss;
  for (const double correct : report.corrects) report.correct += correct;
  return report;
}

void Crew::clear_profile() {
  for (const auto& state : states_) state->profile.clear();
  for (const auto& thread : threads_) thread->profile.clear();
  profiled_ns_ = profiled_steps_ = 0;
}

observe::Profile Crew::profile(ops::Cost update_cost) const {
  const auto steps = static_cast<double>(profiled_steps_), trained = static_cast<double>(space_.trained_floats());
  const auto moved = [&](double floats) { return ops::Cost{0, sizeof(float) * floats * steps}; };
  double input = static_cast<double>(network_.nodes()[at(network_.target())].shape.count()), forms = 0;
  for (const int node : network_.inputs()) input += static_cast<double>(network_.nodes()[at(node)].shape.count());
  for (int form = 0; form < forms_->size(); ++form) forms += static_cast<double>(forms_->floats(form));
  StepCosts costs;
  costs.input = moved(2 * input * static_cast<double>(options_.batch));
  costs.sums = moved(3 * trained * (options_.oars - 1));
  costs.sums.flops = trained * (options_.oars - 1) * steps;
  costs.update = {update_cost.flops * trained * steps, update_cost.bytes * trained * steps};
  costs.statistics = moved(3 * (static_cast<double>(space_.floats()) - trained));
  costs.forms = moved(2 * forms);
  std::vector<const MemberProfile*> members;
  for (const auto& state : states_) members.push_back(&state->profile);
  for (const auto& thread : threads_) members.push_back(&thread->profile);
  observe::Profile all = add_up(members, options_.threads, costs, 1e-9 * static_cast<double>(profiled_ns_),
                                [&](std::int64_t samples) -> const graph::Program& {
                                  return *programs_.at({samples, true});
                                });
  all.steps = profiled_steps_;
  return all;
}

std::size_t Crew::arena_bytes() const {
  std::size_t bytes = 0;
  for (const auto& state : states_)
    for (const auto& arena : state->arenas) bytes += arena.bytes();
  return bytes;
}

std::size_t Crew::gradient_bytes() const {
  std::size_t bytes = kept_.bytes();
  for (const auto& state : states_)
    for (const auto* slots : {&state->whole, &state->passing, &state->statistics})
      for (const auto& buffer : *slots) bytes += buffer.bytes();
  return bytes;
}

}  // namespace trireme::crew
