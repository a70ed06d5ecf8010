// Takes a finished plan, and places its tensors in the two memories of each device. placed_prices.hpp says which
// tensors are of one kind. All tensors of a kind are in the first memories of the devices, or all are in the second
// memories.
//
// Three ways to group kinds are tried. In the first way, a class of tensors is in the first memories of all devices, or
// in the second memories of all devices; only the weights of a stage are independent of those of other stages. In the
// second way, the devices are independent of each other, too. In the third way, each kind is independent. But if a
// computation reads tensors of a class in the memory of another device (under phased, with `activations: on_chip`), the
// tensors of this class are always together.
//
// Devices may have the same second memory. Then a tensor that one of them sends to another one stays in the first
// memories, and so do all tensors of its kind: a tensor in the common memory would have to be copied to itself. The
// same holds for gradients that replicas sum. So no tensor in the common memory is used by two devices with different
// first memories.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "planning/placement/turns/first_touch.hpp"
#include "planning/placement/turns/placed_prices.hpp"

namespace sluice {

class PlacedKinds {
 public:
  /// `plan` is a finished plan whose tensors on the devices are all in the first memories. These memories may have
  /// other capacities and rates in the plan than in the request of `prices`. `prices` must outlive the object. If
  /// `in_turn` is true, no action of the plan overlaps another action.
  PlacedKinds(PlacedPrices& prices, Plan plan, bool in_turn);
  PlacedKinds(const PlacedKinds&) = delete;

  /// Returns the kinds of the plan.
  const std::vector<TensorKind>& kinds() const { return kinds_; }

  /// Divides the kinds into at most `most_blocks` blocks. All kinds of a block are in the same memory, and so are all
  /// kinds of a class, except weights. Returns each set of blocks: the kinds that are in the second memory.
  std::vector<TensorKinds> sets_of_blocks() const;
  static constexpr std::size_t most_blocks = 6;

  /// Returns the placements that `first_touch` can have. If `fits` is true, those are left out that need more bytes of
  /// a first memory than it has (first_touch.hpp).
  std::vector<TensorKinds> first_touched(bool fits) const;
  /// Returns the placements in which each device fills its first memory with the kinds that save the most seconds per
  /// byte (first_touch.hpp). If `fits` is true, those with independent kinds are left out that need more bytes of a
  /// first memory than it has. Those for which the cost model has no price are left out, too.
  std::vector<TensorKinds> filled(bool fits) const;

  /// Returns a lower bound of the seconds of plan(slow). If computations read copies of the kinds in `moved` in the
  /// first memory, the bound holds for the plan with moves that make these copies.
  double seconds_at_least(const TensorKinds& slow, const TensorKinds& moved = {}) const;

  /// Returns the plan with the kinds in `slow` in the second memory. Its memories have the capacities of the request's
  /// platform.
  Plan plan(const TensorKinds& slow) const { return plan(slow, slow); }

  /// These three functions are for first memories that are hardware caches of the second memories. all_slow_plan()
  /// returns the plan with all kinds in the second memories. Its computations have the seconds without misses of the
  /// caches. cached_at_least() returns a lower bound of the seconds of this plan with any misses. The last function
  /// returns a lower bound if the computations take these seconds.
  Plan all_slow_plan() const { return plan(all(), {}); }
  double cached_at_least() const;
  double cached_at_least(const std::function<double(const StageWork&)>& kernel_s) const {
    return at_least(all(), kernel_s);
  }

  /// Returns the plan of the policy, with all kinds in the first memory.
  const Plan& policy_plan() const { return plan_; }
  /// Returns whether the tensor has a kind: in a first memory, it may be placed in the second memory instead.
  bool is_placed(std::uint32_t tensor) const { return kinds_of_[tensor].has_value(); }
  /// Returns the kind of a tensor in a pool. Returns nothing if the pool is not a first memory, or the tensor always
  /// stays there.
  std::optional<TensorKind> kind_of(const Placement& one) const;
  /// Returns the two memories of each device. Each memory is listed once, even if several devices have it.
  std::vector<std::uint32_t> pools() const;
  /// Returns the two memories of a device, which is given by its index in PlacedPrices::devices().
  std::uint32_t first_pool(std::size_t device = 0) const { return pools_[device].first; }
  std::uint32_t second_pool(std::size_t device = 0) const { return pools_[device].second; }

 private:
  void find_pools();
  void find_kinds();
  TensorKind kind_made_by(const Action& action, const Tensor& tensor) const;
  void keep_sent_kinds();
  bool shares_second() const;
  bool is_first(std::uint32_t pool) const { return second_of_[pool] != none; }
  void find_tied();
  /// Which kinds are in the same memory: those of a class, those of a class on a device, or each kind is independent.
  enum class GroupBy : std::uint8_t { tensor_class, device, kind };
  TensorKind group_of(TensorKind kind, GroupBy by) const;
  void group_kinds();
  std::vector<TensorKinds> grouped(const TensorKinds& all, GroupBy by) const;
  /// Returns the groups in the order of their seconds per byte, the greatest first. A group's seconds say how much
  /// longer the kernels would take if only this group were in the second memories. `bytes` has the bytes of the kinds,
  /// with or without their devices.
  std::vector<TensorKinds> ordered(std::vector<TensorKinds> groups,
                                   const std::map<TensorKind, double>& bytes) const;
  /// The seconds that a group in the first memories saves, if all other groups are there, too, and if all other groups
  /// are in the second memories.
  struct SavedSeconds {
    double alone = 0, last = 0;
  };
  enum class Saved : bool { alone, alone_and_last };
  /// The result has only those seconds of each group that `wanted` names.
  std::vector<SavedSeconds> saved_seconds(const std::vector<TensorKinds>& groups,
                                          Saved wanted) const;
  /// Returns whether the cost model has a price for each computation of the plan with this placement.
  bool has_prices(const TensorKinds& slow) const;
  static std::map<TensorKind, std::size_t> numbers_of(const std::vector<TensorKinds>& groups);
  std::vector<TensorKinds> filled(const std::vector<TensorKinds>& groups, FillOrder order,
                                  bool fits = false) const;
  /// Returns the plan with the kinds in `slow` in the second memory, and with the seconds that computations take if the
  /// kinds in `priced` are there.
  Plan plan(const TensorKinds& slow, const TensorKinds& priced) const;
  double at_least(const TensorKinds& slow,
                  const std::function<double(const StageWork&)>& kernel_s) const;
  TensorKinds all() const { return {kinds_.begin(), kinds_.end()}; }

  PlacedPrices& prices_;
  Plan plan_;
  struct Pools {
    std::uint32_t first = none, second = none;
  };
  std::vector<Pools> pools_;              ///< the memories of each device
  std::vector<std::uint32_t> second_of_;  ///< as in PlacedSeconds
  /// For the first memory of each device: the device, as in TensorKind. Indexed by pool.
  std::vector<std::uint32_t> device_of_;
  std::vector<std::optional<TensorKind>>
      kinds_of_;                ///< indexed by tensor of the plan, without the devices
  std::set<TensorClass> tied_;  ///< the classes whose kinds are together on all devices
  /// The groups of the first two ways, in the order of their seconds per byte, the greatest first, and of the third
  /// way.
  std::vector<TensorKinds> classes_, parts_, independent_;
  std::vector<TensorKind> kinds_;
  /// How often each computation runs in a run of the plan.
  std::map<StageWork, std::int64_t> works_;
  std::optional<PlacedSeconds> bound_;
};

}  // namespace sluice
