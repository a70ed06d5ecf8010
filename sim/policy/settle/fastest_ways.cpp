#include "policy/settle/fastest_ways.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/never.hpp"
#include "plan/tables.hpp"
#include "planning/run_seconds_below.hpp"

namespace sluice {

FastestWays::FastestWays(std::vector<Candidate> candidates, std::string device)
    : device_(std::move(device)) {
  add(std::move(candidates), 0);
}

void FastestWays::add(std::vector<Candidate> candidates, double at_least) {
  for (Candidate& one : candidates) {
    turns_.emplace(std::max(one.at_least, at_least), candidates_.size());
    candidates_.push_back(std::move(one));
  }
}

double FastestWays::rest_at_least() const {
  return turns_.empty() ? never : turns_.top().first;
}

void FastestWays::find_within(double seconds) {
  constexpr double rounding = 1 + 1e-9;
  while (rest_at_least() < never && rest_at_least() <= seconds * rounding) {
    const auto [at_least, number] = turns_.top();
    turns_.pop();
    check_interrupt();
    const Candidate candidate = std::move(candidates_[number]);
    if (!candidate.same_ways.empty() && !considered_.insert(candidate.same_ways).second) continue;
    try {
      if (candidate.open)
        add(candidate.open(), at_least);
      else
        candidate.simulate(never, [this](const Settled& way) { take(way); });
    } catch (const InputError&) {
      // The scenario did not ask for this way, so its error is ignored.
    } catch (const Infeasible&) {
    }
  }
}

/// Of ways with equal bytes and seconds, the one is taken whose text comes first in the alphabet: the order in which
/// ways are found depends on the capacity.
void FastestWays::take(const Settled& found) {
  if (!found.plan || found.seconds == never) return;
  Plan plan = found.plan();
  const auto pool = std::ranges::find(plan.pools, device_, &Pool::name);
  if (pool == plan.pools.end() || !pool->limit) return;
  LimitedWay way{.bytes = *pool->limit, .seconds = found.seconds, .text = found.text};
  const auto figures = [](const LimitedWay& one) {
    return std::tie(one.seconds, one.bytes, one.text);
  };
  auto first =
      std::ranges::find_if(ways_, [&](const SharedWay& one) { return one->bytes >= way.bytes; });
  const bool same_bytes = first != ways_.end() && (*first)->bytes == way.bytes;
  if (first != ways_.begin() && !(way.seconds < (*(first - 1))->seconds)) return;
  if (same_bytes && figures(**first) <= figures(way)) return;
  const auto last = std::find_if(first + (same_bytes ? 1 : 0), ways_.end(),
                                 [&](const SharedWay& one) { return one->seconds < way.seconds; });
  way.at_least = PlanTables(plan).contention_free() ? way.seconds : least_seconds_of(plan);
  way.plan = std::make_shared<const Plan>(std::move(plan));
  first = ways_.erase(first, last);
  ways_.insert(first, std::make_shared<const LimitedWay>(std::move(way)));
}

double FastestWays::fastest() {
  const auto seconds = [this] { return ways_.empty() ? never : ways_.back()->seconds; };
  while (rest_at_least() < never && rest_at_least() <= seconds()) find_within(rest_at_least());
  return seconds();
}

SharedWay FastestWays::within(double seconds) {
  find_within(seconds);
  const auto way =
      std::ranges::find_if(ways_, [&](const SharedWay& one) { return one->seconds <= seconds; });
  return way == ways_.end() ? nullptr : *way;
}

}  // namespace sluice
