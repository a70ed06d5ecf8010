#include "scenario/plans_again.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "scenario/question_bound.hpp"

namespace sluice {

namespace {
/// At most `most_kept` plans are kept. A few plans are enough, because a sweep seldom needs a plan with an old
/// structure again. All kept plans together have at most `most_actions` actions. The newest plan is kept even if it
/// alone has more actions.
constexpr std::size_t most_kept = 8, most_actions = 100'000;

// Each function alike() lists all members of the type that it compares. So after a new member is added to the type,
// this file no longer compiles. The author must then add the member to the list, and decide whether the function
// compares it.

bool alike(const DeviceMemory& a, const DeviceMemory& b) {
  const auto& [pool, own, capacity, reserved, read, write] = a;
  return pool == b.pool && own == b.own && capacity == b.capacity && reserved == b.reserved &&
         read.has_value() == b.read.has_value() && write.has_value() == b.write.has_value();
}

bool alike(const Device& a, const Device& b) {
  const auto& [name, rate, efficiency, memories, threads, roofline, units, cache, fit, overhead,
               idle_w, busy_w, tiles, io_tiles] = a;
  const bool same_rates =
      std::equal(rate.begin(), rate.end(), b.rate.begin(), b.rate.end(),
                 [](const auto& one, const auto& other) { return one.first == other.first; });
  const bool same_memories = std::equal(
      memories.begin(), memories.end(), b.memories.begin(), b.memories.end(),
      [](const DeviceMemory& one, const DeviceMemory& other) { return alike(one, other); });
  return same_rates && same_memories && name == b.name && fit == b.fit && tiles == b.tiles &&
         io_tiles == b.io_tiles;
}

bool alike(const Memory& a, const Memory& b) {
  const auto& [name, capacity] = a;
  return name == b.name && capacity == b.capacity;
}

bool alike(const Channel& a, const Channel& b) {
  const auto& [name, bandwidth, idle_w, busy_w] = a;
  return name == b.name;
}

bool alike(const Platform::Edge& a, const Platform::Edge& b) {
  const auto& [from, to, link, direction, channels, setup_s, latency_s, by_compute,
               by_compute_setup_s] = a;
  return from == b.from && to == b.to && link == b.link && direction == b.direction &&
         channels == b.channels && by_compute == b.synchronous_channels;
}

template <class T>
bool all_alike(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return alike(x, y); });
}

/// Returns whether both platforms have the same devices, memories and links, in the same order, connected in the same
/// way, and with the same capacities. FLOP/s, bandwidths, delays and watts may differ. Plans for two such platforms
/// have the same lists of devices, pools, links and routes.
bool same_but_for_prices(const Platform& a, const Platform& b) {
  const auto& [name, devices, memories, channels, edges, read_ports, write_ports, lookup] = a;
  return name == b.name && all_alike(devices, b.devices) && all_alike(memories, b.memories) &&
         all_alike(channels, b.channels) && all_alike(edges, b.edges) &&
         read_ports == b.read_ports && write_ports == b.write_ports;
}

/// Returns the entries of the scenario's document that other_prices_only() compares: all except `platform`, `cost`
/// and `question`.
std::vector<const Value::Entry*> rest_of(const Scenario& scenario) {
  std::vector<const Value::Entry*> rest;
  for (const Value::Entry& entry : scenario.document.entries())
    if (entry.key != "platform" && entry.key != "cost" && entry.key != "question")
      rest.push_back(&entry);
  return rest;
}

bool says_the_same(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_list())
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
                      says_the_same);
  if (a.is_map())
    return std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(),
                      b.entries().end(), [](const Value::Entry& x, const Value::Entry& y) {
                        return x.key == y.key && says_the_same(x.value, y.value);
                      });
  return a.text() == b.text();
}

}  // namespace

bool other_prices_only(const Scenario& base, const Scenario& scenario) {
  const std::vector<const Value::Entry*> before = rest_of(base), now = rest_of(scenario);
  return base.name == scenario.name && base.cost.name() == scenario.cost.name() &&
         std::equal(before.begin(), before.end(), now.begin(), now.end(),
                    [](const Value::Entry* a, const Value::Entry* b) {
                      return a->key == b->key && says_the_same(a->value, b->value);
                    }) &&
         same_but_for_prices(base.platform, scenario.platform);
}

PlansAgain::KeptPlan::KeptPlan(PlannedScenario&& planned, const Scenario& scenario)
    : plan(std::move(planned.plan)),
      tables(plan),
      cut(std::move(planned.cut)),
      question_stages(sluice::question_stages(scenario)),
      fates(std::move(planned.fates)),
      cost(scenario.cost.name()),
      price_again(std::move(*planned.price_again)) {}

PolicyRequest PlansAgain::KeptPlan::request(const Scenario& scenario) const {
  return request_of(scenario, cut, fates);
}

bool PlansAgain::has_cut_of(const Scenario& scenario) const {
  if (scenario.cut && (*scenario.cut)->ignores_prices) return true;
  const std::vector<CutModel> cuts = cut_models(scenario);
  return cuts.size() == 1 && same(cuts.front(), kept_.front().cut);
}

PlansAgain::KeptPlan* PlansAgain::find(const Scenario& scenario) {
  decided_.reset();
  if (kept_.empty() || kept_.front().cost != scenario.cost.name()) return nullptr;
  try {
    if (!has_cut_of(scenario)) return nullptr;
    const PolicyRequest request = kept_.front().request(scenario);
    PriceDecisions decisions = kept_.front().price_again.decisions(request);
    for (auto made = kept_.begin(); made != kept_.end(); ++made) {
      if (made->price_again.decided() != decisions) continue;
      kept_.splice(kept_.begin(), kept_, made);
      made->price_again.price(made->plan, request);
      made->tables.time_again();
      return &*made;
    }
    decided_ = std::move(decisions);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {  // The function that makes a new plan will report this error.
  }
  return nullptr;
}

void PlansAgain::keep(PlannedScenario planned, const Scenario& scenario) {
  if (!planned.price_again) return;
  const PolicyRequest request = request_of(scenario, planned.cut, planned.fates);
  const bool learned =
      decided_ ? planned.price_again->learn(planned.plan, request, kept_.front().price_again,
                                            std::move(*decided_))
               : planned.price_again->learn(planned.plan, request);
  decided_.reset();
  if (!learned) return;
  if (!kept_.empty() && !same(kept_.front().cut, planned.cut)) kept_.clear();
  kept_.emplace_front(std::move(planned), scenario);
  std::size_t actions = 0;
  for (const KeptPlan& made : kept_) actions += made.plan.actions.size();
  while (kept_.size() > 1 && (kept_.size() > most_kept || actions > most_actions)) {
    actions -= kept_.back().plan.actions.size();
    kept_.pop_back();
  }
}

}  // namespace sluice
