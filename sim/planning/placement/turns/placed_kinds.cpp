#include "planning/placement/turns/placed_kinds.hpp"

#include <algorithm>
#include <set>

#include "planning/placement/plan_routes.hpp"

namespace sluice {
namespace {

/// Gives each route of the plan the set-up and the latency of the real machine. On a shown machine, they may be longer
/// (ShownRates::far).
void take_real_routes(Plan& plan, const Platform& platform) {
  std::vector<bool> taken(plan.routes.size(), false);
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows) {
      if (taken[flow.route]) continue;
      taken[flow.route] = true;
      const Path& path = platform.path(plan.pools[flow.from].name, plan.pools[flow.to].name);
      plan.routes[flow.route].setup_s = path.setup_s;
      plan.routes[flow.route].latency_s = path.latency_s;
    }
}

}  // namespace

PlacedKinds::PlacedKinds(PlacedPrices& prices, Plan plan, bool in_turn)
    : prices_(prices), plan_(std::move(plan)), second_of_(plan_.pools.size(), none) {
  find_pools();
  for (const Memory& memory : prices.request().pricing.platform.memories)
    for (Pool& pool : plan_.pools)
      if (pool.name == memory.name) pool.capacity = memory.capacity;
  for (Pool& pool : plan_.pools) pool.enforced = prices.request().capacity_enforced;
  take_real_routes(plan_, prices.request().pricing.platform);
  find_kinds();
  keep_sent_kinds();
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
    if (!plan_.actions[a].is_transfer())
      works_[prices.work_of(plan_, plan_.actions[a])] += plan_.executions_of(a);
  order_kinds();
  const auto number_of = [&](std::uint32_t tensor) -> std::optional<std::size_t> {
    if (!kinds_of_[tensor]) return {};
    const auto at = std::find(kinds_.begin(), kinds_.end(), *kinds_of_[tensor]);
    return static_cast<std::size_t>(at - kinds_.begin());
  };
  bound_.emplace(plan_, prices.request().pricing.platform, second_of_, in_turn, number_of);
}

void PlacedKinds::find_pools() {
  for (const Device* device : prices_.devices()) {
    Pools of;
    for (const auto& [number, m] : {std::pair(&of.first, 0U), std::pair(&of.second, 1U)}) {
      *number = pool_number(plan_, device->memories[m].pool);
      plan_.pools[*number].capacity = device->memories[m].capacity;
      plan_.pools[*number].limit.reset();
    }
    pools_.push_back(of);
    second_of_[of.first] = of.second;
  }
}

std::vector<std::uint32_t> PlacedKinds::pools() const {
  std::set<std::uint32_t> all;
  for (const Pools& of : pools_) all.insert({of.first, of.second});
  return {all.begin(), all.end()};
}

void PlacedKinds::find_kinds() {
  kinds_of_.resize(plan_.tensors.size());
  const auto found = [&](std::uint32_t t, std::int32_t stage) {
    const TensorClass tensor_class = plan_.tensors[t].tensor_class;
    kinds_of_[t] = {tensor_class, tensor_class == TensorClass::weight ? stage : -1};
  };
  for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t)
    if (plan_.tensors[t].home != none && is_first(plan_.tensors[t].home)) found(t, -1);
  for (const Action& action : plan_.actions)
    for (const Placement& made : action.allocates)
      if (is_first(made.pool)) found(made.tensor, action.stage);
}

/// Returns whether another device of the platform has the same second memory as a device that computes.
bool PlacedKinds::shares_second() const {
  for (const Device& other : prices_.request().pricing.platform.devices)
    for (const Device* device : prices_.devices())
      if (other.name != device->name && other.memories.size() > 1 &&
          other.memories[1].pool == device->memories[1].pool)
        return true;
  return false;
}

void PlacedKinds::keep_sent_kinds() {
  TensorKinds kept;
  if (prices_.request().sums_gradients && shares_second()) kept.insert({TensorClass::gradient});
  for (const Action& action : plan_.actions)
    for (const Flow& flow : action.flows)
      if (flow.tensor != none && kinds_of_[flow.tensor] && is_first(flow.from) &&
          second_of_[flow.from] == second_of_[flow.to])
        kept.insert(*kinds_of_[flow.tensor]);
  for (std::optional<TensorKind>& kind : kinds_of_)
    if (kind && kept.count(*kind) != 0) kind.reset();
}

void PlacedKinds::order_kinds() {
  std::map<TensorKind, double> bytes;
  for (std::uint32_t t = 0; t < kinds_of_.size(); ++t)
    if (kinds_of_[t]) bytes[*kinds_of_[t]] += static_cast<double>(plan_.tensors[t].bytes);
  std::map<TensorKind, double> worth;
  const double fastest = kernel_seconds({});
  for (const auto& [kind, all] : bytes) {
    kinds_.push_back(kind);
    worth[kind] = all > 0 ? (kernel_seconds({kind}) - fastest) / all : 0;
  }
  std::stable_sort(kinds_.begin(), kinds_.end(),
                   [&](const TensorKind& a, const TensorKind& b) { return worth[a] > worth[b]; });
}

double PlacedKinds::kernel_seconds(const TensorKinds& slow) const {
  double seconds = 0;
  for (const auto& [work, count] : works_)
    seconds += static_cast<double>(count) * prices_.of(work, slow).seconds;
  return seconds;
}

double PlacedKinds::seconds_at_least(const TensorKinds& slow, const TensorKinds& moved) const {
  TensorKinds fewer = slow;
  for (const TensorKind& kind : moved) fewer.erase(kind);
  return at_least(slow, [&](const StageWork& work) {
    const double seconds = prices_.of(work, slow).seconds;
    return moved.empty() ? seconds : std::min(seconds, prices_.of(work, fewer).seconds);
  });
}

double PlacedKinds::cached_at_least() const {
  return cached_at_least([&](const StageWork& work) { return prices_.of(work, {}).seconds; });
}

double PlacedKinds::at_least(const TensorKinds& slow,
                             const std::function<double(const StageWork&)>& kernel_s) const {
  std::vector<bool> is_slow;
  for (const TensorKind& kind : kinds_) is_slow.push_back(slow.count(kind) != 0);
  return bound_->at_least(is_slow, kernel_s);
}

std::vector<TensorKinds> PlacedKinds::sets_of_blocks() const {
  const std::size_t blocks = std::min(kinds_.size(), most_blocks);
  std::vector<TensorKinds> sets(std::size_t{1} << blocks);
  for (std::size_t number = 0; number < sets.size(); ++number)
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      if ((number >> k * blocks / kinds_.size() & 1U) != 0) sets[number].insert(kinds_[k]);
  return sets;
}

std::vector<TensorKinds> PlacedKinds::first_touched(bool fits) const {
  std::vector<FirstMemory> firsts;
  for (const Pools& of : pools_) {
    const Pool& pool = plan_.pools[of.first];
    firsts.push_back({of.first, fits && pool.enforced ? pool.capacity : std::nullopt});
  }
  return first_touch_placements(plan_, firsts, kinds_of_);
}

Plan PlacedKinds::plan(const TensorKinds& slow, const TensorKinds& priced) const {
  Plan placed = plan_;
  PlanRoutes routes(placed, prices_.request().pricing.platform);
  const auto moves = [&](std::uint32_t tensor, std::uint32_t pool) {
    return pool != none && is_first(pool) && tensor != none && kinds_of_[tensor] &&
           slow.count(*kinds_of_[tensor]) != 0;
  };
  for (std::uint32_t t = 0; t < placed.tensors.size(); ++t)
    if (moves(t, placed.tensors[t].home))
      placed.tensors[t].home = second_of_[placed.tensors[t].home];
  for (Action& action : placed.actions) {
    for (Flow& flow : action.flows) {
      const bool from = moves(flow.tensor, flow.from), to = moves(flow.tensor, flow.to);
      if (from) flow.from = second_of_[flow.from];
      if (to) flow.to = second_of_[flow.to];
      if (from || to) routes.send(action, flow);
    }
    for (Access& use : action.uses)
      if (moves(use.tensor, use.pool)) use.pool = second_of_[use.pool];
    for (Placement& made : action.allocates)
      if (moves(made.tensor, made.pool)) made.pool = second_of_[made.pool];
    if (action.is_transfer()) continue;
    take_price(action, prices_.of(prices_.work_of(placed, action), priced),
               placed.streams[action.stream]);
  }
  return placed;
}

}  // namespace sluice
