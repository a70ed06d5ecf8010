// What is known from other requests, which differ only in the capacity of the device's first memory. The plans that a
// policy makes for shown machines do not depend on the capacities of the real memories, so these requests share them.
// Rehearsals do not depend on the capacity either. So requests for shown machines with equal rates share rehearsals,
// too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "planning/device_bytes.hpp"
#include "planning/placement/turns/first_touch.hpp"
#include "planning/placement/turns/shown_machine.hpp"
#include "planning/streaming/rehearsed_runs.hpp"
#include "planning/training/pace.hpp"
#include "planning/training/staying.hpp"

namespace sluice {

/// Lower bounds of the seconds of a plan's placements (PlacedSearch). They hold for a request, and for requests whose
/// devices have less memory.
struct PlacedAtLeast {
  double all = 0;                      ///< holds for each placement
  std::map<TensorKinds, double> each;  ///< by the kinds in the second memory
};

/// The fastest plan for a shown machine, with the text of its choices.
struct ShownPlan {
  double seconds = 0;
  std::string text;
  Plan plan;
  mutable std::map<std::string, PlacedAtLeast> placed = {};  ///< by placement method
};

class ShownPlans {
 public:
  /// A lower bound of the seconds of all plans for the request. With more memory, the fastest plan takes so many
  /// seconds.
  double at_least = 0;
  /// The fewest bytes of the device's first memory with which the last plan of `resident` has the same placement. Empty
  /// if no placement was searched.
  std::optional<std::int64_t> bytes_of_placement = {};
  /// Whether the policy is asked for a plan in which all tensors take turns, unless the scenario says which of them
  /// stay.
  bool all_take_turns = false;
  /// The choices of streamed inference on the machine of the request.
  KnownChoices streamed = {};
  /// The choices of a run of training: the strategy for fates, the micro-batches in flight, whether the weights of all
  /// stages stay, the tensors of each stage that stay, the sequence of loads, and the bytes up to which early loads,
  /// and the whole run, may fill a device.
  using TrainingChoices = std::tuple<std::string, std::int64_t, bool, std::vector<StayingTensors>,
                                     LoadSequence, DeviceBytes, std::optional<DeviceBytes>>;
  /// The seconds of these runs, if this object is for shown machines with equal rates.
  std::map<TrainingChoices, double> training = {};

  /// Returns what is known for the shown machine of a plan with `placement: backing` (backing.hpp).
  ShownPlans& backed() {
    if (!backed_) backed_ = std::make_unique<ShownPlans>();
    return *backed_;
  }

  /// The size of a shown machine's memory, its rates, and what the policy is asked for.
  struct Machine {
    std::int64_t bytes = 0;
    ShownRates rates;
    bool all_take_turns = false;
    auto operator<=>(const Machine&) const = default;
  };
  using Made = std::shared_ptr<const ShownPlan>;

  /// Returns what `make` returns for this machine and this strategy for fates. Calls `make` only if the plan is not
  /// known yet.
  Made plan(const std::string& strategy, const Machine& machine,
            const std::function<Made()>& make) {
    const std::pair<std::string, Machine> asked(strategy, machine);
    const auto known = known_.find(asked);
    return known != known_.end() ? known->second : known_.emplace(asked, make()).first->second;
  }

 private:
  std::map<std::pair<std::string, Machine>, Made> known_;
  std::unique_ptr<ShownPlans> backed_;
};

/// Returns whether the request asks for a plan as ShownPlans::all_take_turns says.
inline bool asks_for_turns(const PolicyRequest& request) {
  return request.shown_plans && request.shown_plans->all_take_turns;
}

}  // namespace sluice
