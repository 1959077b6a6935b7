#include "crew/crew.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "base/error.h"
#include "base/simd.h"
#include "crew/member_profile.h"
#include "graph/fusion.h"
#include "ops/batch_norm.h"
#include "tensor/add_into.h"

namespace trireme::crew {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct MoveStatistic {
  TRIREME_INLINE static void run(float* running, const float* sum, std::int64_t count, float keep, float scale) {
    for (std::int64_t i = 0; i < count; ++i) running[i] = running[i] * keep + sum[i] * scale;
  }
};

}  // namespace

struct Crew::Station {
  std::vector<tensor::Buffer> arenas;
  std::vector<tensor::Buffer> whole, passing;  // gradient slots of trained parameters
  std::vector<tensor::Buffer> statistics;      // per slot, or per oar when all oars go forward before one goes back
  std::map<std::tuple<std::int64_t, bool, int>, std::unique_ptr<graph::Instance>> instances;
  int member = 0;
  // Of the current step:
  std::int64_t first = 0;   // of its tasks, that are rowed now
  std::size_t segment = 0;  // of their way forward and back
  int layer = 0;            // that is finished next
  std::int64_t start_ns = 0, middle_ns = 0;
  std::vector<ops::OarRun> runs;
  std::vector<std::int64_t> took_ns;  // per segment
  std::int64_t forward_ns = 0, backward_ns = 0;
  MemberProfile profile;

  void start() {
    first = segment = 0;
    layer = 0;
    forward_ns = backward_ns = 0;
  }
  int number(const Slot& slot) const { return slot.index + (slot.passing ? static_cast<int>(whole.size()) : 0); }
};

struct Crew::Hand {
  LayerQueue::Place place;
  std::int64_t update_ns = 0, done_ns = 0, took_ns = 0;
  MemberProfile profile;

  void start() {
    place = {};
    update_ns = done_ns = took_ns = 0;
  }
};

Crew::Crew(const graph::Network& network, const CrewOptions& options)
    : options_(options),
      network_(graph::fuse(network)),
      news_(options.threads > 1, options.may_spin),
      exchange_(options.threads, news_),
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
  layers_ = Layers(space_, first, options_.threads > 1);
  std::vector<int> chunks;
  for (const Layer& layer : layers_.layers()) chunks.push_back(static_cast<int>(layer.chunks.size()));
  queue_ = std::make_unique<LayerQueue>(chunks, news_);
  pace_ = Pace(first.forward_segments().size() + first.backward_segments().size());
  for (const graph::PlanTask& task : first.plan().tasks)
    for (const int p : task.parameters)
      if (space_.range(p).kind == tensor::ParameterKind::statistic) moving_statistics_.push_back(p);

  const auto plan = [&](Schedule schedule) {
    return plan_step(options_.batch, options_.oars, options_.threads, options_.reduce, schedule);
  };
  StepPlan full = plan(Schedule::oar_by_oar);
  const std::size_t whole = at(full.slots[0].whole) * at(space_.trained_floats()) * sizeof(float);
  const std::size_t arenas = (std::max<std::size_t>(full.members[0].size(), 1) - 1) * first.arena_bytes();
  schedule_ = options_.schedule.value_or(arenas < whole ? Schedule::layer_by_layer : Schedule::oar_by_oar);
  if (schedule_ == Schedule::layer_by_layer) full = plan(schedule_);
  make_stations(full);
  if (options_.training) prepare(options_.batch);
}

void Crew::make_stations(const StepPlan& full) {
  const auto buffers = [](int count, std::int64_t floats) {
    std::vector<tensor::Buffer> made;
    for (int i = 0; i < count; ++i) made.emplace_back(at(floats) * sizeof(float));
    return made;
  };
  for (std::size_t member = 0; member < at(options_.threads); ++member) {
    auto station = std::make_unique<Station>();
    station->member = static_cast<int>(member);
    station->took_ns.resize(pace_.segments());
    const std::size_t oars = full.members[member].size();
    station->arenas.resize(schedule_ == Schedule::layer_by_layer ? std::max<std::size_t>(oars, 1) : 1);
    station->runs.resize(station->arenas.size());
    if (options_.training) {
      const SlotCount slots = full.slots[member];
      station->whole = buffers(slots.whole, space_.trained_floats());
      station->passing = buffers(slots.passing, layers_.ring_floats());
      const int sets = schedule_ == Schedule::layer_by_layer ? static_cast<int>(oars) : slots.whole + slots.passing;
      station->statistics = buffers(sets, space_.floats() - space_.trained_floats());
    }
    stations_.push_back(std::move(station));
    hands_.push_back(std::make_unique<Hand>());
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

const graph::Instance& Crew::instance(Station& station, std::int64_t samples, bool training, int arena) {
  const graph::Program& compiled = program(samples, training);
  tensor::Buffer& memory = station.arenas[at(arena)];
  if (compiled.arena_bytes() > memory.bytes()) {
    // A larger arena moves everything: whatever was bound to the old one is bound anew on its next use.
    std::erase_if(station.instances, [&](const auto& made) { return std::get<2>(made.first) == arena; });
    steps_.clear();
    current_ = nullptr;
    memory = tensor::Buffer();
    memory = tensor::Buffer(compiled.arena_bytes());
  }
  auto& made = station.instances[{samples, training, arena}];
  if (!made) {
    const int member = station.member;
    const int whole = static_cast<int>(station.whole.size());
    const int slots = training ? whole + static_cast<int>(station.passing.size()) : 0;
    made = std::make_unique<graph::Instance>(
        compiled, space_, memory.data(), weights_.floats(), *forms_, slots, [&](int number, int parameter) {
          const bool passing = number >= whole;
          return gradient_place({member, {passing, passing ? number - whole : number, arena}}, parameter);
        });
  }
  if (options_.profile && training)
    made->set_profile(&station.profile.tasks.try_emplace(samples, compiled.plan().tasks.size()).first->second);
  return *made;
}

Crew::PreparedStep& Crew::prepare(std::int64_t samples) {
  if (const auto found = steps_.find(samples); found != steps_.end()) return found->second;
  PreparedStep step{plan_step(samples, options_.oars, options_.threads, options_.reduce, schedule_), {}, {}, 0};
  // Once for the arenas, which may be replaced by larger ones, then for what is bound to them.
  for (const bool bound : {false, true})
    for (std::size_t member = 0; member < stations_.size(); ++member) {
      const auto& tasks = step.plan.members[member];
      std::vector<const graph::Instance*> instances;
      for (std::size_t t = 0; t < tasks.size(); ++t)
        instances.push_back(&instance(*stations_[member], tasks[t].samples.size(), true, arena_of(t)));
      if (!bound) continue;
      step.rowing_members += tasks.empty() ? 0 : 1;
      step.instances.push_back(std::move(instances));
    }
  for (std::size_t member = 0; member < stations_.size(); ++member)
    base::check(step.plan.slots[member].whole <= static_cast<int>(stations_[member]->whole.size()) &&
                    step.plan.slots[member].passing <= static_cast<int>(stations_[member]->passing.size()),
                "a batch of {} samples needs more gradient slots than {}", samples, options_.batch);
  step.crosses.resize(stations_.size());
  const auto crosses = [&](const SlotPlace& place) {
    if (place.slot.passing) step.crosses[at(place.member)] = true;
  };
  crosses(step.plan.total);
  for (const MemberSum& sum : step.plan.sums) crosses(sum.into), crosses(sum.from);
  return steps_.emplace(samples, std::move(step)).first->second;
}

float* Crew::gradient_place(const SlotPlace& place, int parameter) const {
  const Station& station = *stations_[at(place.member)];
  const tensor::ParameterRange& range = space_.range(parameter);
  if (range.kind == tensor::ParameterKind::statistic)
    return statistics_place(place) + (range.offset - space_.trained_floats());
  if (place.slot.passing) return station.passing[at(place.slot.index)].floats() + layers_.ring_offset(parameter);
  return station.whole[at(place.slot.index)].floats() + range.offset;
}

float* Crew::statistics_place(const SlotPlace& place) const {
  const Station& station = *stations_[at(place.member)];
  const int set = schedule_ == Schedule::layer_by_layer ? place.slot.task : station.number(place.slot);
  return station.statistics[at(set)].floats();
}

void Crew::refresh_weight_forms() { forms_->refresh_all(); }

void Crew::begin_oar(const Row& row, const OarTask& task, const graph::Instance& instance, ops::OarRun& run) const {
  const auto copy = [&](const float* from, int node, float* to) {
    const std::int64_t floats = network_.nodes()[at(node)].shape.count();
    std::memcpy(to, from + task.samples.begin * floats, at(task.samples.size() * floats) * sizeof(float));
  };
  for (std::size_t i = 0; i < row.batch.inputs.size(); ++i)
    copy(row.batch.inputs[i], network_.inputs()[i], instance.input(static_cast<int>(i)));
  copy(row.batch.target, network_.target(), instance.target());
  run = {};
  run.seed = row.draw.seed;
  run.epoch = row.draw.epoch;
  run.sample_indices = row.batch.indices.subspan(at(task.samples.begin), at(task.samples.size()));
  run.loss_scale = static_cast<float>(1.0 / static_cast<double>(row.batch.samples));
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
        tensor::add_into(gradient_place({station.member, sum.into}, p), gradient_place({station.member, sum.from}, p),
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

  const std::int64_t start = base::now_ns();
  if (forward)
    go_forward(station, row, tasks);
  else
    go_back(station, row, tasks, segment);
  if (finishes_layer) {
    if (last) queue_->arrive(station.layer);
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
      worked |= queue_->help(hand.place, [&](int layer, int chunk) { use_chunk(hand, row, layer, chunk); });
      const bool through = station != Exchange::kNone && work_is_done(*stations_[at(station)], row);
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
  if (!row.step.plan.sums.empty()) {
    const observe::Stopwatch watch(profiled(hand.profile.member_sums));
    for (const MemberSum& sum : row.step.plan.sums) tensor::add_into(place(sum.into), place(sum.from), piece.count);
  }
  {
    const observe::Stopwatch watch(profiled(hand.profile.update));
    row.take(piece, place(row.step.plan.total));
  }
  hand.update_ns += base::now_ns() - start;
}

void Crew::learn_pace() {
  pace_.forget();
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
  base::check(options_.training, "row() of a crew that only evaluates");
  base::check(batch.samples >= 1 && batch.samples <= options_.batch, "a batch of {} samples, the crew was made for {}",
              batch.samples, options_.batch);
  const PreparedStep& step = prepare(batch.samples);
  current_ = nullptr;
  keeps_ = false;
  queue_->start(step.rowing_members);
  for (const auto& station : stations_) station->start();
  for (const auto& hand : hands_) hand->start();
  exchange_.start(pace_.whole());
  const Row row{step, batch, draw, take};
  const std::int64_t start = base::now_ns();
  team_.run([&](int member) { row_thread(member, row); });
  static const std::vector<float> nothing(at(Layers::kChunkFloats), 0.0f);
  for (const int chunk : layers_.unreached()) take(layers_.chunks()[at(chunk)], nothing.data());
  const double wall = base::seconds_since(start);
  profiled_ns_ += base::now_ns() - start;
  ++profiled_steps_;
  if (options_.threads > 1) learn_pace();
  current_ = &step;
  current_samples_ = batch.samples;
  return report(batch, wall);
}

RowReport Crew::report(const BatchView& batch, double wall) const {
  RowReport report;
  const auto empty = [&](int oar) { return base::oar_samples(oar, options_.oars, batch.samples).empty(); };
  const auto tree_sum = [&](const std::vector<double>& values) {
    return base::oar_tree_sum<double>(
        0, options_.oars, [&](int oar) { return values[at(oar)]; }, empty, [](double a, double b) { return a + b; });
  };
  report.loss = tree_sum(oar_loss_);
  report.correct = tree_sum(oar_correct_);
  double forward = 0, backward = 0, update = 0;
  for (const auto& station : stations_) {
    forward += static_cast<double>(station->forward_ns);
    backward += static_cast<double>(station->backward_ns);
  }
  for (const auto& hand : hands_) update += static_cast<double>(hand->update_ns);
  report.exchanges = exchange_.count();
  report.forward_seconds = wall * forward / (forward + backward + update);
  report.update_seconds = wall * update / (forward + backward + update);
  report.backward_seconds = wall - report.forward_seconds - report.update_seconds;
  return report;
}

void Crew::for_each_chunk(TakeGradient f) {
  base::check(current_ != nullptr && keeps_, "for_each_chunk() before row()");
  const auto chunk_count = static_cast<std::int64_t>(chunks().size());
  const std::int64_t start = base::now_ns();
  team_.run([&](int member) {
    const observe::Stopwatch watch(profiled(hands_[at(member)]->profile.update));
    const std::int64_t begin = chunk_count * member / team_.members(),
                       end = chunk_count * (member + 1) / team_.members();
    for (std::int64_t c = begin; c < end; ++c) f(chunks()[at(c)], kept_.floats() + chunks()[at(c)].offset);
  });
  profiled_ns_ += base::now_ns() - start;
}

void Crew::sum_statistics() {
  const std::int64_t first = space_.trained_floats(), count = space_.floats() - first;
  if (count == 0) return;
  for (const MemberSum& sum : current_->plan.sums)
    tensor::add_into(statistics_place(sum.into), statistics_place(sum.from), count);
  const float* total = statistics_place(current_->plan.total);
  for (const int p : moving_statistics_) {
    const auto& range = space_.range(p);
    const auto& parameter = network_.parameters()[at(p)];
    const double momentum = network_.nodes()[at(parameter.node)].op->statistics_momentum();
    base::dispatch<MoveStatistic>(weights_.floats() + range.offset, total + (range.offset - first), range.floats(),
                                  static_cast<float>(1 - momentum),
                                  static_cast<float>(momentum / static_cast<double>(current_samples_)));
  }
  if (keeps_) std::memcpy(kept_.floats() + first, total, at(count) * sizeof(float));
}

void Crew::finish_step() {
  base::check(current_ != nullptr, "finish_step() before row()");
  const std::int64_t start = base::now_ns();
  {
    const observe::Stopwatch watch(profiled(hands_[0]->profile.statistics));
    sum_statistics();
  }
  current_ = nullptr;
  if (const int forms = forms_->size(); forms > 0) {
    std::atomic<int> next{0};
    team_.run([&](int member) {
      for (int form = next.fetch_add(1); form < forms; form = next.fetch_add(1)) {
        const observe::Stopwatch watch(profiled(hands_[at(member)]->profile.forms));
        forms_->refresh(form);
      }
    });
  }
  profiled_ns_ += base::now_ns() - start;
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
    instance(*station, last, false, 0);  // whichever needs the larger arena settles it first
    const graph::Instance* whole = &instance(*station, unit, false, 0);
    instances.push_back({whole, &instance(*station, last, false, 0)});
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

void Crew::clear_profile() {
  for (const auto& station : stations_) station->profile.clear();
  for (const auto& hand : hands_) hand->profile.clear();
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
  for (const auto& station : stations_) members.push_back(&station->profile);
  for (const auto& hand : hands_) members.push_back(&hand->profile);
  observe::Profile all = add_up(members, options_.threads, costs, 1e-9 * static_cast<double>(profiled_ns_),
                                [&](std::int64_t samples) -> const graph::Program& {
                                  return *programs_.at({samples, true});
                                });
  all.steps = profiled_steps_;
  return all;
}

std::size_t Crew::arena_bytes() const {
  std::size_t bytes = 0;
  for (const auto& station : stations_)
    for (const auto& arena : station->arenas) bytes += arena.bytes();
  return bytes;
}

std::size_t Crew::gradient_bytes() const {
  std::size_t bytes = kept_.bytes();
  for (const auto& station : stations_)
    for (const auto* slots : {&station->whole, &station->passing, &station->statistics})
      for (const auto& buffer : *slots) bytes += buffer.bytes();
  return bytes;
}

}  // namespace trireme::crew
