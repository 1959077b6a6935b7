// Crew: computes the oars of a batch on the threads of one process and adds their gradients along the oar tree.
//
//   crew::Crew crew(network, options);          // compiles; crew.space() says where parameters lie
// One caller at a time.
//
//   crew.weights()                              // fill them, then call refresh_weight_forms()
//   crew.compute(batch, random, [&](chunk, gradient) { optimizer.update(...); });   // forward, backward, update
//   crew.finish_step();                         // running statistics, derived weights
//
// compute() hands out a layer's gradient as soon as all oars have passed the layer; the whole gradient is never stored.
// A caller that needs the whole gradient (to clip it by its norm, for example) calls compute() without a taker, then
// for_each_chunk().
// Threads that turn out slower than others hand their members (oars and memory) to faster threads.
// Nothing is allocated once every batch size has been seen.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/cpu/thread_team.h"
#include "crew/gradient_layers.h"
#include "crew/layer_queue.h"
#include "crew/member_exchange.h"
#include "crew/replica.h"
#include "crew/segment_times.h"
#include "crew/step_plan.h"
#include "graph/program.h"
#include "observe/trace/span_recorder.h"

namespace trireme::crew {

struct CrewOptions {
  std::int64_t batch = 1;  // samples of the global batch; compute() takes at most this many
  int oars = 1;
  int threads = 1;
  Share share{};  // the share of the first step; empty: all oars
  Reduce reduce = Reduce::exact;
  std::optional<OarSchedule> schedule{};  // none: the one that needs less memory; does not change the bits
  int threads_per_oar = 1;
  std::shared_ptr<const ops::KernelTable> kernel_table{};  // null: built-in choices
  std::int64_t evaluation_batch = 64;
  std::vector<float> class_weights{};  // of each sample's loss in training (ops::OarRun); empty: all 1
  std::vector<int> cpus{};             // to pin threads to; empty: not pinned
  bool may_spin = false;
  // Called by the only thread of a crew of one, between two segments of work; `left`: the remaining part of the step's
  // work, from 1 down to 0.
  std::function<void(double left)> between{};
  bool profile = false;  // see Crew::profile()
  bool training = true;  // false: evaluate() only, without gradients
  // Gets a forward and a backward span per oar, on lane kFirstMemberLane + member.
  observe::SpanRecorder* spans = nullptr;
};

inline constexpr int kFirstMemberLane = 10;

struct EvaluationReport {
  std::int64_t samples = 0;
  double loss = 0;                           // sum
  double correct = 0;                        // sum
  std::vector<double> losses{}, corrects{};  // per evaluation batch
};

// The parameter space of a crew with these options.
tensor::ParameterSpace space_of(const graph::Network& network, const CrewOptions& options);

class Crew : public Replica {
 public:
  Crew(const graph::Network& network, const CrewOptions& options);
  ~Crew() override;

  const graph::Network& network() const { return network_; }  // fused
  const GradientLayers& layers() const { return layers_; }

  int oars() const override { return options_.oars; }
  const tensor::ParameterSpace& space() const override { return space_; }
  const std::vector<Chunk>& chunks() const override { return layers_.chunks(); }
  const std::vector<MovingStatistic>& moving_statistics() const override { return moving_statistics_; }
  GradientOrder gradient_order() const override;
  double l2_penalty(int parameter) const override {
    return network_.parameters()[static_cast<std::size_t>(parameter)].l2;
  }
  bool is_frozen(int parameter) const override {
    return network_.parameters()[static_cast<std::size_t>(parameter)].is_frozen;
  }

  float* weights() override { return weights_.floats(); }
  const float* weights() const { return weights_.floats(); }
  void move_weights(float* memory) override;
  void share_weights(float* memory) override;
  void place_gradient(float* memory) override;
  void refresh_weight_forms() override;
  void refresh_weight_forms(int parameter) override;

  using Replica::compute;
  ComputeReport compute(const BatchView& batch, const RandomSeed& random, TakeGradient take) override;
  ComputeReport compute(const BatchView& batch, const RandomSeed& random) override;
  const float* gradient() const override { return kept_.floats(); }  // after finish_step() with the statistics' sums
  ComputeReport compute(const BatchView& batch, const RandomSeed& random, const Share& share, TakePartials take,
                        NeedWeights need) override;
  const std::vector<base::Range>& partials(std::int64_t samples, const Share& share) override;
  std::span<const double> oar_losses() const override { return oar_loss_; }
  std::span<const double> oar_corrects() const override { return oar_correct_; }

  void for_each_chunk(TakeGradient f) override;
  void for_each_chunk(const float* gradient, base::Range chunks, TakeGradient f) override;
  void finish_step() override;
  std::span<const float* const> statistics_sums() override;
  void move_statistics(const float* sums, std::int64_t samples, double momentum = 1) override;

  // Runs inference over samples [0, count). fill(first, samples, inputs, target) supplies each evaluation batch;
  // see(first, samples, prediction), when given, receives the predictions in the plain layout. Both are called from any
  // thread and in any order.
  using Fill =
      std::function<void(std::int64_t first, std::int64_t samples, std::span<float* const> inputs, float* target)>;
  using See = std::function<void(std::int64_t first, std::int64_t samples, const float* prediction)>;
  EvaluationReport evaluate(std::int64_t count, const Fill& fill, const See& see = nullptr);
  // The same for some of the evaluation batches of these samples; `batches` counts them from 0.
  EvaluationReport evaluate(std::int64_t count, base::Range batches, const Fill& fill, const See& see = nullptr);
  std::int64_t evaluation_batches(std::int64_t count) const;
  std::int64_t evaluation_batch() const { return options_.evaluation_batch; }

  // Compiled Programs, for inspection: fingerprint, memory, profile.
  const graph::Program& program(std::int64_t samples, bool training);
  // The distinct oar sizes of a batch, largest first.
  std::vector<std::int64_t> oar_sizes(std::int64_t samples) const;
  // The distinct batch sizes that evaluate() uses for `count` samples, largest first.
  std::vector<std::int64_t> evaluation_sizes(std::int64_t count) const;
  // The time and cost of the steps so far, by task; only with CrewOptions::profile. `update_cost`: cost of the update
  // per parameter element.
  observe::Profile profile(ops::Cost update_cost) const;
  void clear_profile();
  std::size_t arena_bytes() const;
  std::size_t gradient_bytes() const;

 private:
  struct MemberState;  // one member of the plan: its arenas, gradient slots, instances and progress
  struct ThreadState;  // one thread: its cursor into the queue, its buffers and times
  struct PreparedStep {
    StepPlan plan;
    std::int64_t mean_of = 0;                                      // number of samples that the mean is over
    std::vector<std::vector<const graph::Instance*>> instances{};  // per member and task
    std::vector<const graph::Instance*> of_oar{};                  // null where the oar is empty or computed elsewhere
    std::vector<bool> crosses{};  // per member: one of its passing slots is used in a sum across members or is a total
    int computing_members = 0;
  };
  struct StepContext {  // the prepared step and the arguments of compute(), shared by all members
    const PreparedStep& step;
    const BatchView& batch;
    const RandomSeed& random;
    TakePartials take;
    NeedWeights need;
  };

  void make_states(const StepPlan& full);
  void grow_states(const StepPlan& plan);
  void make_late_sums(int partials);
  void bind_anew();
  const graph::Instance& instance(MemberState& state, std::int64_t samples, bool training, int arena);
  Share whole() const { return {{0, options_.oars}}; }
  PreparedStep& prepare(std::int64_t samples, const Share& share);
  int arena_of(std::size_t task) const { return schedule_ == OarSchedule::layer_by_layer ? static_cast<int>(task) : 0; }
  float* gradient_place(const SlotPlace& place, int parameter) const;
  float* statistics_place(const SlotPlace& place) const;
  observe::TaskTime* profiled(observe::TaskTime& time) const { return options_.profile ? &time : nullptr; }
  void compute_thread(int thread, const StepContext& context);
  void report_progress(const MemberState& state, const StepContext& context) const;
  bool advance(MemberState& state, const StepContext& context, ThreadState& thread);
  void go_forward(MemberState& state, const StepContext& context, base::Range tasks);
  void go_back(MemberState& state, const StepContext& context, base::Range tasks, std::size_t segment);
  void end_oars(MemberState& state, const StepContext& context, base::Range tasks);
  void begin_oar(const StepContext& context, const OarTask& task, const graph::Instance& instance,
                 ops::OarRun& run) const;
  static std::int64_t tasks_of(const MemberState& state, const StepContext& context);
  static bool work_is_done(const MemberState& state, const StepContext& context);
  std::int64_t work_left(const MemberState& state, const StepContext& context) const;
  void use_chunk(ThreadState& thread, const StepContext& context, int layer, int chunk);
  void late_sums(ThreadState& thread, const StepContext& context, const Chunk& piece) const;
  void learn_segment_times(std::int64_t samples);
  ComputeReport report(const PreparedStep& step, double wall) const;

  CrewOptions options_;
  graph::Network network_;
  std::map<std::pair<std::int64_t, bool>, std::unique_ptr<graph::Program>> programs_;
  const graph::Program* first_program_ = nullptr;  // chooses the parameter layouts of all Programs
  tensor::ParameterSpace space_;
  tensor::Buffer weights_;
  float* placed_gradient_ = nullptr;
  std::unique_ptr<graph::WeightForms> forms_;
  std::vector<std::unique_ptr<MemberState>> states_;
  std::vector<std::unique_ptr<ThreadState>> threads_;
  struct StepKey {
    std::int64_t samples = 0, first_oar = 0, end_oar = 0;
    std::int64_t first_of_mean = 0, end_of_mean = 0;
    friend auto operator<=>(const StepKey&, const StepKey&) = default;  // NOLINT(modernize-use-nullptr)
  };
  std::map<StepKey, PreparedStep> steps_;
  OarSchedule schedule_ = OarSchedule::oar_by_oar;
  bool late_ = false;  // late gradients are used (gradient_layers.h): every oar's arena lives until the step ends
  GradientLayers layers_;
  base::EventCount events_;
  std::unique_ptr<LayerQueue> queue_;
  MemberExchange exchange_;
  SegmentTimes segment_times_;
  std::int64_t timed_samples_ = 0;                  // batch size of the steps that segment_times_ has learnt from
  std::vector<MovingStatistic> moving_statistics_;  // without those of nodes that do not lead to the loss
  std::vector<double> oar_loss_, oar_correct_;
  const PreparedStep* current_ = nullptr;  // the step that compute() ran and finish_step() has not finished yet
  std::int64_t current_samples_ = 0;
  std::vector<float> zeros_;  // the gradient of frozen parameters and of chunks that backward does not reach
  std::vector<const float*> zero_partials_, statistics_;  // per partial of the last step
  tensor::Buffer kept_;
  bool kept_is_current_ = false;  // kept_ holds the gradient of the current step
  std::int64_t profiled_ns_ = 0, profiled_steps_ = 0;
  base::ThreadTeam team_;
};

}  // namespace trireme::crew
