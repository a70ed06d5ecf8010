#include "planning/placement/turns/cached_turns.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "planning/copy_time.hpp"
#include "planning/parts.hpp"
#include "planning/placement/memories.hpp"
#include "planning/placement/turns/plan_walk.hpp"
#include "planning/placement/turns/unlisted.hpp"

namespace sluice {
namespace {

constexpr std::int64_t shares = 16;
/// Each round should begin with the same addresses as an earlier round. If this takes more rounds, the last half of the
/// rounds counts as a period.
constexpr std::size_t most_rounds = 64;

}  // namespace

/// Records the uses of a plan in the order of its actions.
class CachedTurns::Recorder {
 public:
  Recorder(CachedTurns& turns, PlacedPrices& prices, std::uint32_t second)
      : turns_(turns),
        prices_(prices),
        plan_(turns.plan_),
        second_(second),
        unlisted_(unlisted_operands(plan_, second, prices)) {
    find_caches();
    for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].home == second_) take({{t, second_}, 0});
  }

  void record() {
    const auto reach = iterations_to_replay(plan_);
    const Plan longer = with_iterations(
        plan_, static_cast<std::int64_t>(most_rounds) + std::max<std::int64_t>(reach, 2) + 2);
    PlanWalk walk(longer);
    std::map<std::vector<std::int64_t>, std::size_t>
        known;  // the round that begins with these addresses
    std::int64_t round = -1;
    walk.through([&](const PlanWalk::Execution& execution) {
      const bool body = longer.section_of(execution.action) == Section::body;
      if (body && execution.iteration != round) {
        round = execution.iteration;
        const auto [same, fresh] = known.try_emplace(addresses(round), turns_.rounds_.size());
        if (!fresh || turns_.rounds_.size() == most_rounds) {
          turns_.period_ = fresh ? most_rounds / 2 : turns_.rounds_.size() - same->second;
          return false;
        }
        turns_.rounds_.emplace_back();
      }
      uses_ = body ? &turns_.rounds_.back() : &turns_.before_;
      execute(execution, walk.tables());
      return longer.section_of(execution.action) != Section::epilogue;
    });
  }

  /// Records the uses in the epilogue. The rounds of the body must have been recorded by another object: rounds that
  /// only repeat them are left out.
  void record_epilogue() {
    const auto recorded = static_cast<std::int64_t>(turns_.rounds_.size());
    const Plan shorter = with_iterations(
        plan_, std::min(plan_.iterations, recorded) + static_cast<std::int64_t>(turns_.rest()));
    Uses ignored;
    PlanWalk walk(shorter);
    walk.through([&](const PlanWalk::Execution& execution) {
      const bool epilogue = shorter.section_of(execution.action) == Section::epilogue;
      uses_ = epilogue ? &turns_.after_ : &ignored;
      execute(execution, walk.tables());
      return true;
    });
  }

 private:
  using Instance = PlanWalk::Instance;
  using Key = std::pair<std::uint32_t, std::int64_t>;  // a tensor and the number of its instance

  /// Finds the cache of keys and values of each stage.
  void find_caches() {
    std::uint32_t t = 0;
    for (std::size_t s = 0; s < prices_.request().pricing.stages.size(); ++s) {
      if (cache_bytes(prices_.request().pricing.stages[s], 1) == 0) continue;
      while (t < plan_.tensors.size() && plan_.tensors[t].tensor_class != TensorClass::kv_cache)
        ++t;
      if (t < plan_.tensors.size()) caches_[static_cast<std::int32_t>(s)] = t++;
    }
  }
  /// Returns the addresses of all tensors in the second memory. Iterations are counted from `round`.
  std::vector<std::int64_t> addresses(std::int64_t round) const {
    std::vector<std::int64_t> numbers;
    for (const auto& [key, address] : at_)
      numbers.insert(numbers.end(),
                     {key.first, iterated_.count(key.first) ? key.second - round : 0, address});
    return numbers;
  }

  void take(const Instance& made) {
    const std::int64_t bytes = plan_.tensors[made.placement.tensor].bytes;
    const std::int64_t address = free_.take(bytes);
    at_[{made.placement.tensor, made.number}] = address;
    turns_.span_ = std::max(turns_.span_, address + bytes);
  }

  void execute(const PlanWalk::Execution& execution, const PlanTables& tables) {
    const Action& action = plan_.actions[execution.action];
    const auto instance = [&](const Placement& of) {
      if (tables.iterated[of.tensor]) iterated_.insert(of.tensor);
      return Instance{of, tables.instance(execution.action, execution.iteration, of.tensor)};
    };
    for (const Placement& made : action.allocates)
      if (made.pool == second_) take(instance(made));
    if (action.is_transfer()) {
      for (const Placement& made : action.allocates)
        if (made.pool == second_) use(Use::Kind::arrives, execution.action, instance(made));
    } else {
      compute(execution, instance);
    }
    for (const Instance& freed : execution.freed) {
      const auto at = at_.find({freed.placement.tensor, freed.number});
      if (freed.placement.pool != second_ || at == at_.end()) continue;
      free_.give_back(at->second, plan_.tensors[freed.placement.tensor].bytes);
      at_.erase(at);
    }
  }

  /// Records the tensors that a computation reads, and then the tensors that it writes.
  template <class InstanceOf>
  void compute(const PlanWalk::Execution& execution, const InstanceOf& instance) {
    const std::uint32_t a = execution.action;
    const Action& action = plan_.actions[a];
    const std::vector<Instance> read = read_by(execution, instance);
    for (const Instance& one : read) use(Use::Kind::read, a, one);
    read_cache(action, a);
    for (const Instance& one : read)
      if (is_changed(action, one, execution.freed)) use(Use::Kind::written, a, one);
    for (const Placement& made : action.allocates)
      if (made.pool == second_) use(Use::Kind::written, a, instance(made));
  }

  template <class InstanceOf>
  std::vector<Instance> read_by(const PlanWalk::Execution& execution, const InstanceOf& instance) {
    const Action& action = plan_.actions[execution.action];
    std::vector<Instance> read;
    for (const Access& use : action.uses) {
      const bool made =
          std::ranges::find(action.allocates, use.placement()) != action.allocates.end();
      if (use.pool == second_ && !made) read.push_back(instance(use.placement()));
    }
    for (const Placement& one : unlisted_[execution.action]) read.push_back(instance(one));
    return read;
  }

  /// Reads the part of the stage's cache of keys and values that belongs to the micro-batch.
  void read_cache(const Action& action, std::uint32_t a) {
    const auto cache = caches_.find(action.stage);
    if (cache == caches_.end() || action.micro_batch < 0) return;
    const auto at = at_.find({cache->second, 0});
    if (at == at_.end()) return;
    const std::int64_t count = prices_.request().workload.micro_batches_per_step(),
                       bytes = plan_.tensors[cache->second].bytes / count;
    uses_->push_back({Use::Kind::read, a, at->second + action.micro_batch % count * bytes, bytes});
  }

  /// Returns whether a computation changes a tensor that it did not make. An update changes weights and the state of the
  /// optimizer. A backward pass adds to a gradient, unless it is the last one to use this gradient.
  bool is_changed(const Action& action, const Instance& one,
                  const std::vector<Instance>& freed) const {
    const TensorClass tensor_class = plan_.tensors[one.placement.tensor].tensor_class;
    if (action.kind == ActionKind::update) return tensor_class != TensorClass::gradient;
    return tensor_class == TensorClass::gradient &&
           std::ranges::none_of(freed, [&](const Instance& other) {
             return other.placement == one.placement && other.number == one.number;
           });
  }

  void use(Use::Kind kind, std::uint32_t action, const Instance& one) {
    const auto at = at_.find({one.placement.tensor, one.number});
    if (at != at_.end())
      uses_->push_back({kind, action, at->second, plan_.tensors[one.placement.tensor].bytes});
  }

  CachedTurns& turns_;
  PlacedPrices& prices_;
  const Plan& plan_;
  std::uint32_t second_;
  FreeAddresses free_;
  std::map<Key, std::int64_t> at_;  ///< the address of each tensor in the second memory
  std::set<std::uint32_t> iterated_;
  Uses* uses_ = nullptr;                          ///< the list to which uses are added
  std::vector<std::vector<Placement>> unlisted_;  ///< indexed by action
  std::map<std::int32_t, std::uint32_t> caches_;  ///< by stage: the cache of keys and values
};

CachedTurns::CachedTurns(PlacedPrices& prices, const PlacedKinds& placed)
    : prices_(prices),
      plan_(placed.all_slow_plan()),
      first_pool_(placed.first_pool()),
      least_s_(placed.cached_at_least()) {
  const TwoMemories memories =
      two_memories(prices.request().pricing.platform, prices.device().name);
  require_cache_rates(memories.cache, memories.slow, prices.device().name);
  rates_ = memories.cache;
  Recorder(*this, prices, placed.second_pool()).record();
  if (plan_.body_end < plan_.actions.size())
    Recorder(*this, prices, placed.second_pool()).record_epilogue();
}

std::size_t CachedTurns::rest() const {
  const auto recorded = static_cast<std::int64_t>(rounds_.size());
  const std::int64_t more = std::max<std::int64_t>(0, plan_.iterations - recorded);
  return static_cast<std::size_t>(more) % period_;
}

std::vector<std::int64_t> CachedTurns::sizes() const {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = shares; n >= 0; --n)
    sizes.push_back(span_ / shares * n + span_ % shares * n / shares);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

void CachedTurns::run(const Uses& uses, HardwareCache& cache,
                      std::vector<HardwareCache::Traffic>& of) const {
  for (const Use& use : uses)
    if (use.kind == Use::Kind::arrives)
      cache.drop(use.address, use.bytes);
    else
      cache.access(use.address, use.bytes, use.kind == Use::Kind::written, of[use.action]);
}

// Even the first round finds in the cache what an earlier round would have left there.
CachedRun CachedTurns::round(std::int64_t cache_bytes) const {
  HardwareCache cache(cache_bytes);
  std::vector<HardwareCache::Traffic> of(plan_.actions.size()), steady = of;
  run(before_, cache, of);
  std::vector<HardwareCache::Traffic> ignored = of;
  for (const Uses& uses : rounds_) run(uses, cache, ignored);
  const std::size_t first = rounds_.size() - std::min(period_, rounds_.size());
  for (std::vector<HardwareCache::Traffic>* into : {&ignored, &steady})
    for (std::size_t n = first; n < rounds_.size(); ++n) run(rounds_[n], cache, *into);
  for (std::size_t n = first; n < first + rest(); ++n) run(rounds_[n], cache, ignored);
  run(after_, cache, of);
  CachedRun round;
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
    const Action& action = plan_.actions[a];
    const bool body = plan_.section_of(a) == Section::body;
    const HardwareCache::Traffic& traffic = body ? steady[a] : of[a];
    const double count = body ? static_cast<double>(period_) : 1;
    round.kernel_s.push_back(action.is_transfer()
                                 ? 0
                                 : prices_.behind_cache(prices_.work_of(plan_, action),
                                                        (traffic.misses / rates_.to_fast +
                                                         traffic.written_back / rates_.to_slow) /
                                                            count));
    if (!body) continue;
    round.seconds += round.kernel_s.back();
    round.hit_bytes += traffic.hits / count;
    round.miss_bytes += traffic.misses / count;
    round.written_back_bytes += traffic.written_back / count;
  }
  return round;
}

double CachedTurns::at_least(const CachedRun& round) const {
  double seconds = 0;
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
    seconds += static_cast<double>(plan_.executions_of(a)) * round.kernel_s[a];
  return std::max(least_s_, seconds * within_accuracy);
}

Plan CachedTurns::plan(const CachedRun& round) const {
  Plan plan = plan_;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    if (!plan.actions[a].is_transfer()) plan.actions[a].seconds = round.kernel_s[a];
  return plan;
}

void CachedTurns::add_cache(Plan& plan, const CachedRun& round, std::int64_t cache_bytes) const {
  if (cache_bytes > 0)
    plan.tensors.push_back({"cache", TensorClass::workspace, cache_bytes, first_pool_});
  for (const Fact& fact : facts_of_cache(round, cache_bytes)) plan.facts.push_back(fact);
}

}  // namespace sluice
