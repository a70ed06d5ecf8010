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
    : prices_(prices),
      plan_(std::move(plan)),
      second_of_(plan_.pools.size(), none),
      device_of_(plan_.pools.size(), none) {
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
  find_tied();
  group_kinds();
  const auto number_of = [&](const Placement& one) -> std::optional<std::size_t> {
    const std::optional<TensorKind> kind = kind_of(one);
    if (!kind) return {};
    return static_cast<std::size_t>(std::ranges::find(kinds_, *kind) - kinds_.begin());
  };
  bound_.emplace(plan_, prices.request().pricing.platform, second_of_, in_turn, number_of);
}

void PlacedKinds::find_pools() {
  const Device* const all = prices_.request().pricing.platform.devices.data();
  for (const Device* device : prices_.devices()) {
    Pools of;
    for (const auto& [number, m] : {std::pair(&of.first, 0U), std::pair(&of.second, 1U)}) {
      *number = pool_number(plan_, device->memories[m].pool);
      plan_.pools[*number].capacity = device->memories[m].capacity;
      plan_.pools[*number].limit.reset();
    }
    pools_.push_back(of);
    second_of_[of.first] = of.second;
    device_of_[of.first] = prices_.first_with_memory_of(static_cast<std::uint32_t>(device - all));
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

/// Returns the kind of a tensor in a pool. Returns nothing if the pool is not a first memory, or the tensor always
/// stays there.
std::optional<TensorKind> PlacedKinds::kind_of(const Placement& one) const {
  if (one.pool == none || one.tensor == none || !is_first(one.pool)) return {};
  std::optional<TensorKind> kind = kinds_of_[one.tensor];
  if (kind && kind->tensor_class != TensorClass::weight) kind->device = device_of_[one.pool];
  return kind;
}

void PlacedKinds::find_tied() {
  for (const Action& action : plan_.actions) {
    if (action.is_transfer()) continue;
    const std::uint32_t device =
        prices_.first_with_memory_of(prices_.work_of(plan_, action).device);
    for (const Access& use : action.uses)
      if (const auto kind = kind_of(use.placement());
          kind && kind->tensor_class != TensorClass::weight && kind->device != device)
        tied_.insert(kind->tensor_class);
  }
}

/// Returns a name for the group of a kind: the least kind that the group could have. `by_device` is true if the devices
/// are independent of each other.
TensorKind PlacedKinds::group_of(TensorKind kind, bool by_device) const {
  if (!by_device || tied_.count(kind.tensor_class) > 0) kind.device = 0;
  return kind;
}

void PlacedKinds::group_kinds() {
  // The bytes of each group. In `of_classes`, each tensor counts once, even if several devices have it.
  std::map<TensorKind, double> of_classes, of_parts;
  std::set<std::pair<std::uint32_t, std::uint32_t>> counted;
  TensorKinds all;
  const auto count = [&](const Placement& one) {
    const std::optional<TensorKind> kind = kind_of(one);
    if (!kind || !counted.insert({one.tensor, one.pool}).second) return;
    all.insert(*kind);
    of_parts[group_of(*kind, true)] += static_cast<double>(plan_.tensors[one.tensor].bytes);
  };
  for (std::uint32_t t = 0; t < kinds_of_.size(); ++t) {
    if (kinds_of_[t]) of_classes[*kinds_of_[t]] += static_cast<double>(plan_.tensors[t].bytes);
    count({t, plan_.tensors[t].home});
  }
  for (const Action& action : plan_.actions)
    for (const Placement& made : action.allocates) count(made);
  for (const TensorClass tied : tied_)
    for (const std::uint32_t device : device_of_)
      if (device != none) all.insert({tied, -1, device});
  classes_ = ordered(all, of_classes, false);
  parts_ = ordered(all, of_parts, true);
  for (const TensorKinds& group : classes_) kinds_.insert(kinds_.end(), group.begin(), group.end());
}

std::vector<TensorKinds> PlacedKinds::ordered(const TensorKinds& all,
                                              const std::map<TensorKind, double>& bytes,
                                              bool by_device) const {
  std::map<TensorKind, TensorKinds> groups;
  for (const TensorKind& kind : all) groups[group_of(kind, by_device)].insert(kind);
  std::vector<std::pair<double, TensorKinds>> order;  // with the seconds per byte
  const double fastest = kernel_seconds({});
  for (const auto& [name, size] : bytes)
    order.emplace_back(size > 0 ? (kernel_seconds(groups.at(name)) - fastest) / size : 0,
                       groups.at(name));
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& one) { return one.first; });
  std::vector<TensorKinds> result;
  for (auto& one : order) result.push_back(std::move(one.second));
  return result;
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
  const std::size_t blocks = std::min(classes_.size(), most_blocks);
  std::vector<TensorKinds> sets(std::size_t{1} << blocks);
  for (std::size_t number = 0; number < sets.size(); ++number)
    for (std::size_t k = 0; k < classes_.size(); ++k)
      if ((number >> k * blocks / classes_.size() & 1U) != 0)
        sets[number].insert(classes_[k].begin(), classes_[k].end());
  return sets;
}

std::vector<TensorKinds> PlacedKinds::first_touched(bool fits) const {
  return filled(classes_, FillOrder::first_use, fits);
}

std::vector<TensorKinds> PlacedKinds::filled() const {
  if (pools_.size() == 1) return {};
  return filled(parts_, FillOrder::listed, false);
}

std::vector<TensorKinds> PlacedKinds::filled(const std::vector<TensorKinds>& groups,
                                             FillOrder order, bool fits) const {
  std::vector<FirstMemory> firsts;
  for (const Pools& of : pools_) {
    const Pool& pool = plan_.pools[of.first];
    firsts.push_back({of.first, fits && pool.enforced ? pool.capacity : std::nullopt});
  }
  std::map<TensorKind, std::size_t> numbers;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const TensorKind& kind : groups[g]) numbers[kind] = g;
  return filled_placements(plan_, firsts,
                           {groups,
                            [&](const Placement& one) -> std::optional<std::size_t> {
                              const std::optional<TensorKind> kind = kind_of(one);
                              if (!kind) return {};
                              return numbers.at(*kind);
                            }},
                           order);
}

Plan PlacedKinds::plan(const TensorKinds& slow, const TensorKinds& priced) const {
  Plan placed = plan_;
  PlanRoutes routes(placed, prices_.request().pricing.platform);
  const auto moves = [&](std::uint32_t tensor, std::uint32_t pool) {
    const std::optional<TensorKind> kind = kind_of({tensor, pool});
    return kind && slow.count(*kind) != 0;
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
