// Whether the choices of replicas are compared by runs of all of them: if there are few of them, or if they train in
// lock step. If transfers of all replicas use the links at the same time, and the machine looks the same from each
// replica, then all replicas do the same at the same time: this is lock step. So the run of one replica, with its
// share of the links, tells how long the run of all of them takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/passes/all_reduce.hpp"
#include "plan/plan.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Returns whether there are few replicas: at most 8, or more with so short a step that a run of all of them is soon
/// simulated. The choices of few replicas are compared by runs of all of them. Those of more replicas are compared by
/// the run of a single replica, unless all of them run in lock step.
bool few_replicas(const PolicyRequest& request, const Reader& parameters);

class LockStep {
 public:
  /// Returns nothing if the replicas do not run in lock step. This is so if there are few of them (few_replicas()), in
  /// inference, if their devices differ in more than the capacity of a memory, if a device has two memories, if a
  /// strategy searches for fates, if transfers must take turns (`transfers: in_turn`), if the links of the replicas,
  /// or those over which they sum gradients, differ, and if a step is so long that a run of all replicas takes long to
  /// simulate. `parameters` has the parameters of the replicating policy.
  static std::optional<LockStep> of(const PolicyRequest& request, const Reader& parameters);

  /// Returns a lower bound of the seconds in which all replicas run with the plan of the first one, at the same time.
  /// It is exact if the bytes of each stage's gradients are a multiple of the number of replicas, and if no transfer
  /// between two replicas uses a half-duplex link of each of their devices.
  double least_seconds(Plan first) const;

 private:
  LockStep() = default;
  bool has_equal_paths(const Platform& platform, bool sums);

  std::vector<std::string> devices_;
  Platform share_;  ///< the platform with the share that one replica has of each link
  /// The connection from the first replica to the next one, if the replicas sum gradients.
  std::optional<RingHop> hop_;
  bool overlap_ = false;
  std::int64_t micro_batches_ = 0;  ///< of one replica in a batch
};

/// Returns whether the choices of all replicas are compared by runs of all of them: there are few replicas, or they run
/// in lock step.
bool judged_together(const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
