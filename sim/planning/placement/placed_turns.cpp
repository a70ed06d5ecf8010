#include "planning/placement/placed_turns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "fates/optimal/report.hpp"
#include "planning/only_candidate.hpp"
#include "planning/placement/fastest_machine.hpp"
#include "planning/placement/placed_candidates.hpp"
#include "planning/placement/placed_kinds.hpp"
#include "planning/training/batch_bytes.hpp"

namespace sluice {
namespace {

/// How many sizes are compared. Plans of training take longer to make, so there are fewer.
constexpr int sizes_of_inference = 13, sizes_of_training = 6;
/// The kinds are divided into at most this many blocks. All kinds of a block are in the same memory. The search puts
/// every set of blocks into the second memory once.
constexpr std::size_t most_blocks = 6;

/// The routes between host memory and a memory of the device.
struct HostRoutes {
  const Path &down, &up;
};
HostRoutes routes_to(const Platform& platform, const std::string& memory) {
  const std::string& host = platform.host().name;
  return {platform.path(host, memory), platform.path(memory, host)};
}

/// Returns whether a copy to or from the second memory of the device has a longer latency or set-up than a copy to or
/// from the first memory.
bool second_is_farther(const Platform& platform, const Device& device) {
  const HostRoutes near = routes_to(platform, device.name),
                   far = routes_to(platform, device.memories[1].pool);
  const auto farther = [](const Path& one, const Path& other) {
    return other.latency_s > one.latency_s || other.setup_s > one.setup_s;
  };
  return farther(near.down, far.down) || farther(near.up, far.up);
}

/// Looks at the copies between host memory and the two memories of the device on the platform `real`. If those of the
/// second memory have a longer latency or set-up than those of the first memory, adds the difference to the links of
/// `platform` to or from the first memory.
void slow_down_to_second(Platform& platform, const Platform& real, const Device& device) {
  const HostRoutes near = routes_to(real, device.name),
                   far = routes_to(real, device.memories[1].pool);
  const auto slow_down = [](Platform::Edge& edge, const Path& one, const Path& other) {
    edge.latency_s += std::max(0.0, other.latency_s - one.latency_s);
    edge.setup_s += std::max(0.0, other.setup_s - one.setup_s);
  };
  for (Platform::Edge& edge : platform.edges) {
    if (edge.to == device.memory().pool) slow_down(edge, near.down, far.down);
    if (edge.from == device.memory().pool) slow_down(edge, near.up, far.up);
  }
}

/// In inference, the first machine holds the bytes of all weights, and of the micro-batches of two steps, or of one step
/// if the run has only one. The bytes of a micro-batch are a sum: its tensors in the stage in which they take the most
/// bytes, and one input and one answer that are in transfer meanwhile. The memory of the second machine is smaller: it
/// has no room for inputs and answers in transfer. Each further machine has three quarters of the memory of the machine
/// before, so that the last one has 4 % of the second one's. With many buffers, a plan may load inputs more than one
/// step early, and may then need more bytes than the first machine holds. Such a plan is not placed.
std::vector<std::int64_t> sizes_in_inference(const PolicyRequest& request) {
  const auto sum = [](std::int64_t a, std::int64_t b) {
    return checked_add(a, b, "bytes of two steps");
  };
  std::int64_t weights = cache_bytes(request), most = 0;
  const std::vector<StageBytes> stages = stage_bytes(request);
  for (const StageBytes& stage : stages) {
    weights = sum(weights, stage.weights);
    most = std::max(most, sum(sum(stage.input, stage.output), sum(stage.workspace, stage.answer)));
  }
  const std::int64_t in_transfer = sum(stages.front().input, stages.back().output);
  const std::int64_t steps = std::min<std::int64_t>(2, request.workload.steps);
  const std::int64_t count =
      checked_mul(steps, request.workload.micro_batches_per_step(), "micro-batches");
  std::vector<std::int64_t> sizes;
  for (const std::int64_t bytes : {sum(most, in_transfer), most})
    sizes.push_back(sum(weights, checked_mul(bytes, count, "bytes of two steps")));
  while (sizes.size() < sizes_of_inference) sizes.push_back(sizes.back() - sizes.back() / 4);
  return sizes;
}

/// Returns the sizes of the shown machines for training, the greatest first. The memory of the first machine has room
/// for all tensors of a batch. The last one holds the tensors of the largest stage for one micro-batch. The sizes
/// between them have equal ratios.
std::vector<std::int64_t> sizes_in_training(const PolicyRequest& request,
                                            const CommonParameters& common) {
  const BatchBytes bytes = batch_bytes(request, common.device, common.overlap);
  std::vector<std::int64_t> sizes;
  const auto all = static_cast<double>(bytes.all);
  for (int n = 0; n < sizes_of_training; ++n) {
    const double share = std::pow(static_cast<double>(bytes.largest_stage) / all,
                                  static_cast<double>(n) / (sizes_of_training - 1));
    sizes.push_back(static_cast<std::int64_t>(std::ceil(share * all)));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Returns the sizes of the shown machines, the greatest first.
std::vector<std::int64_t> shown_sizes(const PolicyRequest& request,
                                      const CommonParameters& common) {
  return request.workload.training ? sizes_in_training(request, common)
                                   : sizes_in_inference(request);
}

/// How fast the memory of a shown machine is: it has the rates of the real device's memory with the index `memory`. With
/// `far`, copies to it and from it take at least the latency and the set-up of copies to and from the second memory. A
/// plan then loads weights as early as the second memory needs them.
struct ShownRates {
  std::size_t memory = 0;
  bool far = false;
  auto operator<=>(const ShownRates&) const = default;
};

/// A machine whose device has all tensors in its first memory. This memory has `bytes` bytes.
struct ShownMachine {
  ShownMachine(const PolicyRequest& asked, const std::string& device, std::int64_t bytes,
               ShownRates rates)
      : platform(asked.pricing.platform),
        request(asked.priced({asked.pricing.model, asked.pricing.stages, platform,
                              asked.pricing.cost, asked.pricing.dtype, asked.pricing.training})) {
    platform.lookup = {};
    for (Device& one : platform.devices) {
      if (one.name != device) continue;
      one.memory().capacity = bytes;
      one.memory().read = one.memories[rates.memory].read;
      one.memory().write = one.memories[rates.memory].write;
    }
    if (rates.far)
      slow_down_to_second(platform, asked.pricing.platform, asked.pricing.platform.device(device));
    if (!asked.capacity_enforced)
      for (Memory& memory : platform.memories) memory.capacity.reset();
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

/// A policy makes its plan for a shown machine, whose device has only one memory. Afterwards, the tensors of this plan
/// are placed in two memories. Returns whether the fact may be wrong for the plan with two memories.
bool holds_for_one_memory(const Fact& fact) {
  static const std::set<std::string> names = {"budget_bytes", "recompute_of_stage_s",
                                              "copies_of_stage_s"};
  return is_proven(fact) || names.count(fact.name) != 0;
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

/// A placement of a plan, and a lower bound of the seconds of the placed plan.
struct BoundedPlacement {
  double at_least = 0;
  TensorKinds slow;
};

/// Finds the fastest placed plans.
class PlacedSearch {
 public:
  explicit PlacedSearch(PlacedTurns turns)
      : turns_(std::move(turns)), prices_(turns_.request, turns_.common.device.name) {}

  /// Returns a candidate for each shown machine, but only if its memory is not larger than both memories of the real
  /// device together.
  static std::vector<Candidate> open(const std::shared_ptr<PlacedSearch>& search) {
    FastestMachine fastest(search->turns_, search->prices_);
    std::vector<Candidate> candidates;
    for (const std::int64_t bytes : shown_sizes(search->turns_.request, search->turns_.common)) {
      if (!search->may_fit(bytes)) continue;
      const double least = fastest.seconds(bytes);
      for (const ShownRates& rates : search->rates())
        candidates.push_back(
            {.at_least = least, .simulate = [search, bytes, rates](double worth, const auto& use) {
               use(search->fastest(bytes, rates, worth));
             }});
    }
    return candidates;
  }

  /// Returns how many candidates open() returns at most: one for each shown machine.
  std::int64_t ways() const {
    const int sizes = turns_.request.workload.training ? sizes_of_training : sizes_of_inference;
    return sizes * static_cast<std::int64_t>(rates().size());
  }

 private:
  /// Returns the rates that the shown machines have.
  std::vector<ShownRates> rates() const {
    std::vector<ShownRates> all = {{1, false}};
    if (turns_.way != all_slow_placement) all.insert(all.begin(), {0, false});
    if (second_is_farther(turns_.request.pricing.platform, turns_.common.device))
      all.push_back({1, true});
    return all;
  }

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

  /// Returns the fastest placement of the policy's plan for a shown machine. If no placement fits and takes less than
  /// `worth` seconds, the result has no plan.
  Settled fastest(std::int64_t bytes, const ShownRates& rates, double worth) {
    const ShownMachine shown(turns_.request, turns_.common.device.name, bytes, rates);
    const Settled planned = judge(candidates_on(shown.request, turns_.of_policy)).best;
    if (!planned.plan) return {};
    // The text does not say which fates a search has found, so plans with equal texts and seconds may differ.
    const bool is_new = placed_.insert({rates, planned.text, planned.seconds}).second;
    if (!is_new && !turns_.request.strategy().searches) return {};
    const PlacedKinds placed(prices_, planned.plan(), !turns_.common.overlap);
    // The text of the policy's choices. Its part after a semicolon is about the memory of the shown machine.
    const std::string text = planned.text.substr(0, planned.text.find(';'));
    Settled best;
    for (const BoundedPlacement& one : by_bound(placed)) {
      if (one.at_least >= std::min(worth, best.seconds)) break;
      Settled way = settled(text, [&] {
        Plan plan = placed.plan(one.slow);
        std::erase_if(plan.facts, holds_for_one_memory);
        say_placement(plan, turns_.way, turns_.common);
        return plan;
      });
      if (way.plan && way.seconds < best.seconds) best = std::move(way);
    }
    if (best.plan && !found_.insert({best.text, best.seconds}).second) return {};
    return best;
  }

  /// Returns the placements of a plan, beginning with the placement that has the least bound.
  std::vector<BoundedPlacement> by_bound(const PlacedKinds& placed) const {
    std::vector<BoundedPlacement> all;
    for (TensorKinds& slow : placements_of(placed.kinds(), turns_.way)) {
      const double least = placed.seconds_at_least(slow);
      all.push_back({least, std::move(slow)});
    }
    std::ranges::stable_sort(all, {}, &BoundedPlacement::at_least);
    return all;
  }

  PlacedTurns turns_;
  PlacedPrices prices_;
  /// For each plan that has been placed: its shown machine's rates, the text of its choices, and its seconds.
  std::set<std::tuple<ShownRates, std::string, double>> placed_;
  /// The results so far. A shown machine may lead to the same placed plan as another shown machine.
  std::set<std::pair<std::string, double>> found_;
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
      candidates.push_back(
          changed(proven_for("none", std::move(one)), [common = turns.common](Settled& way) {
            if (!way.plan) return;
            way.plan = [plan = std::move(way.plan), common] {
              Plan made = plan();
              say_placement(made, static_placement, common);
              return made;
            };
          }));
  candidates.push_back(placed_on_shown_machines(turns));
  return candidates;
}

Candidate placed_on_shown_machines(const PlacedTurns& turns) {
  const auto search = std::make_shared<PlacedSearch>(turns);
  return {.ways = search->ways(), .open = [search] { return PlacedSearch::open(search); }};
}

Draft placed_turns_draft(const PlacedTurns& turns) {
  std::vector<Candidate> candidates;
  candidates.push_back(placed_on_shown_machines(turns));
  const Settled best = judge(std::move(candidates)).best;
  if (best.plan) return best.plan();
  const auto& memories = turns.common.device.memories;
  throw Infeasible("no plan with placement " + turns.way + " fits into the memories '" +
                   memories[0].pool + "' and '" + memories[1].pool +
                   "' together: use smaller values of workload.micro_batch, or more stages");
}

}  // namespace sluice
