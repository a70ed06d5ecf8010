#include "planning/placement/turns/placed_kinds.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.hpp"
#include "planning/joined_replicas.hpp"
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
  const Platform& platform = prices.request().pricing.platform;
  bound_.emplace(plan_, platform, second_of_, in_turn, number_of,
                 joined_replicas(prices.request()) ? *prices.request().replicas->share : platform);
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
  std::map<std::string, std::int32_t> stages_of_caches;
  for (std::size_t s = 0; s < prices_.request().pricing.stages.size(); ++s)
    stages_of_caches["kv_cache." + std::to_string(s)] = static_cast<std::int32_t>(s);
  for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t) {
    const Tensor& tensor = plan_.tensors[t];
    if (tensor.home == none || !is_first(tensor.home)) continue;
    const auto cache = stages_of_caches.find(tensor.name);
    kinds_of_[t] = {tensor.tensor_class, cache == stages_of_caches.end() ? -1 : cache->second};
  }
  // If a computation makes the tensor, its kind does not depend on the transfers that bring it to other devices.
  for (const bool transfers : {true, false})
    for (const Action& action : plan_.actions)
      for (const Placement& made : action.allocates)
        if (action.is_transfer() == transfers && is_first(made.pool))
          kinds_of_[made.tensor] = kind_made_by(action, plan_.tensors[made.tensor]);
}

/// Returns the kind, without its device, of a tensor that the action makes or brings.
TensorKind PlacedKinds::kind_made_by(const Action& action, const Tensor& tensor) const {
  // In training, the load of an activation belongs to the stage that has made it. In inference, it belongs to the stage
  // that reads it. Gradients of activations always belong to a stage that has read the activations.
  const bool training = prices_.request().workload.training.has_value();
  const auto stage_before = [&] { return std::max(0, action.stage - 1); };
  switch (tensor.tensor_class) {
    case TensorClass::input:
    case TensorClass::output:
      return {tensor.tensor_class};
    case TensorClass::activation:
      return {tensor.tensor_class,
              prices_.stage_of_activations(action.is_transfer() && !training ? stage_before()
                                                                             : action.stage)};
    case TensorClass::gradient:
      if (tensor.gradients_of < 0)
        return {tensor.tensor_class, prices_.stage_of_activations(stage_before())};
      return {
          .tensor_class = tensor.tensor_class, .stage = tensor.gradients_of, .of_weights = true};
    default:
      return {tensor.tensor_class, action.stage};
  }
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
  const bool keeps_sums = prices_.request().sums_gradients && shares_second();
  for (const Action& action : plan_.actions)
    for (const Flow& flow : action.flows)
      if (flow.tensor != none && kinds_of_[flow.tensor] && is_first(flow.from) &&
          second_of_[flow.from] == second_of_[flow.to])
        kept.insert(*kinds_of_[flow.tensor]);
  for (std::optional<TensorKind>& kind : kinds_of_)
    if (kind && (kept.count(*kind) != 0 || (keeps_sums && kind->of_weights))) kind.reset();
}

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

/// Returns a name for the group of a kind: the least kind that the group could have.
TensorKind PlacedKinds::group_of(TensorKind kind, GroupBy by) const {
  const bool tied = tied_.count(kind.tensor_class) > 0;
  if (by == GroupBy::tensor_class || tied) kind.device = 0;
  if ((by != GroupBy::kind || tied) && kind.tensor_class != TensorClass::weight) {
    kind.stage = -1;
    kind.of_weights = false;
  }
  return kind;
}

void PlacedKinds::group_kinds() {
  // In `once`, each tensor counts once, even if several devices have it.
  std::map<TensorKind, double> once, on_devices;
  std::set<std::pair<std::uint32_t, std::uint32_t>> counted;
  const auto count = [&](const Placement& one) {
    const std::optional<TensorKind> kind = kind_of(one);
    if (!kind || !counted.insert({one.tensor, one.pool}).second) return;
    on_devices[*kind] += static_cast<double>(plan_.tensors[one.tensor].bytes);
  };
  for (std::uint32_t t = 0; t < kinds_of_.size(); ++t) {
    if (kinds_of_[t]) once[*kinds_of_[t]] += static_cast<double>(plan_.tensors[t].bytes);
    count({t, plan_.tensors[t].home});
  }
  for (const Action& action : plan_.actions)
    for (const Placement& made : action.allocates) count(made);
  TensorKinds all;
  for (const auto& [kind, bytes] : on_devices) {
    all.insert(kind);
    if (tied_.count(kind.tensor_class) == 0) continue;
    for (const std::uint32_t device : device_of_)
      if (device != none) all.insert({kind.tensor_class, kind.stage, device, kind.of_weights});
  }
  // A workspace without bytes belongs to the other workspaces of its device.
  TensorKinds empty;
  for (const auto& [work, executions] : works_)
    for (const TensorKind& kind : prices_.used_by(work))
      if (kind.tensor_class == TensorClass::workspace &&
          std::ranges::any_of(on_devices, [&](const auto& one) {
            return one.first.tensor_class == kind.tensor_class && one.first.device == kind.device;
          }))
        empty.insert(kind);
  all.insert(empty.begin(), empty.end());
  classes_ = ordered(grouped(all, GroupBy::tensor_class), once);
  if (pools_.size() > 1) parts_ = ordered(grouped(all, GroupBy::device), on_devices);
  independent_ = grouped(all, GroupBy::kind);
  for (const TensorKinds& group : classes_) kinds_.insert(kinds_.end(), group.begin(), group.end());
}

std::vector<TensorKinds> PlacedKinds::grouped(const TensorKinds& all, GroupBy by) const {
  std::map<TensorKind, TensorKinds> named;
  for (const TensorKind& kind : all) named[group_of(kind, by)].insert(kind);
  std::vector<TensorKinds> groups;
  for (auto& [name, kinds] : named) groups.push_back(std::move(kinds));
  return groups;
}

std::vector<TensorKinds> PlacedKinds::ordered(std::vector<TensorKinds> groups,
                                              const std::map<TensorKind, double>& bytes) const {
  const std::vector<SavedSeconds> saved = saved_seconds(groups, Saved::alone);
  std::vector<std::pair<double, std::size_t>> order;  // with the seconds per byte
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double size = 0;
    for (const TensorKind& kind : groups[g])
      if (const auto found = bytes.find(kind); found != bytes.end()) size += found->second;
    order.emplace_back(size > 0 ? saved[g].alone / size : 0, g);
  }
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& one) { return one.first; });
  std::vector<TensorKinds> result;
  for (const auto& [per_byte, g] : order) result.push_back(std::move(groups[g]));
  return result;
}

std::vector<PlacedKinds::SavedSeconds> PlacedKinds::saved_seconds(
    const std::vector<TensorKinds>& groups, Saved wanted) const {
  const std::map<TensorKind, std::size_t> numbers = numbers_of(groups);
  std::vector<SavedSeconds> saved(groups.size());
  for (const auto& [work, count] : works_) {
    std::set<std::size_t> used;
    TensorKinds all;
    for (const TensorKind& kind : prices_.used_by(work))
      if (const auto group = numbers.find(kind); group != numbers.end()) {
        used.insert(group->second);
        all.insert(kind);
      }
    for (const std::size_t g : used) {
      TensorKinds others;
      std::ranges::set_difference(all, groups[g], std::inserter(others, others.end()));
      const auto seconds = [&](const TensorKinds& slow) {
        return static_cast<double>(count) * prices_.of(work, slow).seconds;
      };
      saved[g].alone += seconds(groups[g]) - seconds({});
      if (wanted == Saved::alone_and_last) saved[g].last += seconds(all) - seconds(others);
    }
  }
  return saved;
}

std::map<TensorKind, std::size_t> PlacedKinds::numbers_of(const std::vector<TensorKinds>& groups) {
  std::map<TensorKind, std::size_t> numbers;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const TensorKind& kind : groups[g]) numbers[kind] = g;
  return numbers;
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

std::vector<TensorKinds> PlacedKinds::filled(bool fits) const {
  std::vector<TensorKinds> all;
  try {
    all = filled(independent_, FillOrder::seconds_per_byte, fits);
  } catch (const InputError&) {  // The order needs prices that the cost model lacks.
  }
  std::erase_if(all, [&](const TensorKinds& slow) { return !has_prices(slow); });
  if (pools_.size() > 1)
    for (TensorKinds& slow : filled(parts_, FillOrder::listed)) all.push_back(std::move(slow));
  return all;
}

bool PlacedKinds::has_prices(const TensorKinds& slow) const try {
  for (const auto& [work, executions] : works_) prices_.of(work, slow);
  return true;
} catch (const InputError&) {
  return false;
}

std::vector<TensorKinds> PlacedKinds::filled(const std::vector<TensorKinds>& groups,
                                             FillOrder order, bool fits) const {
  std::vector<FirstMemory> firsts;
  for (const Pools& of : pools_) {
    const Pool& pool = plan_.pools[of.first];
    firsts.push_back({of.first, fits && pool.enforced ? pool.capacity : std::nullopt});
  }
  KindGroups kinds{groups, [&, numbers = numbers_of(groups)](const Placement& one) {
                     const std::optional<TensorKind> kind = kind_of(one);
                     return kind ? std::optional(numbers.at(*kind)) : std::nullopt;
                   }};
  if (order == FillOrder::seconds_per_byte)
    for (const SavedSeconds& saved : saved_seconds(groups, Saved::alone_and_last))
      kinds.saved_s.push_back((saved.alone + saved.last) / 2);
  return filled_placements(plan_, firsts, kinds, order);
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
