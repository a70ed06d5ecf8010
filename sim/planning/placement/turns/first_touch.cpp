#include "planning/placement/turns/first_touch.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "planning/placement/turns/plan_walk.hpp"

namespace sluice {
namespace {

/// Placements for two sizes are different only if one size is smaller by at least this share of the bytes that all
/// groups need. This limits the number of placements.
constexpr std::int64_t most_placements = 64;

/// The bytes of each group in the first memories, in the order in which the plan lists its actions. A moment is a part of
/// this order in which tensors are only made, or the beginning of the plan. At its end, each group has the most bytes.
class BytesOfGroups {
 public:
  /// A group has these bytes in a first memory from one moment to another one, both included.
  struct Stay {
    std::size_t memory = 0, first = 0, last = 0;
    std::int64_t bytes = 0;
  };

  BytesOfGroups(const Plan& plan, const std::vector<FirstMemory>& firsts, const KindGroups& kinds)
      : firsts_(firsts), kinds_(kinds), stays_(kinds.groups.size()), now_(kinds.groups.size()) {
    for (auto& of_group : now_) of_group.resize(firsts.size());
    for (std::uint32_t t = 0; t < plan.tensors.size(); ++t)
      add({t, plan.tensors[t].home}, plan.tensors[t].bytes);
    const std::int64_t enough = iterations_to_replay(plan);
    PlanWalk walk(plan);
    walk.through([&](const PlanWalk::Execution& execution) {
      const bool body = plan.section_of(execution.action) == Section::body;
      if (body && execution.iteration >= enough) return false;
      for (const Placement& made : plan.actions[execution.action].allocates)
        add(made, plan.tensors[made.tensor].bytes);
      for (const PlanWalk::Instance& freed : execution.freed)
        add(freed.placement, -plan.tensors[freed.placement.tensor].bytes);
      return true;
    });
    for (std::size_t g = 0; g < now_.size(); ++g)
      for (std::size_t m = 0; m < firsts.size(); ++m) end_stay(g, m, moments());
  }

  /// Returns the groups in the order of their first use.
  const std::vector<std::size_t>& used() const { return used_; }
  const std::vector<Stay>& stays(std::size_t group) const { return stays_[group]; }
  std::size_t moments() const { return moment_ + 1; }
  /// Returns the most bytes of the group in a first memory.
  std::int64_t most_of(std::size_t group) const {
    std::int64_t most = 0;
    for (const Stay& stay : stays_[group]) most = std::max(most, stay.bytes);
    return most;
  }

 private:
  void add(const Placement& of, std::int64_t bytes) {
    const auto first = std::ranges::find(firsts_, of.pool, &FirstMemory::pool);
    if (first == firsts_.end()) return;
    const std::optional<std::size_t> group = kinds_.group_of(of);
    if (!group) return;
    if (std::ranges::find(used_, *group) == used_.end()) used_.push_back(*group);
    // A tensor that leaves is still there at the end of the present moment.
    if (bytes >= 0 && std::exchange(freed_, false)) ++moment_;
    freed_ = freed_ || bytes < 0;
    const auto memory = static_cast<std::size_t>(first - firsts_.begin());
    end_stay(*group, memory, moment_ + (freed_ ? 1 : 0));
    now_[*group][memory].bytes += bytes;
  }

  /// The bytes of the group are about to change at the moment `next`.
  void end_stay(std::size_t group, std::size_t memory, std::size_t next) {
    Now& now = now_[group][memory];
    if (now.bytes > 0 && now.since < next)
      stays_[group].push_back({memory, now.since, next - 1, now.bytes});
    now.since = next;
  }

  struct Now {
    std::int64_t bytes = 0;
    std::size_t since = 0;
  };
  const std::vector<FirstMemory>& firsts_;
  const KindGroups& kinds_;
  std::vector<std::size_t> used_;
  std::vector<std::vector<Stay>> stays_;  ///< by group
  std::vector<std::vector<Now>> now_;     ///< by group and first memory
  std::size_t moment_ = 0;
  bool freed_ = false;  ///< whether a tensor has left since the present moment began
};

/// First memories that groups fill.
class FilledMemories {
 public:
  FilledMemories(const BytesOfGroups& bytes, std::size_t memories)
      : bytes_(bytes),
        levels_(memories, std::vector<std::int64_t>(bytes.moments(), 0)),
        most_(memories, 0) {}

  /// Adds a group if no memory then needs more than `size` bytes. Returns whether it was added.
  bool add(std::size_t group, std::int64_t size) {
    std::vector<std::int64_t> most = most_;
    for (const BytesOfGroups::Stay& stay : bytes_.stays(group)) {
      const auto [first, last] = levels_of(stay);
      most[stay.memory] = std::max(most[stay.memory], *std::max_element(first, last) + stay.bytes);
      if (most[stay.memory] > size) return false;
    }
    for (const BytesOfGroups::Stay& stay : bytes_.stays(group)) {
      const auto [first, last] = levels_of(stay);
      std::for_each(first, last, [&](std::int64_t& level) { level += stay.bytes; });
    }
    most_ = std::move(most);
    return true;
  }

  /// Returns the most bytes that each memory needs, and the greatest of these numbers.
  const std::vector<std::int64_t>& most_of_each() const { return most_; }
  std::int64_t most() const { return std::ranges::max(most_); }

 private:
  std::pair<std::vector<std::int64_t>::iterator, std::vector<std::int64_t>::iterator> levels_of(
      const BytesOfGroups::Stay& stay) {
    const auto begin = levels_[stay.memory].begin();
    return {begin + static_cast<std::ptrdiff_t>(stay.first),
            begin + static_cast<std::ptrdiff_t>(stay.last) + 1};
  }

  const BytesOfGroups& bytes_;
  std::vector<std::vector<std::int64_t>> levels_;  ///< by memory and moment
  std::vector<std::int64_t> most_;
};

/// Returns whether so many bytes fit into the first memories.
bool fit(const std::vector<std::int64_t>& bytes, const std::vector<FirstMemory>& firsts) {
  for (std::size_t f = 0; f < firsts.size(); ++f)
    if (bytes[f] > firsts[f].most.value_or(bytes[f])) return false;
  return true;
}

}  // namespace

std::vector<TensorKinds> filled_placements(const Plan& plan, const std::vector<FirstMemory>& firsts,
                                           const KindGroups& kinds, FillOrder order) {
  const BytesOfGroups bytes(plan, firsts, kinds);
  std::vector<std::size_t> groups = bytes.used();
  if (order != FillOrder::first_use) std::ranges::sort(groups);
  if (order == FillOrder::seconds_per_byte) {
    std::vector<double> per_byte;
    for (std::size_t g = 0; g < kinds.groups.size(); ++g) {
      const std::int64_t most = bytes.most_of(g);
      per_byte.push_back(most > 0 ? kinds.saved_s[g] / static_cast<double>(most) : 0);
    }
    std::ranges::stable_sort(groups, std::greater<>(), [&](std::size_t g) { return per_byte[g]; });
  }
  FilledMemories all(bytes, firsts.size());
  for (const std::size_t group : groups) all.add(group, std::numeric_limits<std::int64_t>::max());
  const std::int64_t needed = all.most();
  std::vector<TensorKinds> placements;
  for (std::int64_t size = needed; size >= 0;) {
    FilledMemories fast(bytes, firsts.size());
    TensorKinds slow;
    for (const std::size_t group : groups)
      if (!fast.add(group, size))
        slow.insert(kinds.groups[group].begin(), kinds.groups[group].end());
    // Every size from the bytes that are used to `size` leads to this placement.
    if (fit(fast.most_of_each(), firsts)) placements.push_back(std::move(slow));
    size = std::min(fast.most() - 1, size - needed / most_placements);
  }
  return placements;
}

}  // namespace sluice
