#include "planning/placement/turns/first_touch.hpp"

#include <algorithm>

#include "planning/placement/turns/plan_walk.hpp"

namespace sluice {
namespace {

/// Placements for two sizes are different only if one size is smaller by at least this share of the bytes that all
/// groups need. This limits the number of placements.
constexpr std::int64_t most_placements = 64;

/// The bytes of each group in the first memories, in the order in which the plan lists its actions.
class BytesOfGroups {
 public:
  BytesOfGroups(const Plan& plan, const std::vector<FirstMemory>& firsts, const KindGroups& kinds)
      : firsts_(firsts), kinds_(kinds) {
    for (std::uint32_t t = 0; t < plan.tensors.size(); ++t)
      change({t, plan.tensors[t].home}, plan.tensors[t].bytes);
    const std::int64_t enough = iterations_to_replay(plan);
    PlanWalk walk(plan);
    walk.through([&](const PlanWalk::Execution& execution) {
      const bool body = plan.section_of(execution.action) == Section::body;
      if (body && execution.iteration >= enough) return false;
      for (const Placement& made : plan.actions[execution.action].allocates)
        change(made, plan.tensors[made.tensor].bytes);
      for (const PlanWalk::Instance& freed : execution.freed)
        change(freed.placement, -plan.tensors[freed.placement.tensor].bytes);
      return true;
    });
  }

  /// Returns the groups in the order of their first use.
  const std::vector<std::size_t>& used() const { return used_; }

  /// Returns the most bytes that the groups with counts[group] occupy together in each first memory.
  std::vector<std::int64_t> most_of_each(const std::vector<char>& counts) const {
    std::vector<std::int64_t> bytes(firsts_.size(), 0), most = bytes;
    for (const Change& change : changes_) {
      if (counts[change.group] == 0) continue;
      std::int64_t& now = bytes[change.memory];
      now += change.bytes;
      most[change.memory] = std::max(most[change.memory], now);
    }
    return most;
  }
  /// Returns the greatest of these numbers of bytes.
  std::int64_t most(const std::vector<char>& counts) const {
    return std::ranges::max(most_of_each(counts));
  }
  /// Returns whether these groups fit into the first memories.
  bool fit(const std::vector<char>& counts) const {
    const std::vector<std::int64_t> bytes = most_of_each(counts);
    for (std::size_t f = 0; f < firsts_.size(); ++f)
      if (bytes[f] > firsts_[f].most.value_or(bytes[f])) return false;
    return true;
  }

 private:
  struct Change {
    std::size_t group = 0, memory = 0;  ///< the indices of the group and of the first memory
    std::int64_t bytes = 0;
  };

  void change(const Placement& of, std::int64_t bytes) {
    const auto first = std::ranges::find(firsts_, of.pool, &FirstMemory::pool);
    if (first == firsts_.end()) return;
    const std::optional<std::size_t> group = kinds_.group_of(of);
    if (!group) return;
    const auto memory = static_cast<std::size_t>(first - firsts_.begin());
    if (std::ranges::find(used_, *group) == used_.end()) used_.push_back(*group);
    // Changes of one group in a row count as one if the bytes only grow or only shrink.
    Change* const last = changes_.empty() ? nullptr : &changes_.back();
    if (last && last->group == *group && last->memory == memory && (last->bytes > 0) == (bytes > 0))
      last->bytes += bytes;
    else
      changes_.push_back({*group, memory, bytes});
  }

  const std::vector<FirstMemory>& firsts_;
  const KindGroups& kinds_;
  std::vector<std::size_t> used_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<TensorKinds> filled_placements(const Plan& plan, const std::vector<FirstMemory>& firsts,
                                           const KindGroups& kinds, FillOrder order) {
  const BytesOfGroups bytes(plan, firsts, kinds);
  std::vector<std::size_t> groups = bytes.used();
  if (order == FillOrder::listed) std::ranges::sort(groups);
  const std::int64_t needed = bytes.most(std::vector<char>(kinds.groups.size(), 1));
  std::vector<TensorKinds> placements;
  for (std::int64_t size = needed; size >= 0;) {
    std::vector<char> fast(kinds.groups.size(), 0);
    TensorKinds slow;
    std::int64_t used = 0;
    for (const std::size_t group : groups) {
      fast[group] = 1;
      const std::int64_t with_group = bytes.most(fast);
      if (with_group <= size) {
        used = with_group;
        continue;
      }
      fast[group] = 0;
      slow.insert(kinds.groups[group].begin(), kinds.groups[group].end());
    }
    // Every size from `used` to `size` leads to this placement.
    if (bytes.fit(fast)) placements.push_back(std::move(slow));
    size = std::min(used - 1, size - needed / most_placements);
  }
  return placements;
}

}  // namespace sluice
