#include "planning/placement/turns/cached_turns.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "planning/copy_time.hpp"

namespace sluice {
namespace {

/// The most combinations of sizes: those of two caches with 17 sizes each.
constexpr std::int64_t most_combinations = 289;
static_assert(most_combinations ==
              (CachedMemory::most_shares + 1) * (CachedMemory::most_shares + 1));

/// Returns in how many shares the addresses of each memory are divided. 0 shares stand for a cache without bytes.
std::int64_t shares_of_each(std::size_t memories) {
  for (std::int64_t shares = CachedMemory::most_shares; shares > 0; --shares) {
    std::int64_t combinations = 1;
    for (std::size_t m = 0; m < memories && combinations <= most_combinations; ++m)
      combinations *= shares + 1;
    if (combinations <= most_combinations) return shares;
  }
  return 0;
}

}  // namespace

CachedTurns::CachedTurns(PlacedPrices& prices, const PlacedKinds& placed)
    : prices_(prices), placed_(placed), plan_(placed.all_slow_plan()) {
  std::set<std::uint32_t> pools;
  for (std::size_t d = 0; d < prices.devices().size(); ++d)
    if (pools.insert(placed.first_pool(d)).second) memories_.emplace_back(prices, placed, d);
  rounds_.resize(memories_.size());
  for (const Action& action : plan_.actions)
    works_.push_back(action.is_transfer() ? StageWork{} : prices.work_of(plan_, action));
}

std::vector<CacheSizes> CachedTurns::sizes() const {
  const std::int64_t shares = shares_of_each(memories_.size());
  std::vector<CacheSizes> combined = {{}};
  std::set<CacheSizes, std::greater<>> all;
  for (const CachedMemory& memory : memories_) {
    std::vector<CacheSizes> longer;
    for (const CacheSizes& sizes : combined)
      for (const std::int64_t bytes : shares > 0 ? memory.sizes(shares) : CacheSizes{0}) {
        longer.push_back(sizes);
        longer.back().push_back(bytes);
      }
    combined = std::move(longer);
    for (const std::int64_t bytes : memory.sizes()) {
      CacheSizes alike;
      for (const CachedMemory& one : memories_) alike.push_back(std::min(bytes, one.addresses()));
      all.insert(std::move(alike));
    }
  }
  all.insert(combined.begin(), combined.end());
  return {all.begin(), all.end()};
}

bool CachedTurns::fit(const CacheSizes& sizes) const {
  for (std::size_t m = 0; m < memories_.size(); ++m)
    if (sizes[m] > plan_.pools[memories_[m].first_pool()].capacity.value_or(sizes[m])) return false;
  return true;
}

const CachedMemory::Round& CachedTurns::round(std::size_t cache, std::int64_t bytes) const {
  const auto [known, fresh] = rounds_[cache].try_emplace(bytes);
  if (fresh) known->second = memories_[cache].round(bytes);
  return known->second;
}

// A computation may read a tensor that is behind the cache of another device.
std::vector<double> CachedTurns::kernel_seconds(const CacheSizes& sizes) const {
  std::vector<double> misses_s(plan_.actions.size(), 0), kernel_s = misses_s;
  for (std::size_t m = 0; m < memories_.size(); ++m)
    for (std::size_t a = 0; a < misses_s.size(); ++a) misses_s[a] += round(m, sizes[m]).misses_s[a];
  for (std::size_t a = 0; a < kernel_s.size(); ++a)
    if (!plan_.actions[a].is_transfer()) kernel_s[a] = prices_.behind_cache(works_[a], misses_s[a]);
  return kernel_s;
}

// Computations of the same work may take different seconds, because some of them find more in the cache than others.
// The bound of a placed plan counts the least of these seconds. The work of each stream is another bound.
double CachedTurns::at_least(const CacheSizes& sizes) const {
  const std::vector<double> kernel_s = kernel_seconds(sizes);
  std::map<StageWork, double> least_s;
  std::vector<double> streams_s(plan_.streams.size(), 0);
  for (std::uint32_t a = 0; a < kernel_s.size(); ++a) {
    const Action& action = plan_.actions[a];
    if (action.is_transfer()) continue;
    const auto least = least_s.try_emplace(works_[a], kernel_s[a]).first;
    least->second = std::min(least->second, kernel_s[a]);
    streams_s[action.stream] += static_cast<double>(plan_.executions_of(a)) * kernel_s[a];
  }
  double bound = placed_.cached_at_least([&](const StageWork& work) { return least_s.at(work); });
  for (const double seconds : streams_s) bound = std::max(bound, seconds * within_accuracy);
  return bound;
}

Plan CachedTurns::plan(const CacheSizes& sizes) const {
  Plan plan = plan_;
  const std::vector<double> kernel_s = kernel_seconds(sizes);
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    if (!plan.actions[a].is_transfer()) plan.actions[a].seconds = kernel_s[a];
  return plan;
}

void CachedTurns::add_caches(Plan& plan, const CacheSizes& sizes) const {
  for (std::size_t m = 0; m < memories_.size(); ++m) {
    const std::uint32_t pool = memories_[m].first_pool();
    const std::string of = memories_.size() == 1 ? "" : plan.pools[pool].name;
    if (sizes[m] > 0)
      plan.tensors.push_back(
          {of.empty() ? "cache" : "cache." + of, TensorClass::workspace, sizes[m], pool});
    for (Fact& fact : facts_of_cache(round(m, sizes[m]), sizes[m]))
      plan.facts.push_back(std::move(fact).said_of(of));
  }
}

}  // namespace sluice
