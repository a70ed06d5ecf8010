#include "planning/placement/turns/first_touch.hpp"

#include <algorithm>
#include <map>

#include "planning/placement/turns/plan_walk.hpp"

namespace sluice {
namespace {

/// Placements for two sizes are different only if one size is smaller by at least this share of the bytes that all kinds
/// need. This limits the number of placements.
constexpr std::int64_t most_placements = 64;

/// The bytes of each kind in the first memory, in the order in which the plan lists its actions. Kinds have numbers, in the
/// order of their first use.
class BytesOfKinds {
 public:
  BytesOfKinds(const Plan& plan, std::uint32_t first,
               const std::vector<std::optional<TensorKind>>& kind_of)
      : kind_of_(kind_of) {
    for (std::uint32_t t = 0; t < plan.tensors.size(); ++t)
      if (plan.tensors[t].home == first) change(t, plan.tensors[t].bytes);
    const std::int64_t enough = iterations_to_replay(plan);
    PlanWalk walk(plan);
    walk.through([&](const PlanWalk::Execution& execution) {
      const bool body = plan.section_of(execution.action) == Section::body;
      if (body && execution.iteration >= enough) return false;
      for (const Placement& made : plan.actions[execution.action].allocates)
        if (made.pool == first) change(made.tensor, plan.tensors[made.tensor].bytes);
      for (const PlanWalk::Instance& freed : execution.freed)
        if (freed.placement.pool == first)
          change(freed.placement.tensor, -plan.tensors[freed.placement.tensor].bytes);
      return true;
    });
  }

  const std::vector<TensorKind>& kinds() const { return kinds_; }

  /// Returns the most bytes that the kinds with counts[number] occupy together.
  std::int64_t most(const std::vector<char>& counts) const {
    std::int64_t bytes = 0, most = 0;
    for (const Change& change : changes_) {
      if (counts[change.kind] == 0) continue;
      bytes += change.bytes;
      most = std::max(most, bytes);
    }
    return most;
  }

 private:
  struct Change {
    std::size_t kind = 0;
    std::int64_t bytes = 0;
  };

  void change(std::uint32_t tensor, std::int64_t bytes) {
    if (!kind_of_[tensor]) return;
    const auto [number, fresh] = numbers_.try_emplace(*kind_of_[tensor], kinds_.size());
    if (fresh) kinds_.push_back(*kind_of_[tensor]);
    // Changes of one kind in a row count as one if the bytes only grow or only shrink.
    Change* const last = changes_.empty() ? nullptr : &changes_.back();
    if (last && last->kind == number->second && (last->bytes > 0) == (bytes > 0))
      last->bytes += bytes;
    else
      changes_.push_back({number->second, bytes});
  }

  const std::vector<std::optional<TensorKind>>& kind_of_;
  std::map<TensorKind, std::size_t> numbers_;
  std::vector<TensorKind> kinds_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<TensorKinds> first_touch_placements(
    const Plan& plan, std::uint32_t first, const std::vector<std::optional<TensorKind>>& kind_of,
    std::optional<std::int64_t> most) {
  const BytesOfKinds bytes(plan, first, kind_of);
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
    if (!most || used <= *most) placements.push_back(std::move(slow));
    size = std::min(used - 1, size - needed / most_placements);
  }
  return placements;
}

}  // namespace sluice
