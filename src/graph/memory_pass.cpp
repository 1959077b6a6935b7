// The memory pass: places every value, every workspace and the scratch region in one arena.
//
// Time counts the forward tasks, then the backward steps. A storage (a value and all its aliases, or a workspace) lives
// from its first writer to its last reader; two storages may overlap in memory only if their lifetimes do not. Ops that
// allow it work in place when the old content has no later reader. The largest storages are placed first, each at the
// lowest offset that is free during its life.
#include <algorithm>

#include "base/index.h"
#include "graph/plan.h"
#include "tensor/buffer.h"

namespace trireme::graph {
namespace {

using base::at;

struct Storage {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t offset = 0;
};

class MemoryPass {
 public:
  explicit MemoryPass(Plan& plan) : plan_(plan), life_(plan.values.size(), {1 << 30, -1}) {}

  void run() {
    find_lives();
    work_in_place();
    place();
  }

 private:
  struct Life {
    int first, last;
  };

  int root(int value) const {
    while (plan_.values[at(value)].alias_of >= 0) value = plan_.values[at(value)].alias_of;
    return value;
  }

  void touch(int value, int time) {
    if (value < 0) return;
    Life& life = life_[at(value)];
    life.first = std::min(life.first, time);
    life.last = std::max(life.last, time);
  }

  void find_lives() {
    const int forward_tasks = static_cast<int>(plan_.tasks.size());
    const int end = forward_tasks + static_cast<int>(plan_.backward.size());
    for (const int input : plan_.inputs) touch(input, 0);
    touch(plan_.target, 0);
    for (int t = 0; t < forward_tasks; ++t) {
      const PlanTask& task = plan_.tasks[at(t)];
      for (const int src : task.src) touch(src, t);
      touch(task.dst, t);
    }
    touch(plan_.prediction, plan_.backward.empty() ? end : forward_tasks - 1);
    backward_time_.assign(plan_.tasks.size(), -1);
    for (std::size_t b = 0; b < plan_.backward.size(); ++b) {
      const PlanBackward& step = plan_.backward[b];
      const PlanTask& task = plan_.tasks[at(step.task)];
      const int time = forward_tasks + static_cast<int>(b);
      backward_time_[at(step.task)] = time;
      const ops::KernelPlan& plan = task.kernel->plan();
      if (plan.backward_needs_src || task.is_loss)
        for (const int src : task.src) touch(src, time);
      if (plan.backward_needs_dst) touch(task.dst, time);
      touch(task.diff_dst, time);
      for (const int diff : task.diff_src) touch(diff, time);
      if (plan.late_weights) touch(task.src[0], end), touch(task.diff_dst, end);
      for (const auto& add : step.accumulate) {
        touch(add.from, time);
        touch(add.into, time);
      }
    }
  }

  // The life of a value with all its aliases.
  Life class_life(int value) const {
    Life all{1 << 30, -1};
    const int wanted = root(value);
    for (std::size_t v = 0; v < plan_.values.size(); ++v)
      if (root(static_cast<int>(v)) == wanted) {
        all.first = std::min(all.first, life_[v].first);
        all.last = std::max(all.last, life_[v].last);
      }
    return all;
  }

  void share(int from, int into, int time) {
    if (from < 0 || into < 0 || root(from) == root(into)) return;
    if (plan_.values[at(into)].alias_of >= 0) return;
    if (plan_.values[at(from)].bytes() != plan_.values[at(into)].bytes()) return;
    if (class_life(from).last == time) plan_.values[at(into)].alias_of = from;
  }

  void work_in_place() {
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t) {
      const PlanTask& task = plan_.tasks[t];
      if (task.kernel->plan().forward_in_place) share(task.src[0], task.dst, static_cast<int>(t));
    }
    for (const PlanBackward& step : plan_.backward) {
      const PlanTask& task = plan_.tasks[at(step.task)];
      if (task.kernel->plan().backward_in_place && step.accumulate.empty() && !task.add_diff_src)
        share(task.diff_dst, task.diff_src[0], backward_time_[at(step.task)]);
    }
  }

  void place() {
    std::vector<Storage> storages;
    std::vector<int> storage_of(plan_.values.size(), -1);
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      const int owner = root(static_cast<int>(v));
      int& index = storage_of[at(owner)];
      if (index < 0) {
        index = static_cast<int>(storages.size());
        storages.push_back({0, 1 << 30, -1, 0});
      }
      Storage& storage = storages[at(index)];
      storage.bytes = std::max(storage.bytes, tensor::align_up(plan_.values[v].bytes()));
      storage.first = std::min(storage.first, life_[v].first);
      storage.last = std::max(storage.last, life_[v].last);
    }
    std::vector<int> workspace_of(plan_.tasks.size(), -1);
    std::size_t scratch = 0;
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t) {
      const ops::KernelPlan& plan = plan_.tasks[t].kernel->plan();
      scratch = std::max(scratch, plan.scratch_bytes);
      if (plan.workspace_bytes == 0) continue;
      workspace_of[t] = static_cast<int>(storages.size());
      const int time = static_cast<int>(t);
      storages.push_back({tensor::align_up(plan.workspace_bytes), time, std::max(time, backward_time_[t]), 0});
      const int earlier = plan_.tasks[t].known_by;
      if (earlier >= 0) {
        int& last = storages[at(workspace_of[at(earlier)])].last;
        last = std::max(last, time);
      }
    }
    const std::size_t end = assign_offsets(storages);
    for (std::size_t v = 0; v < plan_.values.size(); ++v)
      plan_.values[v].offset = storages[at(storage_of[at(root(static_cast<int>(v)))])].offset;
    for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
      if (workspace_of[t] >= 0) plan_.tasks[t].workspace = storages[at(workspace_of[t])].offset;
    plan_.scratch_offset = end;
    plan_.arena_bytes = end + tensor::align_up(scratch) + tensor::kAlignment;
  }

  // Returns the end of the used memory.
  static std::size_t assign_offsets(std::vector<Storage>& storages) {
    std::vector<Storage*> order;
    for (Storage& storage : storages) order.push_back(&storage);
    std::stable_sort(order.begin(), order.end(),
                     [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
    std::vector<Storage*> placed;
    std::size_t end = 0;
    for (Storage* storage : order) {
      std::vector<const Storage*> rivals;
      for (const Storage* other : placed)
        if (other->first <= storage->last && storage->first <= other->last) rivals.push_back(other);
      std::sort(rivals.begin(), rivals.end(), [](const Storage* a, const Storage* b) { return a->offset < b->offset; });
      std::size_t offset = 0;
      for (const Storage* rival : rivals) {
        if (offset + storage->bytes <= rival->offset) break;
        offset = std::max(offset, rival->offset + rival->bytes);
      }
      storage->offset = offset;
      end = std::max(end, offset + storage->bytes);
      placed.push_back(storage);
    }
    return end;
  }

  Plan& plan_;
  std::vector<Life> life_;
  std::vector<int> backward_time_;  // per task, or -1
};

}  // namespace

void memory_pass(Plan& plan) { MemoryPass(plan).run(); }

}  // namespace trireme::graph
