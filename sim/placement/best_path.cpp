#include "placement/best_path.hpp"

#include <algorithm>
#include <array>

#include "base/never.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

/// Where the tensor's content is: only in slow memory, in both memories, or only in fast memory.
enum State : std::uint8_t { slow, both, fast };
using Costs = std::array<double, 3>;

struct Step {
  std::array<State, 3> from{};
  std::array<char, 3> at_use{};  ///< 1 if the use is in fast memory
};

class Walk {
 public:
  explicit Walk(const PathPrices& prices)
      : prices_(prices), count_(prices.slow.size()), steps_(2 * count_) {}

  /// Returns the path with the lowest price from the state `begin`. If the first use makes the tensor (`made`), there
  /// is no gap before this use. `comes_back` says whether the path must end in the state `begin`.
  PricedPath run(State begin, bool made, bool comes_back) {
    Costs costs = {never, never, never};
    costs[begin] = begin == slow ? 0 : made ? never : prices_.hold[0];
    for (std::size_t i = 0; i < count_; ++i) {
      if (i > 0) costs = after_gap(costs, i);
      costs = after_use(costs, i, made && i == 0);
    }
    // If the tensor must come back to slow memory, the path may be in another state after the last use. If its content
    // is then only in fast memory, the path also pays for a save. If the tensor must come back to the state `both`
    // or `fast`, the path must be in exactly this state after the last use.
    State end = slow;
    double cost = never;
    for (const State s : {slow, both, fast}) {
      const double behind = !comes_back ? 0 : s == begin ? 0 : begin == slow ? leave(s, 0) : never;
      if (costs[s] + behind < cost) {
        cost = costs[s] + behind;
        end = s;
      }
    }
    PricedPath found{{std::vector<char>(count_, 0), std::vector<char>(count_, 0)}, cost};
    if (cost == never) return found;
    State state = end;
    for (std::size_t i = count_; i-- > 0;) {
      found.path.use[i] = steps_[2 * i + 1].at_use[state];
      state = steps_[2 * i + 1].from[state];
      if (i == 0) break;
      found.path.gap[i] = state != slow;
      state = steps_[2 * i].from[state];
    }
    if (!made) found.path.gap[0] = begin != slow;
    return found;
  }

 private:
  double leave(State from, std::size_t gap) const { return from == fast ? prices_.save[gap] : 0; }

  Costs after_gap(const Costs& before, std::size_t i) {
    Costs costs = {never, never, never};
    for (const State s : {slow, both, fast}) {
      take(costs, 2 * i, slow, s, before[s] + leave(s, i), 0);
      if (s != slow) take(costs, 2 * i, s, s, before[s] + prices_.hold[i], 0);
    }
    return costs;
  }

  Costs after_use(const Costs& before, std::size_t i, bool makes) {
    Costs costs = {never, never, never};
    const State behind = (*prices_.written)[i] ? fast : both;
    const double fetch = makes ? 0 : prices_.fetch[i];
    take(costs, 2 * i + 1, slow, slow, before[slow] + prices_.slow[i], 0);
    take(costs, 2 * i + 1, behind, slow, before[slow] + fetch + prices_.fast[i], 1);
    take(costs, 2 * i + 1, behind, both, before[both] + prices_.fast[i], 1);
    take(costs, 2 * i + 1, fast, fast, before[fast] + prices_.fast[i], 1);
    return costs;
  }

  void take(Costs& costs, std::size_t step, State to, State from, double cost, char at_use) {
    if (!(cost < costs[to])) return;
    costs[to] = cost;
    steps_[step].from[to] = from;
    steps_[step].at_use[to] = at_use;
  }

  const PathPrices& prices_;
  std::size_t count_;
  std::vector<Step> steps_;  ///< element 2i is for the gap before use i, element 2i + 1 for use i
};

void keep_better(PricedPath& best, PricedPath other) {
  if (other.cost < best.cost) best = std::move(other);
}

}  // namespace

PricedPath best_path(const PathPrices& prices) {
  Walk walk(prices);
  const bool made = prices.begins == Begins::made, stays = prices.begins == Begins::stays;
  PricedPath best = walk.run(slow, made, stays);
  if (made) return best;
  if (prices.from_slow) {
    keep_better(best, best_constant_path(prices));
    return best;
  }
  keep_better(best, walk.run(both, /*made=*/false, stays));
  const std::vector<char>& written = *prices.written;
  if (stays && std::find(written.begin(), written.end(), 1) != written.end())
    keep_better(best, walk.run(fast, /*made=*/false, /*comes_back=*/true));
  return best;
}

PricedPath best_constant_path(const PathPrices& prices) {
  const std::size_t count = prices.slow.size();
  const bool made = prices.begins == Begins::made;
  double slow = 0, fast = 0;
  for (std::size_t i = 0; i < count; ++i) {
    slow += prices.slow[i];
    fast += prices.fast[i] + (made && i == 0 ? 0 : prices.hold[i]);
  }
  const char where = fast < slow;
  PricedPath found{{std::vector<char>(count, where), std::vector<char>(count, where)},
                   std::min(slow, fast)};
  if (made) found.path.gap[0] = 0;
  return found;
}

}  // namespace sluice
