// Crew: rows the oars of a batch on the threads of one process and adds their gradients along the oar tree.
//
//   crew::Crew crew(network, options);          // compiles; crew.space() says where parameters lie
//   crew.weights()                              // to be filled, then refresh_weight_forms()
//   crew.row(batch, draw, [&](chunk, gradient) { optimizer.update(...); });   // forward, backward, update of all oars
//   crew.finish_step();                         // statistics, derived weights
//
// A layer's gradient is handed out as soon as all oars have passed it, and is nowhere kept as a whole; who needs the
// whole (to clip by its norm, say) calls row() without a taker, then for_each_chunk().
// Threads that turn out slower than others hand their stations (a member's oars and memory) to faster ones.
// Nothing is allocated once every batch size has been seen. One caller at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/cpu/thread_team.h"
#include "crew/exchange.h"
#include "crew/layer_queue.h"
#include "crew/layers.h"
#include "crew/pace.h"
#include "crew/replica.h"
#include "crew/step_plan.h"
#include "graph/program.h"
#include "observe/trace.h"

namespace trireme::crew {

struct CrewOptions {
  std::int64_t batch = 1;  // the global batch; row() takes this many samples or fewer
  int oars = 1;
  int threads = 1;
  Share share{};  // the first; empty: all oars
  Reduce reduce = Reduce::exact;
  std::optional<Schedule> schedule{};  // otherwise the one that needs less memory; makes no bits
  int threads_per_oar = 1;
  std::shared_ptr<const ops::KernelTable> kernel_table{};  // null: built-in choices
  std::int64_t evaluation_batch = 64;
  std::vector<int> cpus{};  // for pinning; empty: not pinned
  bool may_spin = false;
  // Called by the thread of a crew of one, between two pieces of work: what is left of the step's, from 1 to 0.
  std::function<void(double left)> between{};
  bool profile = false;             // see Crew::profile()
  bool training = true;             // false: evaluate() only, without gradients
  observe::Trace* trace = nullptr;  // gets a span per oar and direction, on lane kFirstMemberLane + member
};

inline constexpr int kFirstMemberLane = 10;

struct EvaluationReport {
  std::int64_t samples = 0;
  double loss = 0;                           // sum
  double correct = 0;                        // sum
  std::vector<double> losses{}, corrects{};  // per evaluation batch
};

// Where the parameters of a crew with such options lie.
tensor::ParameterSpace space_of(const graph::Network& network, const CrewOptions& options);

class Crew : public Replica {
 public:
  Crew(const graph::Network& network, const CrewOptions& options);
  ~Crew() override;

  const graph::Network& network() const { return network_; }  // fused
  const Layers& layers() const { return layers_; }

  int oars() const override { return options_.oars; }
  const tensor::ParameterSpace& space() const override { return space_; }
  const std::vector<Chunk>& chunks() const override { return layers_.chunks(); }
  const std::vector<MovingStatistic>& moving_statistics() const override { return moving_statistics_; }
  GradientOrder gradient_order() const override;
  double l2_penalty(int parameter) const override {
    return network_.parameters()[static_cast<std::size_t>(parameter)].l2;
  }

  float* weights() override { return weights_.floats(); }
  const float* weights() const { return weights_.floats(); }
  void move_weights(float* memory) override;
  void share_weights(float* memory) override;
  void place_gradient(float* memory) override;
  void refresh_weight_forms() override;
  void refresh_weight_forms(int parameter) override;

  using Replica::row;
  RowReport row(const BatchView& batch, const Draw& draw, TakeGradient take) override;
  RowReport row(const BatchView& batch, const Draw& draw) override;
  const float* gradient() const override { return kept_.floats(); }  // statistics' sums too, after finish_step()
  RowReport row(const BatchView& batch, const Draw& draw, const Share& share, TakePartials take,
                NeedWeights need) override;
  const std::vector<base::Range>& partials(std::int64_t samples, const Share& share) override;
  std::span<const double> oar_losses() const override { return oar_loss_; }
  std::span<const double> oar_corrects() const override { return oar_correct_; }

  void for_each_chunk(TakeGradient f) override;
  void for_each_chunk(const float* gradient, base::Range chunks, TakeGradient f) override;
  void finish_step() override;
  std::span<const float* const> statistics_sums() override;
  void move_statistics(const float* sums, std::int64_t samples, double momentum = 1) override;

  // Runs inference over samples [0, count): fill(first, samples, inputs, target) gives each evaluation batch;
  // see(first, samples, plain prediction), when given, gets the predictions, in any order, from any thread.
  using Fill =
      std::function<void(std::int64_t first, std::int64_t samples, std::span<float* const> inputs, float* target)>;
  using See = std::function<void(std::int64_t first, std::int64_t samples, const float* prediction)>;
  EvaluationReport evaluate(std::int64_t count, const Fill& fill, const See& see = nullptr);
  // The same of some of the evaluation batches of these samples, counted from 0.
  EvaluationReport evaluate(std::int64_t count, base::Range batches, const Fill& fill, const See& see = nullptr);
  std::int64_t evaluation_batches(std::int64_t count) const;

  // Compiled Programs, for inspection: fingerprint, memory, profile.
  const graph::Program& program(std::int64_t samples, bool training);
  // The distinct oar sizes of a batch, largest first.
  std::vector<std::int64_t> oar_sizes(std::int64_t samples) const;
  // The distinct batch sizes in which evaluate() takes `count` samples, largest first.
  std::vector<std::int64_t> evaluation_sizes(std::int64_t count) const;
  // What the steps so far spent by task, when the options asked for it. `update_cost`: of the update, per parameter.
  observe::Profile profile(ops::Cost update_cost) const;
  void clear_profile();
  std::size_t arena_bytes() const;
  std::size_t gradient_bytes() const;

 private:
  struct Station;  // one member of the plan: its arenas, gradient slots and instances, and how far its oars are
  struct Hand;     // one thread: how far it sees the queue, what it did
  struct PreparedStep {
    StepPlan plan;
    std::int64_t mean_of = 0;                                      // samples
    std::vector<std::vector<const graph::Instance*>> instances{};  // per member and task
    std::vector<const graph::Instance*> of_oar{};                  // null where an oar is empty
    std::vector<bool> crosses{};  // per member: a passing slot of it is added to another's, or is the total
    int rowing_members = 0;
  };
  struct Row {  // what is the same for all members during row()
    const PreparedStep& step;
    const BatchView& batch;
    const Draw& draw;
    TakePartials take;
    NeedWeights need;
  };

  void make_stations(const StepPlan& full);
  void grow_stations(const StepPlan& plan);
  void make_late_sums(int partials);
  void bind_anew();
  const graph::Instance& instance(Station& station, std::int64_t samples, bool training, int arena);
  Share whole() const { return {{0, options_.oars}}; }
  PreparedStep& prepare(std::int64_t samples, const Share& share);
  int arena_of(std::size_t task) const { return schedule_ == Schedule::layer_by_layer ? static_cast<int>(task) : 0; }
  float* gradient_place(const SlotPlace& place, int parameter) const;
  float* statistics_place(const SlotPlace& place) const;
  observe::TaskTime* profiled(observe::TaskTime& time) const { return options_.profile ? &time : nullptr; }
  void row_thread(int thread, const Row& row);
  void tell_progress(const Station& station, const Row& row) const;
  bool advance(Station& station, const Row& row, Hand& hand);
  void go_forward(Station& station, const Row& row, base::Range tasks);
  void go_back(Station& station, const Row& row, base::Range tasks, std::size_t segment);
  void end_oars(Station& station, const Row& row, base::Range tasks);
  void begin_oar(const Row& row, const OarTask& task, const graph::Instance& instance, ops::OarRun& run) const;
  static std::int64_t tasks_of(const Station& station, const Row& row);
  static bool work_is_done(const Station& station, const Row& row);
  std::int64_t work_left(const Station& station, const Row& row) const;
  void use_chunk(Hand& hand, const Row& row, int layer, int chunk);
  void late_sums(Hand& hand, const Row& row, const Chunk& piece) const;
  void learn_pace(std::int64_t samples);
  RowReport report(const PreparedStep& step, double wall) const;

  CrewOptions options_;
  graph::Network network_;
  std::map<std::pair<std::int64_t, bool>, std::unique_ptr<graph::Program>> programs_;
  const graph::Program* first_program_ = nullptr;  // its layouts are everybody's
  tensor::ParameterSpace space_;
  tensor::Buffer weights_;
  float* placed_gradient_ = nullptr;
  std::unique_ptr<graph::WeightForms> forms_;
  std::vector<std::unique_ptr<Station>> stations_;
  std::vector<std::unique_ptr<Hand>> hands_;
  struct StepKey {
    std::int64_t samples = 0, first_oar = 0, end_oar = 0;
    std::int64_t first_of_mean = 0, end_of_mean = 0;
    friend auto operator<=>(const StepKey&, const StepKey&) = default;  // NOLINT(modernize-use-nullptr)
  };
  std::map<StepKey, PreparedStep> steps_;
  Schedule schedule_ = Schedule::oar_by_oar;
  bool late_ = false;  // gradients that can be made late are: every oar's arena is there until the step ends
  Layers layers_;
  base::News news_;
  std::unique_ptr<LayerQueue> queue_;
  Exchange exchange_;
  Pace pace_;
  std::int64_t paced_samples_ = 0;                  // of the steps from which it was learnt
  std::vector<MovingStatistic> moving_statistics_;  // those of nodes that lead nowhere stay as they are
  std::vector<double> oar_loss_, oar_correct_;
  const PreparedStep* current_ = nullptr;  // rowed, not finished
  std::int64_t current_samples_ = 0;
  std::vector<float> nothing_;                       // the gradient of what no gradient reaches
  std::vector<const float*> nothings_, statistics_;  // per partial of the last step
  tensor::Buffer kept_;
  bool keeps_ = false;  // kept_ holds the gradient of the current step
  std::int64_t profiled_ns_ = 0, profiled_steps_ = 0;
  base::ThreadTeam team_;
};

}  // namespace trireme::crew
