#include "planning/placement/turns/first_touch.hpp"

#include <algorithm>
#include <map>

#include "planning/placement/turns/plan_walk.hpp"

namespace sluice {
namespace {

/// Placements for two sizes are different only if one size is smaller by at least this share of the bytes that all kinds
/// need. This limits the number of placements.
constexpr std::int64_t most_placements = 64;

/// The bytes of each kind in the first memories, in the order in which the plan lists its actions. Kinds have numbers, in
/// the order of their first use.
class BytesOfKinds {
 public:
  BytesOfKinds(const Plan& plan, const std::vector<FirstMemory>& firsts,
               const std::vector<std::optional<TensorKind>>& kind_of)
      : firsts_(firsts), kind_of_(kind_of) {
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

  const std::vector<TensorKind>& kinds() const { return kinds_; }

  /// Returns the most bytes that the kinds with counts[number] occupy together in each first memory.
  std::vector<std::int64_t> most_of_each(const std::vector<char>& counts) const {
    std::vector<std::int64_t> bytes(firsts_.size(), 0), most = bytes;
    for (const Change& change : changes_) {
      if (counts[change.kind] == 0) continue;
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
  /// Returns whether these kinds fit into the first memories.
  bool fit(const std::vector<char>& counts) const {
    const std::vector<std::int64_t> bytes = most_of_each(counts);
    for (std::size_t f = 0; f < firsts_.size(); ++f)
      if (bytes[f] > firsts_[f].most.value_or(bytes[f])) return false;
    return true;
  }

 private:
  struct Change {
    std::size_t kind = 0,
                memory = 0;  ///< the number of the kind, and the index of the first memory
    std::int64_t bytes = 0;
  };

  void change(const Placement& of, std::int64_t bytes) {
    const auto first = std::ranges::find(firsts_, of.pool, &FirstMemory::pool);
    const std::optional<TensorKind>& kind = kind_of_[of.tensor];
    if (first == firsts_.end() || !kind) return;
    const auto memory = static_cast<std::size_t>(first - firsts_.begin());
    const auto [number, fresh] = numbers_.try_emplace(*kind, kinds_.size());
    if (fresh) kinds_.push_back(*kind);
    // Changes of one kind in a row count as one if the bytes only grow or only shrink.
    Change* const last = changes_.empty() ? nullptr : &changes_.back();
    if (last && last->kind == number->second && last->memory == memory &&
        (last->bytes > 0) == (bytes > 0))
      last->bytes += bytes;
    else
      changes_.push_back({number->second, memory, bytes});
  }

  const std::vector<FirstMemory>& firsts_;
  const std::vector<std::optional<TensorKind>>& kind_of_;
  std::map<TensorKind, std::size_t> numbers_;
  std::vector<TensorKind> kinds_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<TensorKinds> first_touch_placements(
    const Plan& plan, const std::vector<FirstMemory>& firsts,
    const std::vector<std::optional<TensorKind>>& kind_of) {
  const BytesOfKinds bytes(plan, firsts, kind_of);
  const std::vector<TensorKind>& kinds = bytes.kinds();
  const std::int64_t needed = bytes.most(std::vector<char>(kinds.size(), 1));
  std::vector<TensorKinds> placements;
  for (std::int64_t size = needed; size >= 0;) {
    std::vector<char> fast(kinds.size(), 0);
    TensorKinds slow;
    std::int64_t used = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      fast[k] = 1;
      const std::int64_t with_kind = bytes.most(fast);
      if (with_kind <= size) {
        used = with_kind;
        continue;
      }
      fast[k] = 0;
      slow.insert(kinds[k]);
    }
    // Every size from `used` to `size` leads to this placement.
    if (bytes.fit(fast)) placements.push_back(std::move(slow));
    size = std::min(used - 1, size - needed / most_placements);
  }
  return placements;
}

}  // namespace sluice
