// Crew::compute(): forward, backward and the sums.
#include <bit>
#include <cstring>
#include <utility>

#include "base/cpu/add_into.h"
#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "crew/member_state.h"

namespace trireme::crew {
namespace {

using base::at;

}  // namespace

void Crew::begin_oar(const StepContext& context, const OarTask& task, const graph::Instance& instance,
                     ops::OarRun& run) const {
  const auto copy = [&](const float* from, int node, float* to) {
    const std::int64_t floats = network_.nodes()[at(node)].shape.count();
    std::memcpy(to, from + (task.samples.begin - context.batch.first) * floats,
                at(task.samples.size() * floats) * sizeof(float));
  };
  for (std::size_t i = 0; i < context.batch.inputs.size(); ++i)
    copy(context.batch.inputs[i], network_.inputs()[i], instance.input(static_cast<int>(i)));
  copy(context.batch.target, network_.target(), instance.target());
  run = {};
  run.seed = context.random.seed;
  run.epoch = context.random.epoch;
  run.sample_indices =
      context.batch.indices.subspan(at(task.samples.begin - context.batch.first), at(task.samples.size()));
  run.loss_scale = static_cast<float>(1.0 / static_cast<double>(context.step.mean_of));
  run.class_weights = options_.class_weights;
}

void Crew::go_forward(MemberState& state, const StepContext& context, base::Range tasks) {
  const auto& all = context.step.plan.members[at(state.member)];
  const auto& instances = context.step.instances[at(state.member)];
  if (state.segment == 0) {
    state.start_ns = base::now_ns();
    for (std::int64_t t = tasks.begin; t < tasks.end; ++t) {
      const observe::Stopwatch watch(profiled(state.profile.input));
      ops::OarRun& run = state.runs[at(t - tasks.begin)];
      begin_oar(context, all[at(t)], *instances[at(t)], run);
      run.slot = state.number(all[at(t)].slot);
    }
  }
  for (std::int64_t t = tasks.begin; t < tasks.end; ++t)
    instances[at(t)]->forward(instances[at(t)]->program().forward_segments()[state.segment],
                              state.runs[at(t - tasks.begin)]);
}

void Crew::go_back(MemberState& state, const StepContext& context, base::Range tasks, std::size_t segment) {
  const auto& all = context.step.plan.members[at(state.member)];
  const auto& instances = context.step.instances[at(state.member)];
  if (segment == 0) state.middle_ns = base::now_ns();
  const auto parameters = instances[at(tasks.begin)]->program().backward_segments()[segment].parameters;
  for (std::int64_t t = tasks.begin; t < tasks.end; ++t) {
    instances[at(t)]->backward(instances[at(t)]->program().backward_segments()[segment],
                               state.runs[at(t - tasks.begin)]);
    if (parameters.empty() || all[at(t)].sums.empty()) continue;
    const observe::Stopwatch watch(profiled(state.profile.oar_sums));
    for (const SlotSum& sum : all[at(t)].sums)
      for (const int p : parameters)
        if (!layers_.is_late(p))
          base::add_into(gradient_place({state.member, sum.into}, p), gradient_place({state.member, sum.from}, p),
                         space_.range(p).floats());
  }
}

void Crew::end_oars(MemberState& state, const StepContext& context, base::Range tasks) {
  const auto& all = context.step.plan.members[at(state.member)];
  for (std::int64_t t = tasks.begin; t < tasks.end; ++t) {
    oar_loss_[at(all[at(t)].oar)] = state.runs[at(t - tasks.begin)].loss;
    oar_correct_[at(all[at(t)].oar)] = state.runs[at(t - tasks.begin)].correct;
  }
  if (state.spans) {
    observe::Span span{.start_ns = state.start_ns,
                       .end_ns = state.middle_ns,
                       .step = state.spans->current_step(),
                       .arguments = {static_cast<double>(all[at(tasks.begin)].oar), static_cast<double>(tasks.size())},
                       .kind = observe::SpanKind::oar_forward};
    state.spans->add(span);
    span.start_ns = state.middle_ns;
    span.end_ns = base::now_ns();
    span.kind = observe::SpanKind::oar_backward;
    state.spans->add(span);
  }
  state.first = tasks.end;
  state.segment = 0;
  state.layer = 0;
}

// Computes the member's next segment: of one oar, or of all its oars (layer by layer). Returns false when the member's
// work is done, or when its passing slot still holds a layer that other threads have not used up.
bool Crew::advance(MemberState& state, const StepContext& context, ThreadState& thread) {
  if (work_is_done(state, context)) return false;
  const std::int64_t count = tasks_of(state, context);
  const base::Range tasks{state.first, schedule_ == OarSchedule::layer_by_layer ? count : state.first + 1};
  const graph::Program& program = context.step.instances[at(state.member)][at(tasks.begin)]->program();
  const std::size_t forward_segments = program.forward_segments().size();
  const bool forward = state.segment < forward_segments;
  const std::size_t segment = state.segment - (forward ? 0 : forward_segments);
  const bool finishes_layer = !forward && !program.backward_segments()[segment].parameters.empty();
  const bool last = tasks.end == count;
  if (finishes_layer && last && context.step.crosses[at(state.member)] &&
      !queue_->used_before(layers_.layers()[at(state.layer)].emptied_before, thread.cursor))
    return false;

  std::int64_t start = base::now_ns();
  if (forward) {
    context.need(program.forward_segments()[segment].parameters);
    const std::int64_t here = base::now_ns();
    thread.waited_ns += here - std::exchange(start, here);
    go_forward(state, context, tasks);
  } else {
    go_back(state, context, tasks, segment);
  }
  if (finishes_layer) {
    if (last) queue_->arrive(state.layer);
    if (const int late = layers_.layers()[at(state.layer)].late; last && late >= 0) queue_->arrive(late);
    ++state.layer;
  }
  const std::int64_t took = base::now_ns() - start;
  (forward ? state.forward_ns : state.backward_ns) += took;
  state.took_ns[state.segment] = took;
  thread.done_ns += segment_times_.of(state.segment);
  thread.took_ns += took;
  if (++state.segment == segment_times_.segments()) end_oars(state, context, tasks);
  return true;
}

std::int64_t Crew::tasks_of(const MemberState& state, const StepContext& context) {
  return static_cast<std::int64_t>(context.step.plan.members[at(state.member)].size());
}

bool Crew::work_is_done(const MemberState& state, const StepContext& context) {
  return state.first == tasks_of(state, context);
}

// The expected nanoseconds of the member's remaining work.
std::int64_t Crew::work_left(const MemberState& state, const StepContext& context) const {
  if (work_is_done(state, context)) return 0;
  const std::int64_t later = schedule_ == OarSchedule::layer_by_layer ? 0 : tasks_of(state, context) - state.first - 1;
  return segment_times_.from(state.segment) + later * segment_times_.whole();
}

void Crew::report_progress(const MemberState& state, const StepContext& context) const {
  const std::int64_t whole =
      segment_times_.whole() * (schedule_ == OarSchedule::layer_by_layer ? 1 : tasks_of(state, context));
  if (whole > 0) options_.between(static_cast<double>(work_left(state, context)) / static_cast<double>(whole));
}

void Crew::compute_thread(int index, const StepContext& context) {
  ThreadState& thread = *threads_[at(index)];
  int member = index;
  bool worked = true;
  try {
    while (!queue_->given_up()) {
      const std::uint32_t seen = events_.latest();
      member =
          member == MemberExchange::kNone
              ? exchange_.received(index)
              : exchange_.between(index, member,
                                  {work_left(*states_[at(member)], context), thread.done_ns, thread.took_ns, !worked});
      worked = member != MemberExchange::kNone && advance(*states_[at(member)], context, thread);
      if (options_.between && options_.threads == 1) report_progress(*states_[0], context);
      const bool through = member != MemberExchange::kNone && work_is_done(*states_[at(member)], context);
      const auto take = worked && !through ? LayerQueue::Take::share : LayerQueue::Take::all;
      worked |=
          queue_->help(thread.cursor, take, [&](int layer, int chunk) { use_chunk(thread, context, layer, chunk); });
      if (through && queue_->used_before(queue_->layers(), thread.cursor) && exchange_.leave(index)) return;
      if (!worked) events_.wait_after(seen);
    }
  } catch (...) {
    queue_->give_up();
    throw;
  }
}

void Crew::use_chunk(ThreadState& thread, const StepContext& context, int layer, int chunk) {
  const std::int64_t start = base::now_ns();
  const Chunk& piece = layers_.chunks()[at(layers_.layers()[at(layer)].chunks[at(chunk)])];
  const std::int64_t from = piece.offset - space_.range(piece.parameter).offset;
  const auto place = [&](const SlotPlace& slot) { return gradient_place(slot, piece.parameter) + from; };
  const bool frozen = is_frozen(piece.parameter), late = !frozen && layers_.is_late(piece.parameter);
  if (!late && !frozen && !context.step.plan.sums.empty()) {
    const observe::Stopwatch watch(profiled(thread.profile.member_sums));
    for (const MemberSum& sum : context.step.plan.sums) base::add_into(place(sum.into), place(sum.from), piece.count);
  }
  thread.partials.clear();
  if (frozen)
    thread.partials.assign(zero_partials_.begin(), zero_partials_.end());
  else if (late)
    late_sums(thread, context, piece);
  else
    for (const SlotPlace& total : context.step.plan.totals) thread.partials.push_back(place(total));
  const std::int64_t made = late ? base::now_ns() : start;
  {
    const observe::Stopwatch watch(profiled(thread.profile.update));
    context.take(piece, thread.partials);
  }
  const std::int64_t end = base::now_ns();
  thread.late_ns += made - start;
  thread.update_ns += end - made;
}

// Computes the late gradients of the piece oar by oar and adds them along the tree while they are in cache.
// `taken`: bit i is set while thread.sums[i] is in use.
void Crew::late_sums(ThreadState& thread, const StepContext& context, const Chunk& piece) const {
  const tensor::ParameterRange& range = space_.range(piece.parameter);
  const std::int64_t width = range.layout.shape.count_from(1), first = (piece.offset - range.offset) / width;
  const base::Range rows{first, first + piece.count / width};
  const auto buffer = [&](int index) { return thread.sums[at(index)].floats(); };
  std::uint32_t taken = 0;
  for (const base::Range& part : context.step.plan.partials) {
    const int total = base::oar_tree_sum<int>(
        static_cast<int>(part.begin), static_cast<int>(part.end),
        [&](int oar) {
          const int index = std::countr_one(taken);
          taken |= 1u << index;
          const graph::Instance& instance = *context.step.of_oar[at(oar)];
          observe::TaskTimes* times = nullptr;
          if (options_.profile) {
            const graph::Program& program = instance.program();
            times =
                &thread.profile.tasks.try_emplace(program.options().samples, program.plan().tasks.size()).first->second;
          }
          instance.late_gradient(piece.parameter, rows, thread.scratch.data(), times, buffer(index));
          return index;
        },
        [&](int oar) { return context.step.of_oar[at(oar)] == nullptr; },
        [&](int left, int right) {
          const observe::Stopwatch watch(profiled(thread.profile.member_sums));
          base::add_into(buffer(left), buffer(right), piece.count);
          taken &= ~(1u << right);
          return left;
        });
    thread.partials.push_back(buffer(total));
  }
}

void Crew::learn_segment_times(std::int64_t samples) {
  if (samples == timed_samples_)
    segment_times_.age();
  else
    segment_times_.forget();
  timed_samples_ = samples;
  for (const auto& state : states_)
    if (state->first > 0) segment_times_.see(state->took_ns);
}

ComputeReport Crew::compute(const BatchView& batch, const RandomSeed& random) {
  if (kept_.bytes() == 0) kept_ = tensor::Buffer(at(space_.floats()) * sizeof(float));
  const ComputeReport report = compute(batch, random, [&](const Chunk& chunk, const float* gradient) {
    std::memcpy(kept_.floats() + chunk.offset, gradient, at(chunk.count) * sizeof(float));
  });
  kept_is_current_ = true;
  return report;
}

ComputeReport Crew::compute(const BatchView& batch, const RandomSeed& random, TakeGradient take) {
  return compute(batch, random, whole(),
                 [&](const Chunk& chunk, std::span<const float* const> sums) { take(chunk, sums[0]); });
}

ComputeReport Crew::compute(const BatchView& batch, const RandomSeed& random, const Share& share, TakePartials take,
                            NeedWeights need) {
  base::check(options_.training, "compute() of a crew that only evaluates");
  base::check(batch.samples >= 1 && batch.samples <= options_.batch, "a batch of {} samples, the crew was made for {}",
              batch.samples, options_.batch);
  const PreparedStep& step = prepare(batch.samples, share);
  current_ = nullptr;
  kept_is_current_ = false;
  queue_->start(step.computing_members);
  for (const auto& state : states_) state->start();
  for (const auto& thread : threads_) thread->start();
  exchange_.start(segment_times_.whole());
  const StepContext context{step, batch, random, take, need};
  zero_partials_.assign(step.plan.totals.size(), zeros_.data());
  const std::int64_t start = base::now_ns();
  team_.run([&](int member) { compute_thread(member, context); });
  for (const int chunk : layers_.unreached()) take(layers_.chunks()[at(chunk)], zero_partials_);
  const double wall = base::seconds_since(start);
  profiled_ns_ += base::now_ns() - start;
  ++profiled_steps_;
  if (options_.threads > 1 || options_.between) learn_segment_times(batch.samples);
  current_ = &step;
  current_samples_ = batch.samples;
  return report(step, wall);
}

ComputeReport Crew::report(const PreparedStep& step, double wall) const {
  ComputeReport report;
  const auto empty = [&](int oar) { return step.of_oar[at(oar)] == nullptr; };
  const auto tree_sum = [&](const std::vector<double>& values) {
    if (step.plan.partials.empty()) return 0.0;
    return base::oar_tree_sum<double>(
        0, options_.oars, [&](int oar) { return values[at(oar)]; }, empty, [](double a, double b) { return a + b; });
  };
  report.loss = tree_sum(oar_loss_);
  report.correct = tree_sum(oar_correct_);
  double forward = 0, backward = 0, update = 0, waited = 0;
  for (const auto& state : states_) {
    forward += static_cast<double>(state->forward_ns);
    backward += static_cast<double>(state->backward_ns);
  }
  for (const auto& thread : threads_) {
    update += static_cast<double>(thread->update_ns);
    waited += static_cast<double>(thread->waited_ns);
    backward += static_cast<double>(thread->late_ns);
  }
  report.exchanges = exchange_.count();
  const double all = std::max(forward + backward + update + waited, 1.0);
  report.forward_seconds = wall * forward / all;
  report.update_seconds = wall * update / all;
  report.waited_seconds = wall * waited / all;
  report.backward_seconds = wall - report.forward_seconds - report.update_seconds - report.waited_seconds;
  return report;
}

}  // namespace trireme::crew
