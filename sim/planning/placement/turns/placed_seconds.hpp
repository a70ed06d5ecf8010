// A lower bound of the seconds of a plan whose tensors are placed in two memories. The bound is
// computed from the plan in which all tensors on the device are in the first memory. So a placed plan
// that its bound rules out is neither made nor simulated.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// The properties of a computation on which its price depends.
struct StageWork {
  ActionKind kind = ActionKind::forward;
  std::uint32_t device = 0;  ///< the index of the device in Platform::devices
  std::int32_t stage = 0;
  std::int64_t samples = 0;
  bool selective =
      false;  ///< whether only the layers are computed that selective recomputation runs again
  /// In training: whether a forward pass keeps the stage's inner tensors for the backward pass.
  bool keeps = false;
  auto operator<=>(const StageWork&) const = default;
};
/// Returns the work of a computation of the plan, which runs on a device of the platform.
StageWork work_of(const Plan& plan, const Action& action, const Platform& platform);

class PlacedSeconds {
 public:
  /// Returns the index k of the kind of a tensor in a first memory, as in at_least(). Returns nothing if the tensor is
  /// always in the first memory.
  using KindOf = std::function<std::optional<std::size_t>(const Placement&)>;

  /// `second_of` gives, for the first memory of each device, the second memory of this device. It is indexed by pool of
  /// `plan`, and has `none` for every other pool. The plan must outlive this object. If `in_turn` is true, no action of
  /// the plan overlaps another action. `share` is the platform with the bandwidths that the links have for the bytes of
  /// this plan: if the plan is for one of several equal replicas, EqualReplicas::share.
  PlacedSeconds(const Plan& plan, const Platform& platform,
                const std::vector<std::uint32_t>& second_of, bool in_turn, const KindOf& kind_of,
                const Platform& share);

  /// Returns the bound for the placement in which kind k is in the second memory if `slow[k]` is true. `kernel_s` gives
  /// the seconds of a computation with this placement.
  double at_least(const std::vector<bool>& slow,
                  const std::function<double(const StageWork&)>& kernel_s) const;

 private:
  /// How an action is executed for one place of the tensor that it moves. The place is the first or the second memory
  /// of the device from which the tensor comes, and the same of the device to which it goes.
  struct Way {
    double seconds = 0, latency_s = 0;  ///< the seconds are 0 for a computation
    std::size_t stream = 0;
    std::vector<std::uint32_t> links;
  };
  struct Step {
    std::optional<std::size_t> from,
        to;  ///< the kinds of the tensor that moves from or to a device
    /// The ways with the first memories; the second memory of `to`; of `from`; and of both.
    std::array<Way, 4> ways;
    std::optional<std::size_t> work;   ///< the index in `works_`, if the action is a computation
    double executions = 0, bytes = 0;  ///< the bytes that one execution moves
    bool begins = false;  ///< whether the action runs before the second iteration of the body
  };
  Way way_of(const Action& action, const Platform& platform, const std::string& from,
             const std::string& to);
  double start_of(const Action& action, const std::vector<double>& arrivals) const;

  const Plan& plan_;
  bool in_turn_;
  std::vector<double> bandwidths_;  ///< indexed by link
  std::vector<Step> steps_;  ///< indexed by action
  std::vector<StageWork> works_;
  std::vector<std::string>
      streams_;  ///< the streams of the plan, and those of copies from and to the second memory
};

}  // namespace sluice
