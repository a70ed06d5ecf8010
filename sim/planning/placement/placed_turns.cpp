#include "planning/placement/placed_turns.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "planning/only_candidate.hpp"
#include "planning/placement/placed_kinds.hpp"

namespace sluice {
namespace {

constexpr const char* static_placement = "static";
constexpr const char* all_slow_placement = "all_slow";
/// The number of shown machines. The first has room for all bytes of a step. Each next machine has three quarters of
/// the memory of the machine before it, so the last machine has 0.75^11 = 4 % of the first machine's memory.
constexpr int shown_sizes = 12;
/// The kinds are divided into at most this many blocks. All kinds of a block are in the same memory. The search puts
/// every set of blocks into the second memory once.
constexpr std::size_t most_blocks = 6;

/// Returns the bytes of a device that holds all weights, all caches and all micro-batches of a step at the same time.
std::int64_t bytes_of_step(const PolicyRequest& request) {
  std::int64_t weights = cache_bytes(request), others = 0;
  for (const StageBytes& stage : stage_bytes(request)) {
    weights = checked_add(weights, stage.weights, "bytes of a step");
    others = std::max(others, stage.input + stage.output + stage.workspace + stage.answer);
  }
  return checked_add(
      weights, checked_mul(others, request.workload.micro_batches_per_step(), "bytes of a step"),
      "bytes of a step");
}

/// A machine whose device has all tensors in its first memory. This memory has `bytes` bytes. It has the rates of the
/// real device's memory with the index `rates`.
struct ShownMachine {
  ShownMachine(const PolicyRequest& asked, const std::string& device, std::int64_t bytes,
               std::size_t rates)
      : platform(asked.pricing.platform),
        request(asked.priced({asked.pricing.model, asked.pricing.stages, platform,
                              asked.pricing.cost, asked.pricing.dtype, asked.pricing.training})) {
    platform.lookup = {};
    for (Device& one : platform.devices) {
      if (one.name != device) continue;
      one.memory().capacity = bytes;
      one.memory().read = one.memories[rates].read;
      one.memory().write = one.memories[rates].write;
    }
    request.capacity_enforced = true;
  }
  ShownMachine(const ShownMachine&) = delete;

  Platform platform;
  PolicyRequest request;  ///< refers to `platform`
};

/// Returns a set of kinds for each placement to try: the kinds that are in the second memory.
std::vector<TensorKinds> placements_of(const std::vector<TensorKind>& kinds,
                                       const std::string& way) {
  const TensorKinds all(kinds.begin(), kinds.end());
  if (way == all_slow_placement) return {all};
  const std::size_t blocks = std::min(kinds.size(), most_blocks);
  std::vector<TensorKinds> placements(std::size_t{1} << blocks);
  for (std::size_t number = 0; number < placements.size(); ++number)
    for (std::size_t k = 0; k < kinds.size(); ++k)
      if ((number >> k * blocks / kinds.size() & 1U) != 0) placements[number].insert(kinds[k]);
  return placements;
}

void say_placement(Plan& plan, const std::string& way, const CommonParameters& common) {
  plan.facts.insert(plan.facts.begin(), Fact("placement", way));
  std::map<std::uint32_t, std::int64_t> bytes;
  std::set<std::pair<std::uint32_t, std::uint32_t>> counted;
  const auto count = [&](std::uint32_t tensor, std::uint32_t pool) {
    if (pool != none && counted.insert({tensor, pool}).second)
      bytes[pool] += plan.tensors[tensor].bytes;
  };
  for (std::uint32_t t = 0; t < plan.tensors.size(); ++t) count(t, plan.tensors[t].home);
  for (const Action& action : plan.actions)
    for (const Placement& made : action.allocates) count(made.tensor, made.pool);
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p)
    for (std::size_t m = 0; m < 2; ++m)
      if (plan.pools[p].name == common.device.memories[m].pool)
        plan.facts.push_back(Fact("placed_bytes", bytes[p], "byte").said_of(plan.pools[p].name));
}

/// Returns the candidates of the policy on the machine of `request`. If the policy has none because no choice is open,
/// its plan is the only candidate.
std::vector<Candidate> candidates_on(const PolicyRequest& request,
                                     const PlansForMachine& of_policy) {
  std::vector<Candidate> candidates = of_policy.candidates(request);
  if (candidates.empty())
    candidates.push_back(only_candidate(
        "", [&request, plan = of_policy.plan] { return finish(plan(request), request); }));
  return candidates;
}

/// Finds the fastest plan for the two real memories.
class PlacedSearch {
 public:
  explicit PlacedSearch(const PlacedTurns& turns)
      : turns_(turns), prices_(turns.request, turns.common.device.name) {}

  Settled fastest(double worth) {
    best_ = {};
    best_.seconds = worth;
    std::int64_t bytes = bytes_of_step(turns_.request);
    for (int size = 0; size < shown_sizes; ++size, bytes -= bytes / 4) {
      if (!may_fit(bytes)) continue;
      for (const std::size_t rates : {std::size_t{0}, std::size_t{1}})
        if (rates == 1 || turns_.way == static_placement) place_plan_for(bytes, rates);
    }
    if (!best_.plan) return {};
    return std::move(best_);
  }

 private:
  /// Returns whether the two memories together have at least `bytes` bytes.
  bool may_fit(std::int64_t bytes) const {
    if (!turns_.request.capacity_enforced) return true;
    std::int64_t room = 0;
    for (std::size_t m = 0; m < 2; ++m) {
      const DeviceMemory& memory = turns_.common.device.memories[m];
      if (!memory.capacity) return true;
      room = checked_add(room, *memory.capacity, "bytes of two memories");
    }
    return bytes <= room;
  }

  void place_plan_for(std::int64_t bytes, std::size_t rates) {
    const ShownMachine shown(turns_.request, turns_.common.device.name, bytes, rates);
    const Settled best = judge(candidates_on(shown.request, turns_.of_policy)).best;
    if (!best.plan || !placed_.insert({rates, best.text, best.seconds}).second) return;
    const PlacedKinds placed(prices_, best.plan());
    // The text behind a semicolon is left out, because it is about the shown machine's memory.
    const std::string text = best.text.substr(0, best.text.find(';'));
    for (const TensorKinds& slow : placements_of(placed.kinds(), turns_.way)) {
      if (placed.kernel_seconds(slow) * (1 - 1e-9) >= best_.seconds) continue;
      Settled one = settled(text, [&] {
        Plan plan = placed.plan(slow);
        say_placement(plan, turns_.way, turns_.common);
        return plan;
      });
      if (one.plan && one.seconds < best_.seconds) best_ = std::move(one);
    }
  }

  const PlacedTurns& turns_;
  PlacedPrices prices_;
  /// For each plan that has been placed: the index of its shown machine's rates, the text of its choices, and its
  /// seconds. A plan whose values are already in the set is not placed.
  std::set<std::tuple<std::size_t, std::string, double>> placed_;
  Settled best_;  ///< before the first plan is found, only `seconds` is set: a plan must take less
};

}  // namespace

const std::vector<std::string>& placements_of_turns() {
  static const std::vector<std::string> ways = {static_placement, all_slow_placement};
  return ways;
}

std::vector<Candidate> placed_turns_candidates(const PlacedTurns& turns) {
  std::vector<Candidate> candidates;
  if (turns.way == static_placement)
    for (Candidate& one : candidates_on(turns.request, turns.of_policy))
      candidates.push_back(changed(std::move(one), [common = turns.common](Settled& way) {
        if (!way.plan) return;
        way.plan = [plan = std::move(way.plan), common] {
          Plan made = plan();
          say_placement(made, static_placement, common);
          return made;
        };
      }));
  candidates.push_back({.simulate = [turns](double worth, const auto& use) {
    use(PlacedSearch(turns).fastest(worth));
  }});
  return candidates;
}

Draft placed_turns_draft(const PlacedTurns& turns) {
  const Settled best = PlacedSearch(turns).fastest(std::numeric_limits<double>::infinity());
  if (best.plan) return best.plan();
  const auto& memories = turns.common.device.memories;
  throw Infeasible("no plan with placement " + turns.way + " fits into the memories '" +
                   memories[0].pool + "' and '" + memories[1].pool +
                   "' together: use smaller values of workload.micro_batch, or more stages");
}

}  // namespace sluice
