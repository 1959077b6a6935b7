// Crew's row(): forward, backward and the sums.
#include <bit>
#include <cstring>
#include <utility>

#include "base/cpu/add_into.h"
#include "base/error.h"
#include "base/system/clock.h"
#include "crew/station.h"

namespace trireme::crew {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void Crew::begin_oar(const Row& row, const OarTask& task, const graph::Instance& instance, ops::OarRun& run) const {
  const auto copy = [&](const float* from, int node, float* to) {
    const std::int64_t floats = network_.nodes()[at(node)].shape.count();
    std::memcpy(to, from + (task.samples.begin - row.batch.first) * floats,
                at(task.samples.size() * floats) * sizeof(float));
  };
  for (std::size_t i = 0; i < row.batch.inputs.size(); ++i)
    copy(row.batch.inputs[i], network_.inputs()[i], instance.input(static_cast<int>(i)));
  copy(row.batch.target, network_.target(), instance.target());
  run = {};
  run.seed = row.draw.seed;
  run.epoch = row.draw.epoch;
  run.sample_indices = row.batch.indices.subspan(at(task.samples.begin - row.batch.first), at(task.samples.size()));
  run.loss_scale = static_cast<float>(1.0 / static_cast<double>(row.step.mean_of));
}

void Crew::go_forward(Station& station, const Row& row, base::Range tasks) {
  const auto& all = row.step.plan.members[at(station.member)];
  const auto& instances = row.step.instances[at(station.member)];
  if (station.segment == 0) {
    station.start_ns = base::now_ns();
    for (std::int64_t t = tasks.begin; t < tasks.end; ++t) {
      const observe::Stopwatch watch(profiled(station.profile.input));
      ops::OarRun& run = station.runs[at(t - tasks.begin)];
      begin_oar(row, all[at(t)], *instances[at(t)], run);
      run.slot = station.number(all[at(t)].slot);
    }
  }
  for (std::int64_t t = tasks.begin; t < tasks.end; ++t)
    instances[at(t)]->forward(instances[at(t)]->program().forward_segments()[station.segment],
                              station.runs[at(t - tasks.begin)]);
}

void Crew::go_back(Station& station, const Row& row, base::Range tasks, std::size_t segment) {
  const auto& all = row.step.plan.members[at(station.member)];
  const auto& instances = row.step.instances[at(station.member)];
  if (segment == 0) station.middle_ns = base::now_ns();
  const auto parameters = instances[at(tasks.begin)]->program().backward_segments()[segment].parameters;
  for (std::int64_t t = tasks.begin; t < tasks.end; ++t) {
    instances[at(t)]->backward(instances[at(t)]->program().backward_segments()[segment],
                               station.runs[at(t - tasks.begin)]);
    if (parameters.empty() || all[at(t)].sums.empty()) continue;
    const observe::Stopwatch watch(profiled(station.profile.oar_sums));
    for (const SlotSum& sum : all[at(t)].sums)
      for (const int p : parameters)
        if (!layers_.is_late(p))
          base::add_into(gradient_place({station.member, sum.into}, p), gradient_place({station.member, sum.from}, p),
                         space_.range(p).floats());
  }
}

void Crew::end_oars(Station& station, const Row& row, base::Range tasks) {
  const auto& all = row.step.plan.members[at(station.member)];
  for (std::int64_t t = tasks.begin; t < tasks.end; ++t) {
    oar_loss_[at(all[at(t)].oar)] = station.runs[at(t - tasks.begin)].loss;
    oar_correct_[at(all[at(t)].oar)] = station.runs[at(t - tasks.begin)].correct;
  }
  if (options_.trace) {
    const int lane = kFirstMemberLane + station.member;
    options_.trace->add("forward", lane, station.start_ns, station.middle_ns);
    options_.trace->add("backward", lane, station.middle_ns, base::now_ns());
  }
  station.first = tasks.end;
  station.segment = 0;
  station.layer = 0;
}

// The next segment of the station's oars, one oar at a time or all of them through a layer before the next; false when
// they are through, or must wait for memory.
bool Crew::advance(Station& station, const Row& row, Hand& hand) {
  if (work_is_done(station, row)) return false;
  const std::int64_t count = tasks_of(station, row);
  const base::Range tasks{station.first, schedule_ == Schedule::layer_by_layer ? count : station.first + 1};
  const graph::Program& program = row.step.instances[at(station.member)][at(tasks.begin)]->program();
  const std::size_t forward_segments = program.forward_segments().size();
  const bool forward = station.segment < forward_segments;
  const std::size_t segment = station.segment - (forward ? 0 : forward_segments);
  const bool finishes_layer = !forward && !program.backward_segments()[segment].parameters.empty();
  const bool last = tasks.end == count;
  if (finishes_layer && last && row.step.crosses[at(station.member)] &&
      !queue_->used_before(layers_.layers()[at(station.layer)].emptied_before, hand.place))
    return false;

  std::int64_t start = base::now_ns();
  if (forward) {
    row.need(program.forward_segments()[segment].parameters);
    const std::int64_t here = base::now_ns();
    hand.waited_ns += here - std::exchange(start, here);
    go_forward(station, row, tasks);
  } else {
    go_back(station, row, tasks, segment);
  }
  if (finishes_layer) {
    if (last) queue_->arrive(station.layer);
    if (const int late = layers_.layers()[at(station.layer)].late; last && late >= 0) queue_->arrive(late);
    ++station.layer;
  }
  const std::int64_t took = base::now_ns() - start;
  (forward ? station.forward_ns : station.backward_ns) += took;
  station.took_ns[station.segment] = took;
  hand.done_ns += pace_.of(station.segment);
  hand.took_ns += took;
  if (++station.segment == pace_.segments()) end_oars(station, row, tasks);
  return true;
}

std::int64_t Crew::tasks_of(const Station& station, const Row& row) {
  return static_cast<std::int64_t>(row.step.plan.members[at(station.member)].size());
}

bool Crew::work_is_done(const Station& station, const Row& row) { return station.first == tasks_of(station, row); }

// Nanoseconds that it should take.
std::int64_t Crew::work_left(const Station& station, const Row& row) const {
  if (work_is_done(station, row)) return 0;
  const std::int64_t later = schedule_ == Schedule::layer_by_layer ? 0 : tasks_of(station, row) - station.first - 1;
  return pace_.from(station.segment) + later * pace_.whole();
}

void Crew::tell_progress(const Station& station, const Row& row) const {
  const std::int64_t whole = pace_.whole() * (schedule_ == Schedule::layer_by_layer ? 1 : tasks_of(station, row));
  if (whole > 0) options_.between(static_cast<double>(work_left(station, row)) / static_cast<double>(whole));
}

void Crew::row_thread(int thread, const Row& row) {
  Hand& hand = *hands_[at(thread)];
  int station = thread;
  bool worked = true;
  try {
    while (!queue_->given_up()) {
      const std::uint32_t seen = news_.latest();
      station = station == Exchange::kNone
                    ? exchange_.received(thread)
                    : exchange_.between(thread, station,
                                        {work_left(*stations_[at(station)], row), hand.done_ns, hand.took_ns, !worked});
      worked = station != Exchange::kNone && advance(*stations_[at(station)], row, hand);
      if (options_.between && options_.threads == 1) tell_progress(*stations_[0], row);
      const bool through = station != Exchange::kNone && work_is_done(*stations_[at(station)], row);
      const auto take = worked && !through ? LayerQueue::Take::share : LayerQueue::Take::all;
      worked |= queue_->help(hand.place, take, [&](int layer, int chunk) { use_chunk(hand, row, layer, chunk); });
      if (through && queue_->used_before(queue_->layers(), hand.place) && exchange_.leave(thread)) return;
      if (!worked) news_.wait_after(seen);
    }
  } catch (...) {
    queue_->give_up();
    throw;
  }
}

void Crew::use_chunk(Hand& hand, const Row& row, int layer, int chunk) {
  const std::int64_t start = base::now_ns();
  const Chunk& piece = layers_.chunks()[at(layers_.layers()[at(layer)].chunks[at(chunk)])];
  const std::int64_t from = piece.offset - space_.range(piece.parameter).offset;
  const auto place = [&](const SlotPlace& slot) { return gradient_place(slot, piece.parameter) + from; };
  const bool late = layers_.is_late(piece.parameter);
  if (!late && !row.step.plan.sums.empty()) {
    const observe::Stopwatch watch(profiled(hand.profile.member_sums));
    for (const MemberSum& sum : row.step.plan.sums) base::add_into(place(sum.into), place(sum.from), piece.count);
  }
  hand.partials.clear();
  if (late)
    late_sums(hand, row, piece);
  else
    for (const SlotPlace& total : row.step.plan.totals) hand.partials.push_back(place(total));
  const std::int64_t made = late ? base::now_ns() : start;
  {
    const observe::Stopwatch watch(profiled(hand.profile.update));
    row.take(piece, hand.partials);
  }
  const std::int64_t end = base::now_ns();
  hand.late_ns += made - start;
  hand.update_ns += end - made;
}

// The oars' gradients of the piece, made here and added along the tree while they are in the cache.
void Crew::late_sums(Hand& hand, const Row& row, const Chunk& piece) const {
  const tensor::ParameterRange& range = space_.range(piece.parameter);
  const std::int64_t width = range.layout.shape.count_from(1), first = (piece.offset - range.offset) / width;
  const base::Range rows{first, first + piece.count / width};
  const auto buffer = [&](int index) { return hand.sums[at(index)].floats(); };
  std::uint32_t taken = 0;
  for (const base::Range& part : row.step.plan.partials) {
    const int total = base::oar_tree_sum<int>(
        static_cast<int>(part.begin), static_cast<int>(part.end),
        [&](int oar) {
          const int index = std::countr_one(taken);
          taken |= 1u << index;
          const graph::Instance& instance = *row.step.of_oar[at(oar)];
          observe::TaskTimes* times = nullptr;
          if (options_.profile) {
            const graph::Program& program = instance.program();
            times =
                &hand.profile.tasks.try_emplace(program.options().samples, program.plan().tasks.size()).first->second;
          }
          instance.late_gradient(piece.parameter, rows, hand.scratch.data(), times, buffer(index));
          return index;
        },
        [&](int oar) { return row.step.of_oar[at(oar)] == nullptr; },
        [&](int left, int right) {
          const observe::Stopwatch watch(profiled(hand.profile.member_sums));
          base::add_into(buffer(left), buffer(right), piece.count);
          taken &= ~(1u << right);
          return left;
        });
    hand.partials.push_back(buffer(total));
  }
}

void Crew::learn_pace(std::int64_t samples) {
  if (samples == paced_samples_)
    pace_.age();
  else
    pace_.forget();
  paced_samples_ = samples;
  for (const auto& station : stations_)
    if (station->first > 0) pace_.see(station->took_ns);
}

RowReport Crew::row(const BatchView& batch, const Draw& draw) {
  if (kept_.bytes() == 0) kept_ = tensor::Buffer(at(space_.floats()) * sizeof(float));
  const RowReport report = row(batch, draw, [&](const Chunk& chunk, const float* gradient) {
    std::memcpy(kept_.floats() + chunk.offset, gradient, at(chunk.count) * sizeof(float));
  });
  keeps_ = true;
  return report;
}

RowReport Crew::row(const BatchView& batch, const Draw& draw, TakeGradient take) {
  return row(batch, draw, whole(),
             [&](const Chunk& chunk, std::span<const float* const> sums) { take(chunk, sums[0]); });
}

RowReport Crew::row(const BatchView& batch, const Draw& draw, const Share& share, TakePartials take, NeedWeights need) {
  base::check(options_.training, "row() of a crew that only evaluates");
  base::check(batch.samples >= 1 && batch.samples <= options_.batch, "a batch of {} samples, the crew was made for {}",
              batch.samples, options_.batch);
  const PreparedStep& step = prepare(batch.samples, share);
  current_ = nullptr;
  keeps_ = false;
  queue_->start(step.rowing_members);
  for (const auto& station : stations_) station->start();
  for (const auto& hand : hands_) hand->start();
  exchange_.start(pace_.whole());
  const Row row{step, batch, draw, take, need};
  const std::int64_t start = base::now_ns();
  team_.run([&](int member) { row_thread(member, row); });
  if (!layers_.unreached().empty()) {
    if (nothing_.empty()) nothing_.assign(at(layers_.most_chunk_floats()), 0.0f);
    nothings_.assign(step.plan.totals.size(), nothing_.data());
    for (const int chunk : layers_.unreached()) take(layers_.chunks()[at(chunk)], nothings_);
  }
  const double wall = base::seconds_since(start);
  profiled_ns_ += base::now_ns() - start;
  ++profiled_steps_;
  if (options_.threads > 1 || options_.between) learn_pace(batch.samples);
  current_ = &step;
  current_samples_ = batch.samples;
  return report(step, wall);
}

RowReport Crew::report(const PreparedStep& step, double wall) const {
  RowReport report;
  const auto empty = [&](int oar) { return step.of_oar[at(oar)] == nullptr; };
  const auto tree_sum = [&](const std::vector<double>& values) {
    if (step.plan.partials.empty()) return 0.0;
    return base::oar_tree_sum<double>(
        0, options_.oars, [&](int oar) { return values[at(oar)]; }, empty, [](double a, double b) { return a + b; });
  };
  report.loss = tree_sum(oar_loss_);
  report.correct = tree_sum(oar_correct_);
  double forward = 0, backward = 0, update = 0, waited = 0;
  for (const auto& station : stations_) {
    forward += static_cast<double>(station->forward_ns);
    backward += static_cast<double>(station->backward_ns);
  }
  for (const auto& hand : hands_) {
    update += static_cast<double>(hand->update_ns);
    waited += static_cast<double>(hand->waited_ns);
    backward += static_cast<double>(hand->late_ns);
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
