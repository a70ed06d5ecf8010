#include "planning/placement/turns/cached_memory.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "planning/copy_time.hpp"
#include "planning/placement/memories.hpp"
#include "planning/placement/turns/plan_walk.hpp"
#include "planning/placement/turns/unlisted.hpp"
#include "planning/stage_bytes.hpp"

namespace sluice {
namespace {

/// Each round should begin with the same addresses as an earlier round. If this takes more rounds, the last half of the
/// rounds counts as a period.
constexpr std::size_t most_rounds = 64;

}  // namespace

/// Records the uses of a plan in the order of its actions.
class CachedMemory::Recorder {
 public:
  explicit Recorder(CachedMemory& memory)
      : memory_(memory),
        plan_(memory.plan_),
        unlisted_(unlisted_operands(plan_, memory.first_pool_, memory.prices_)) {
    for (std::uint32_t a = 0; a < unlisted_.size(); ++a) {
      const Action& action = plan_.actions[a];
      if (!memory.computes_here(action)) unlisted_[a].clear();
      if (action.kind == ActionKind::update) updated_.insert(action.stage);
    }
    for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t) {
      if (plan_.tensors[t].home != memory.first_pool_) continue;
      take({{t, memory.first_pool_}, 0});
      if (plan_.tensors[t].tensor_class == TensorClass::kv_cache)
        caches_[plan_.tensors[t].name] = {t, {}};
    }
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
        const auto [same, fresh] = known.try_emplace(addresses(round), memory_.rounds_.size());
        if (!fresh || memory_.rounds_.size() == most_rounds) {
          memory_.period_ = fresh ? most_rounds / 2 : memory_.rounds_.size() - same->second;
          return false;
        }
        memory_.rounds_.emplace_back();
      }
      uses_ = body ? &memory_.rounds_.back() : &memory_.before_;
      execute(execution, walk.tables());
      return longer.section_of(execution.action) != Section::epilogue;
    });
  }

  /// Records the uses in the epilogue. The rounds of the body must have been recorded by another object: rounds that
  /// only repeat them are left out.
  void record_epilogue() {
    const auto recorded = static_cast<std::int64_t>(memory_.rounds_.size());
    const Plan shorter = with_iterations(
        plan_, std::min(plan_.iterations, recorded) + static_cast<std::int64_t>(memory_.rest()));
    Uses ignored;
    PlanWalk walk(shorter);
    walk.through([&](const PlanWalk::Execution& execution) {
      const bool epilogue = shorter.section_of(execution.action) == Section::epilogue;
      uses_ = epilogue ? &memory_.after_ : &ignored;
      execute(execution, walk.tables());
      return true;
    });
  }

 private:
  using Instance = PlanWalk::Instance;
  using Key = std::pair<std::uint32_t, std::int64_t>;  // a tensor and the number of its instance

  /// Returns whether the tensor is in the second memory, behind the cache.
  bool is_behind(const Placement& one) const {
    return one.pool == memory_.first_pool_ && memory_.placed_.is_placed(one.tensor);
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
    if (!is_behind(made.placement)) return;
    const std::int64_t bytes = plan_.tensors[made.placement.tensor].bytes;
    const std::int64_t address = free_.take(bytes);
    at_[{made.placement.tensor, made.number}] = address;
    memory_.span_ = std::max(memory_.span_, address + bytes);
  }

  void execute(const PlanWalk::Execution& execution, const PlanTables& tables) {
    const Action& action = plan_.actions[execution.action];
    const auto instance = [&](const Placement& of) {
      if (tables.iterated[of.tensor]) iterated_.insert(of.tensor);
      return Instance{of, tables.instance(execution.action, execution.iteration, of.tensor)};
    };
    for (const Placement& made : action.allocates) take(instance(made));
    if (action.is_transfer()) {
      for (const Placement& made : action.allocates)
        use(Use::Kind::arrives, execution.action, instance(made));
    } else {
      compute(execution, instance);
    }
    for (const Instance& freed : execution.freed) {
      const auto at = at_.find({freed.placement.tensor, freed.number});
      if (!is_behind(freed.placement) || at == at_.end()) continue;
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
    for (const Instance& one : read) {
      if (is_new_sum(execution, one)) use(Use::Kind::arrives, a, one);
      use(Use::Kind::read, a, one);
    }
    read_cache(action, a);
    for (const Instance& one : read)
      if (is_changed(action, one, execution.freed)) use(Use::Kind::written, a, one);
    for (const Placement& made : action.allocates) use(Use::Kind::written, a, instance(made));
  }

  template <class InstanceOf>
  std::vector<Instance> read_by(const PlanWalk::Execution& execution, const InstanceOf& instance) {
    const Action& action = plan_.actions[execution.action];
    std::vector<Instance> read;
    for (const Access& use : action.uses) {
      const bool made =
          std::ranges::find(action.allocates, use.placement()) != action.allocates.end();
      if (!made) read.push_back(instance(use.placement()));
    }
    for (const Placement& one : unlisted_[execution.action]) read.push_back(instance(one));
    return read;
  }

  /// Reads the part of the stage's cache of keys and values that belongs to the micro-batch. A device has the parts of
  /// the micro-batches that it computes, in the order in which it computes them.
  void read_cache(const Action& action, std::uint32_t a) {
    const auto cache = caches_.find("kv_cache." + std::to_string(action.stage));
    if (cache == caches_.end() || action.micro_batch < 0 || !memory_.computes_here(action)) return;
    auto& [tensor, parts] = cache->second;
    const auto at = at_.find({tensor, 0});
    if (at == at_.end()) return;
    const PolicyRequest& request = memory_.prices_.request();
    const std::int64_t part =
        parts
            .try_emplace(action.micro_batch % request.workload.micro_batches_per_step(),
                         parts.size())
            .first->second;
    const std::int64_t bytes =
        cache_bytes(request.pricing.stages[static_cast<std::size_t>(action.stage)],
                    request.workload.micro_batch);
    uses_->push_back({Use::Kind::read, a, at->second + part * bytes, bytes});
  }

  /// Returns whether a computation reads gradients that replicas have just summed. They sum the gradients of each batch
  /// before the update of the stage. If there is no update, they sum them before the first backward pass of the next
  /// batch. The pieces of the sums have arrived in the second memory.
  bool is_new_sum(const PlanWalk::Execution& execution, const Instance& one) {
    const PolicyRequest& request = memory_.prices_.request();
    const Action& action = plan_.actions[execution.action];
    if (!request.sums_gradients || plan_.tensors[one.placement.tensor].gradients_of != action.stage)
      return false;
    if (action.kind == ActionKind::update) return true;
    if (updated_.count(action.stage) > 0 || !record_of(action.kind).adds_gradients) return false;
    const std::int64_t micro_batches = request.workload.batch / request.workload.micro_batch;
    const Batch batch = std::pair(execution.iteration, action.micro_batch / micro_batches);
    return std::exchange(batches_[one.placement.tensor], batch) != batch;
  }

  /// Returns whether a computation changes a tensor that it did not make. An update changes weights and the state of
  /// the optimizer. A backward pass adds to a gradient, unless it is the last one to use this gradient.
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
    if (is_behind(one.placement) && at != at_.end())
      uses_->push_back({kind, action, at->second, plan_.tensors[one.placement.tensor].bytes});
  }

  /// The cache of keys and values of a stage. `parts` has the number of each micro-batch's part.
  struct KeysAndValues {
    std::uint32_t tensor = none;
    std::map<std::int64_t, std::int64_t> parts;
  };
  /// An iteration, and a batch of it.
  using Batch = std::optional<std::pair<std::int64_t, std::int64_t>>;

  CachedMemory& memory_;
  const Plan& plan_;
  FreeAddresses free_;
  std::map<Key, std::int64_t> at_;  ///< the address of each tensor in the second memory
  std::set<std::uint32_t> iterated_;
  Uses* uses_ = nullptr;                          ///< the list to which uses are added
  std::vector<std::vector<Placement>> unlisted_;  ///< indexed by action
  std::map<std::string, KeysAndValues> caches_;   ///< by name
  std::set<std::int32_t> updated_;                ///< the stages that have updates
  /// For each tensor of gradients, the batch of the last backward pass that has added to it.
  std::map<std::uint32_t, Batch> batches_;
};

CachedMemory::CachedMemory(PlacedPrices& prices, const PlacedKinds& placed, std::size_t device)
    : prices_(prices),
      placed_(placed),
      plan_(placed.policy_plan()),
      first_pool_(placed.first_pool(device)) {
  const std::vector<const Device*>& devices = prices.devices();
  for (const Stream& stream : plan_.streams) {
    const auto of = std::ranges::find(devices, stream.device, &Device::name);
    here_.push_back(of != devices.end() && placed.first_pool(static_cast<std::size_t>(
                                               of - devices.begin())) == first_pool_);
  }
  const std::string& name = devices[device]->name;
  const TwoMemories memories = two_memories(prices.request().pricing.platform, name);
  require_cache_rates(memories.cache, memories.slow, name);
  rates_ = memories.cache;
  Recorder(*this).record();
  if (plan_.body_end < plan_.actions.size()) Recorder(*this).record_epilogue();
}

std::size_t CachedMemory::rest() const {
  const auto recorded = static_cast<std::int64_t>(rounds_.size());
  const std::int64_t more = std::max<std::int64_t>(0, plan_.iterations - recorded);
  return static_cast<std::size_t>(more) % period_;
}

std::vector<std::int64_t> CachedMemory::sizes(std::int64_t shares) const {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = shares; n >= 0; --n)
    sizes.push_back(span_ / shares * n + span_ % shares * n / shares);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

void CachedMemory::run(const Uses& uses, HardwareCache& cache,
                       std::vector<HardwareCache::Traffic>& of) const {
  for (const Use& use : uses)
    if (use.kind == Use::Kind::arrives)
      cache.drop(use.address, use.bytes);
    else
      cache.access(use.address, use.bytes, use.kind == Use::Kind::written, of[use.action]);
}

// Even the first round finds in the cache what an earlier round would have left there.
CachedMemory::Round CachedMemory::round(std::int64_t cache_bytes) const {
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
  Round round;
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
    const bool body = plan_.section_of(a) == Section::body;
    const HardwareCache::Traffic& traffic = body ? steady[a] : of[a];
    const double count = body ? static_cast<double>(period_) : 1;
    round.misses_s.push_back(
        (traffic.misses / rates_.to_fast + traffic.written_back / rates_.to_slow) / count);
    if (!body) continue;
    round.hit_bytes += traffic.hits / count;
    round.miss_bytes += traffic.misses / count;
    round.written_back_bytes += traffic.written_back / count;
  }
  return round;
}

}  // namespace sluice
