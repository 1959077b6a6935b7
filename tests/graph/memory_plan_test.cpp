// The memory plan. A simulation runs every task on a model of the arena that knows which value each line of memory
// holds, and checks that whatever is read is still there; then the real thing runs on poisoned memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::graph {
namespace {

using support::SingleRun;

// Contents are numbered: a value has its own number, except a view, which is its source's content; workspaces and
// gradients have numbers too. 0 is unknown content.
class ArenaModel {
 public:
  explicit ArenaModel(const Plan& plan) : plan_(plan), lines_(plan.arena_bytes / tensor::kAlignment, 0) {}

  void run() {
    EXPECT_EQ(plan_.scratch_offset % tensor::kAlignment, 0u);
    for (const int input : plan_.inputs) write(input);
    write(plan_.target);
    for (const PlanTask& task : plan_.tasks) forward(task);
    for (const PlanBackward& step : plan_.backward) backward(step);
    if (plan_.backward.empty()) expect_holds(plan_.prediction, "the prediction at the end");
  }

 private:
  struct Region {
    std::size_t begin, end;
    bool overlaps(const Region& other) const { return begin < other.end && other.begin < end; }
    bool operator==(const Region&) const = default;
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  Region region(int value) const {
    const PlanValue& v = plan_.values[at(value)];
    EXPECT_EQ(v.offset % tensor::kAlignment, 0u);
    const Region r{v.offset / tensor::kAlignment, (v.offset + v.bytes() + tensor::kAlignment - 1) / tensor::kAlignment};
    EXPECT_LE(r.end * tensor::kAlignment, plan_.scratch_offset) << "a value lies in the scratch";
    return r;
  }
  Region workspace(const PlanTask& task) const {
    const std::size_t bytes = task.kernel->plan().workspace_bytes;
    if (bytes == 0) return {0, 0};
    const Region r{task.workspace / tensor::kAlignment,
                   (task.workspace + bytes + tensor::kAlignment - 1) / tensor::kAlignment};
    EXPECT_LE(r.end * tensor::kAlignment, plan_.scratch_offset);
    return r;
  }

  void mark(const Region& r, int content) {
    ASSERT_LE(r.end, lines_.size());
    std::fill(lines_.begin() + static_cast<std::ptrdiff_t>(r.begin),
              lines_.begin() + static_cast<std::ptrdiff_t>(r.end), content);
  }
  void write(int value) {
    content_[value] = ++last_content_;
    mark(region(value), content_[value]);
  }
  void expect_region_holds(const Region& r, int content, const std::string& what) const {
    for (std::size_t line = r.begin; line < r.end; ++line)
      if (lines_[line] != content) {
        ADD_FAILURE() << what << " was overwritten or never written";
        return;
      }
  }
  void expect_holds(int value, const std::string& what) const {
    const auto found = content_.find(value);
    ASSERT_NE(found, content_.end()) << what << " was never written";
    expect_region_holds(region(value), found->second, what);
  }

  void forward(const PlanTask& task) {
    const ops::KernelPlan& plan = task.kernel->plan();
    for (std::size_t s = 0; s < task.src.size(); ++s)
      expect_holds(task.src[s], task.name + " input " + std::to_string(s));
    EXPECT_LE(plan_.scratch_offset + plan.scratch_bytes, plan_.arena_bytes);
    if (plan.view) {
      EXPECT_EQ(region(task.dst), region(task.src[0])) << task.name;
      content_[task.dst] = content_[task.src[0]];
      return;
    }
    if (plan.dst_holds_src) {  // the memory has got more content, none has gone
      EXPECT_EQ(region(task.dst), region(task.src[0])) << task.name;
      for (std::size_t s = 1; s < task.src.size(); ++s)
        EXPECT_FALSE(region(task.src[s]).overlaps(region(task.dst))) << task.name;
      content_[task.dst] = content_[task.src[0]];
      return;
    }
    for (const int src : task.src) {
      const bool in_place =
          plan.forward_in_place && region(src) == region(task.dst) && region(src) == region(task.src[0]);
      EXPECT_TRUE(in_place || !region(src).overlaps(region(task.dst))) << task.name << " writes over its input";
      EXPECT_FALSE(region(src).overlaps(workspace(task))) << task.name;
    }
    EXPECT_FALSE(region(task.dst).overlaps(workspace(task))) << task.name;
    write(task.dst);
    work_content_[&task] = ++last_content_;
    mark(workspace(task), last_content_);
  }

  void backward(const PlanBackward& step) {
    const PlanTask& task = plan_.tasks[at(step.task)];
    const ops::KernelPlan& plan = task.kernel->plan();
    std::vector<Region> kept;
    const auto needed = [&](int value, const std::string& what) {
      expect_holds(value, task.name + ": " + what + " in backward");
      kept.push_back(region(value));
    };
    if (!plan.view) {
      if (plan.backward_needs_src || task.is_loss)
        for (const int src : task.src) needed(src, "input");
      if (plan.backward_needs_dst) needed(task.dst, "output");
      expect_region_holds(workspace(task), work_content_[&task], task.name + ": workspace");
      kept.push_back(workspace(task));
    }
    if (!task.is_loss) expect_holds(task.diff_dst, task.name + ": gradient of the output");
    for (std::size_t s = 0; s < task.diff_src.size(); ++s) {
      const int diff = task.diff_src[s];
      if (diff < 0) continue;
      if (task.add_diff_src && s == 0) expect_holds(diff, task.name + ": what its gradient is added to");
      if (plan.view || (plan.dst_holds_src && s == 0)) {
        EXPECT_EQ(region(diff), region(task.diff_dst)) << task.name;
        content_[diff] = content_[task.diff_dst];
        continue;
      }
      for (const Region& other : kept) EXPECT_FALSE(region(diff).overlaps(other)) << task.name << " gradient " << s;
      kept.push_back(region(diff));
      if (task.diff_dst < 0) continue;
      const bool in_place = s == 0 && plan.backward_in_place && region(diff) == region(task.diff_dst);
      EXPECT_TRUE(in_place || !region(diff).overlaps(region(task.diff_dst))) << task.name << " gradient " << s;
    }
    if (!plan.view && !plan.dst_holds_src && task.diff_dst >= 0) {  // kernels may overwrite it
      for (const Region& other : kept) {
        const bool in_place = plan.backward_in_place && task.diff_src[0] >= 0 && other == region(task.diff_src[0]);
        EXPECT_TRUE(in_place || !region(task.diff_dst).overlaps(other)) << task.name << " spoils what it reads";
      }
      mark(region(task.diff_dst), ++last_content_);
    }
    if (!plan.view)
      for (std::size_t s = 0; s < task.diff_src.size(); ++s)
        if (task.diff_src[s] >= 0 && !(plan.dst_holds_src && s == 0)) write(task.diff_src[s]);
    for (const auto& add : step.accumulate) {
      expect_holds(add.from, task.name + ": what is added");
      expect_holds(add.into, task.name + ": what it is added to");
      EXPECT_FALSE(region(add.from).overlaps(region(add.into))) << task.name;
      write(add.into);
    }
  }

  const Plan& plan_;
  std::vector<int> lines_;
  std::map<int, int> content_;  // value -> what its memory should hold
  std::map<const PlanTask*, int> work_content_;
  int last_content_ = 0;
};

std::vector<Network> networks() {
  std::vector<Network> all;
  for (const Network& net : support::small_networks()) {
    all.push_back(net);
    all.push_back(fuse(net));
  }
  all.push_back(fuse(support::resnet20()));
  all.push_back(fuse(support::densenet40()));
  return all;
}

TEST(MemoryPlan, NothingIsOverwrittenWhileItIsNeeded) {
  for (const Network& net : networks())
    for (const bool training : {true, false})
      for (const std::int64_t samples : {1, 3}) {
        SCOPED_TRACE(net.name() + (training ? " training" : " inference"));
        const Program program(net, {samples, training, 1}, {});
        ArenaModel(program.plan()).run();
      }
}

TEST(MemoryPlan, GradientsThatAreSharedAreNotSpoiled) {
  // Graphs in which one gradient passes on to several readers through ops that work in place.
  for (const bool with_relu : {false, true})
    for (const int readers : {1, 2, 3}) {
      Network net("shared");
      Value x = net.add("stem", support::conv3(16), {net.input("x", {3, 6, 6})});
      if (with_relu) x = net.add("relu", ops::relu(), {x});
      Value sum = x;
      for (int r = 0; r < readers; ++r) {
        const std::string n = std::to_string(r);
        const Value y = net.add("bn" + n, ops::batch_norm(), {x});
        sum = net.add("add" + n, ops::add(), {sum, y});
        sum = net.add("tanh" + n, ops::tanh(), {sum});
      }
      support::classify(net, sum);
      ArenaModel(Program(net, {2, true, 1}, {}).plan()).run();
      ArenaModel(Program(fuse(net), {2, true, 1}, {}).plan()).run();
    }
}

// Concats of a chain share one memory when all other readers take rows with room, and only then.
TEST(MemoryPlan, ConcatsThatAddToOneAnotherLieInOneMemory) {
  const auto in_place = [](const Network& net) {
    const Program program(net, {2, true, 1}, {});
    return std::ranges::count_if(program.plan().tasks,
                                 [](const PlanTask& task) { return task.kernel->plan().dst_holds_src; });
  };
  if (base::active_isa() == base::Isa::generic) GTEST_SKIP() << "norms are not folded without fma instructions";
  EXPECT_EQ(in_place(fuse(support::bottleneck_block())), 3);
  EXPECT_EQ(in_place(support::bottleneck_block()), 0) << "a batch norm by itself reads no rows with room";
  EXPECT_EQ(in_place(fuse(support::dense_block())), 0) << "each makes its own copy of the first";
}

// The bits of everything a run gives.
std::vector<std::uint32_t> bits_of(SingleRun& single) {
  single.fill();
  const ops::OarRun oar = single.run();
  std::vector<std::uint32_t> bits(4);
  std::memcpy(bits.data(), &oar.loss, 8);
  std::memcpy(bits.data() + 2, &oar.correct, 8);
  const auto add = [&](const std::vector<float>& values) {
    const std::size_t before = bits.size();
    bits.resize(before + values.size());
    std::memcpy(bits.data() + before, values.data(), values.size() * sizeof(float));
  };
  if (single.program().options().training)
    for (const auto& gradient : single.gradients()) add(gradient);
  else
    add({single.instance().prediction(),
         single.instance().prediction() + single.instance().prediction_layout().elements()});
  return bits;
}

TEST(MemoryPlan, PoisonedMemoryMakesNoDifference) {
  for (const Network& net : networks())
    for (const bool training : {true, false}) {
      SCOPED_TRACE(net.name() + (training ? " training" : " inference"));
      SingleRun single(net, 3, training);
      const auto clean = bits_of(single);
      for (const int poison : {0xff, 0x7f}) {  // NaN, and a huge number
        std::memset(single.arena().data(), poison, single.arena().bytes());
        EXPECT_TRUE(bits_of(single) == clean) << "memory is read before it is written";
      }
    }
}

TEST(MemoryPlan, RunningTwiceGivesTheSameBits) {
  for (const Network& net : networks()) {
    SingleRun single(net, 2);
    const auto first = bits_of(single);
    single.fill(1);
    single.run();  // another batch in between
    EXPECT_TRUE(bits_of(single) == first) << net.name();
    SingleRun other(net, 2);
    EXPECT_TRUE(bits_of(other) == first) << net.name() << ", another instance";
  }
}

TEST(MemoryPlan, PaddingOfGradientsIsZero) {
  for (const Network& net : networks()) {
    SingleRun single(net, 3);
    single.fill();
    single.run();
    for (const tensor::ParameterRange& range : single.space().ranges()) {
      std::vector<float> plain(static_cast<std::size_t>(range.count()));
      std::vector<float> again(static_cast<std::size_t>(range.floats()));
      const float* live = single.gradient().floats() + range.offset;
      tensor::to_plain(range.layout, live, plain.data());
      tensor::from_plain(range.layout, plain.data(), again.data());  // zeroes the padding
      EXPECT_TRUE(std::equal(again.begin(), again.end(), live)) << net.name() << " " << range.name;
    }
  }
}

TEST(MemoryPlan, IsSmallerThanAllValuesTogether) {
  const Program program(fuse(support::resnet20()), {8, true, 1}, {});
  std::size_t all = 0;
  for (const PlanValue& value : program.plan().values) all += value.bytes();
  EXPECT_LT(program.arena_bytes(), all * 8 / 10);
  const Program inference(fuse(support::resnet20()), {8, false, 1}, {});
  EXPECT_LT(inference.arena_bytes(), program.arena_bytes() / 4);
}

}  // namespace
}  // namespace trireme::graph
