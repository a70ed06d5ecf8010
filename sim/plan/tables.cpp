#include "plan/tables.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "plan/fault.hpp"

namespace sluice {

void Cursor::settle() {
  while (section_ <= 2 && position_ >= (*lists_)[section_].size()) {
    position_ = 0;
    const std::int64_t iterations = tables_->plan.iterations;
    const bool again = section_ == 1 && !(*lists_)[1].empty() && iteration_ + 1 < iterations;
    if (again) {
      ++iteration_;
      continue;
    }
    ++section_;
    iteration_ = 0;
    if (section_ == 1 && iterations == 0) ++section_;
  }
  action_ = section_ <= 2 ? (*lists_)[section_][position_] : none;
}

namespace {

/// Returns the seconds of an action if its flows come one after the other: its own seconds plus the seconds of all its
/// flows.
double one_by_one(const Plan& plan, const Action& action) {
  double seconds = std::isnan(action.seconds) ? 0 : action.seconds;
  for (const Flow& flow : action.flows) seconds += seconds_alone(plan, flow);
  return seconds;
}

}  // namespace

void PlanTables::begin() {
  stream_actions.resize(plan.streams.size());
  link_shared.resize(plan.links.size(), 0);
  link_users_.resize(plan.links.size());
  iterated.resize(plan.tensors.size(), 0);
  first_use_.resize(plan.tensors.size() + 1, 0);
  const std::size_t count = plan.actions.size();
  first_demand_.reserve(count + 1);
  first_wait_.reserve(count + 1);
  waits_.reserve(count);
  first_allocation_.reserve(count + 1);
  first_access_.reserve(count + 1);
  ahead_.reserve(count);
  stream_.reserve(count);
  has_flows_.reserve(count);
  touches_memory_.reserve(count);
  seconds_.reserve(count);
  latency_.reserve(count);
}

void PlanTables::finish() {
  sort_uses();
  for (Allocation& made : allocations_) count_body_uses(made);
  list_body_tensors();
  link_users_ = {};
  serial_s_ += latest_;
}

void PlanTables::time_again() {
  seconds_.clear();
  latency_.clear();
  serial_s_ = latest_ = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) add_seconds(a);
  serial_s_ += latest_;
}

void PlanTables::add_seconds(std::uint32_t a) {
  const Action& action = plan.actions[a];
  seconds_.push_back(sluice::seconds_alone(plan, action));
  latency_.push_back(sluice::latency(plan, action));
  serial_s_ +=
      static_cast<double>(plan.executions_of(a)) * (one_by_one(plan, action) + latency_.back());
  latest_ = std::max(latest_, action.not_before);
}

void PlanTables::add_action(std::uint32_t a) {
  const Action& action = plan.actions[a];
  const auto section = static_cast<std::size_t>(plan.section_of(a));
  stream_actions[action.stream][section].push_back(a);
  waits_.insert(waits_.end(), action.waits.begin(), action.waits.end());
  first_wait_.push_back(static_cast<std::uint32_t>(waits_.size()));
  ahead_.push_back(action.ahead);
  stream_.push_back(action.stream);
  has_flows_.push_back(!action.flows.empty());
  if (action.not_before > 0) {
    not_before_.resize(plan.actions.size(), 0);
    not_before_[a] = action.not_before;
  }
  touches_memory_.push_back(!action.uses.empty() || !action.allocates.empty());
  for (const Placement& placement : action.allocates) {
    if (section == 1) iterated[placement.tensor] = 1;
    allocations_.push_back({placement, plan.tensors[placement.tensor].bytes});
    if (plan.pools[placement.pool].limited()) add_demand(a, placement);
  }
  first_demand_.push_back(static_cast<std::uint32_t>(demands_.size()));
  first_allocation_.push_back(static_cast<std::uint32_t>(allocations_.size()));
  for (const Access& use : action.uses) {
    ++first_use_[use.tensor + 1];
    used_.push_back(use.tensor);
    const std::int32_t ahead = action.ahead - use.distance;
    uses_.push_back({use.pool, a, ahead, use.distance, plan.section_of(a)});
    accesses_.push_back({use.placement(), ahead});
  }
  first_access_.push_back(static_cast<std::uint32_t>(accesses_.size()));
  add_flows(a);
  add_seconds(a);
}

/// Sorts the uses by tensor. The uses of the same tensor stay in listing order.
void PlanTables::sort_uses() {
  std::partial_sum(first_use_.begin(), first_use_.end(), first_use_.begin());
  LargeVector<std::uint32_t> next(first_use_.begin(), first_use_.end() - 1);
  LargeVector<Use> sorted(uses_.size());
  for (std::size_t i = 0; i < uses_.size(); ++i) sorted[next[used_[i]]++] = uses_[i];
  uses_ = std::move(sorted);
  used_ = {};
}

void PlanTables::count_body_uses(Allocation& made) const {
  if (!iterated[made.placement.tensor]) return;
  std::int64_t count = 0;
  for (const Use& use : uses_of(made.placement.tensor)) {
    if (use.pool != made.placement.pool) continue;
    if (use.section != Section::body) return;
    made.least_ahead = std::min({made.least_ahead, use.ahead, -std::int32_t{use.distance}});
    made.most_ahead = std::max(made.most_ahead, use.ahead);
    ++count;
  }
  made.body_uses = count;
}

void PlanTables::list_body_tensors() {
  std::vector<char> seen(plan.tensors.size(), 0);
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
    const auto enter = [&](std::uint32_t tensor) {
      if (!std::exchange(seen[tensor], 1)) body_tensors_.push_back(tensor);
    };
    for (const Allocation& made : allocations(a)) enter(made.placement.tensor);
    for (const UsedPlacement& used : accesses(a)) enter(used.tensor);
  }
}

void PlanTables::add_demand(std::uint32_t a, const Placement& placement) {
  const std::int64_t bytes = plan.tensors[placement.tensor].bytes;
  const auto same = std::find_if(demands_.begin() + first_demand_[a], demands_.end(),
                                 [&](const Demand& d) { return d.pool == placement.pool; });
  if (same == demands_.end())
    demands_.push_back({placement.pool, bytes});
  else if (__builtin_add_overflow(same->bytes, bytes, &same->bytes))
    plan_count_fault(plan, a,
                     "the tensors that '" + name_of(plan.actions[a]) +
                         "' allocates are more than " + "2^63 - 1 bytes in " +
                         plan.pools[placement.pool].name);
}

/// Adds the flows of an action, and finds links that are shared. A link is shared if several flows may use it at the
/// same time: flows of several streams, or several flows of one action.
void PlanTables::add_flows(std::uint32_t a) {
  for (const Flow& flow : plan.actions[a].flows)
    for (const std::uint32_t link : plan.routes[flow.route].links) {
      LinkUsers& users = link_users_[link];
      if (users.stream == none) users.stream = plan.actions[a].stream;
      const bool again = std::exchange(users.action, a) == a;
      if (again || users.stream != plan.actions[a].stream) link_shared[link] = 1;
    }
}

bool PlanTables::meets_others(const Flow& flow) const {
  const auto& links = plan.routes[flow.route].links;
  return flow.bytes > 0 &&
         std::any_of(links.begin(), links.end(), [&](auto link) { return link_shared[link]; });
}

bool PlanTables::contention_free() const {
  return std::none_of(link_shared.begin(), link_shared.end(), [](char shared) { return shared; });
}

double seconds_alone(const Plan& plan, const Flow& flow) {
  const Route& route = plan.routes[flow.route];
  double bandwidth = std::numeric_limits<double>::infinity();
  for (const std::uint32_t link : route.links)
    bandwidth = std::min(bandwidth, plan.links[link].bandwidth);
  return route.setup_s + static_cast<double>(flow.bytes) / bandwidth;
}

namespace {

/// Returns the seconds of the busiest link of an action: how long this link needs for all flows of the action that
/// cross it.
double busiest_link(const Plan& plan, const Action& action) {
  // Each pair is a link, and the number of bytes that cross it. The list is short, so a search through it takes little
  // time.
  std::vector<std::pair<std::uint32_t, std::int64_t>> bytes;
  double most = 0;
  for (const Flow& flow : action.flows)
    for (const std::uint32_t link : plan.routes[flow.route].links) {
      auto sum = std::find_if(bytes.begin(), bytes.end(),
                              [&](const auto& one) { return one.first == link; });
      if (sum == bytes.end()) sum = bytes.insert(bytes.end(), {link, 0});
      sum->second += flow.bytes;
      most = std::max(most, static_cast<double>(sum->second) / plan.links[link].bandwidth);
    }
  return most;
}

}  // namespace

double seconds_alone(const Plan& plan, const Action& action) {
  if (action.flows.empty()) return action.seconds;
  double seconds = std::isnan(action.seconds) ? 0 : action.seconds;
  for (const Flow& flow : action.flows) seconds = std::max(seconds, seconds_alone(plan, flow));
  return action.flows.size() == 1 ? seconds : std::max(seconds, busiest_link(plan, action));
}

double latency(const Plan& plan, const Action& action) {
  double longest = 0;
  for (const Flow& flow : action.flows)
    longest = std::max(longest, plan.routes[flow.route].latency_s);
  return longest;
}

double serial_seconds(const Plan& plan) {
  double seconds = 0, latest = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    seconds += static_cast<double>(plan.executions_of(a)) *
               (one_by_one(plan, action) + latency(plan, action));
    latest = std::max(latest, action.not_before);
  }
  return latest + seconds;
}

std::int64_t PlanTables::uses(const Placement& placement, std::int64_t instance) const {
  const auto runs = [&](std::int64_t i) { return i >= 0 && i < plan.iterations; };
  std::int64_t count = 0;
  for (const Use& use : uses_of(placement.tensor)) {
    if (use.pool != placement.pool) continue;
    if (!iterated[placement.tensor])
      count += plan.executions_of(use.action);
    else if (use.section == Section::prologue)
      count += use.ahead == instance;
    else if (use.section == Section::epilogue)
      count += plan.iterations + use.ahead == instance;
    else
      count += runs(instance - use.ahead) && runs(instance + use.distance);
  }
  return count;
}

std::int64_t PlanTables::uses_an_iteration(const Placement& placement) const {
  const std::span<const Use> uses = uses_of(placement.tensor);
  return std::count_if(uses.begin(), uses.end(), [&](const Use& use) {
    return use.pool == placement.pool && use.section == Section::body;
  });
}

}  // namespace sluice
