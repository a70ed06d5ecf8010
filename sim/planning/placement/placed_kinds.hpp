// Takes a finished plan of inference, and places its tensors in the two memories of the device. Each tensor has a kind,
// and all tensors of a kind are in the same memory for their whole lives. The weights of each stage are a kind of their
// own. Every other kind is a whole class of tensors: inputs, activations between stages, tensors inside stages (called
// workspaces), answers, or caches. Kernels read and write a tensor in its memory. So the seconds of a stage depend on
// the memories of the kinds.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planning/placement/placed_seconds.hpp"
#include "planning/request.hpp"

namespace sluice {

struct TensorKind {
  TensorClass tensor_class = TensorClass::activation;
  std::int32_t stage = -1;  ///< the stage of weights; -1 for other classes
  auto operator<=>(const TensorKind&) const = default;
};
using TensorKinds = std::set<TensorKind>;

/// The prices of stages for each set of kinds in the second memory. Many plans have the same stages, so the object
/// computes each price only once.
class PlacedPrices {
 public:
  using Work = PlacedSeconds::Work;

  /// The device must reach its second memory without a link. The request must outlive the object.
  PlacedPrices(const PolicyRequest& request, const std::string& device);

  const PolicyRequest& request() const { return request_; }
  const Device& device() const { return device_; }
  /// Returns the price of the forward pass `work` if the kinds in `slow` are in the second memory. Throws InputError if
  /// the cost model has no price.
  const Price& of(const Work& work, const TensorKinds& slow);
  /// Returns the least seconds of a layer's forward pass over all choices of the kinds that are in the second memory.
  /// If `all_slow` is true, all kinds are there, except those of which plans have no tensors. Throws InputError when
  /// the cost model has no price.
  double least_seconds(std::uint32_t layer, std::int64_t samples, bool all_slow) const;

 private:
  Price of_layer(std::uint32_t layer, const Work& work, const TensorKinds& slow) const;
  TensorKind kind_of_output(std::uint32_t layer, const Stage& stage) const;
  std::vector<TensorKind> operand_kinds(const Layer& layer, std::int32_t stage) const;

  const PolicyRequest& request_;
  const Device& device_;
  std::vector<std::uint32_t> last_readers_;
  std::vector<TensorKinds> used_;  ///< the kinds that the layers of a stage use, indexed by stage
  std::map<std::pair<Work, TensorKinds>, Price> known_;
};

class PlacedKinds {
 public:
  /// `plan` is a finished plan whose tensors on the device are all in the first memory. This memory may have another
  /// capacity and other rates in the plan than in the request of `prices`. `prices` must outlive the object. If
  /// `in_turn` is true, no action of the plan overlaps another action.
  PlacedKinds(PlacedPrices& prices, Plan plan, bool in_turn);
  PlacedKinds(const PlacedKinds&) = delete;

  /// Returns the kinds of the plan in the order of their seconds per byte, the greatest first. A kind's seconds say how
  /// much longer the kernels would take if only this kind were in the second memory.
  const std::vector<TensorKind>& kinds() const { return kinds_; }

  /// Returns a lower bound of the seconds of plan(slow).
  double seconds_at_least(const TensorKinds& slow) const;

  /// Returns the plan with the kinds in `slow` in the second memory. Its memories have the capacities of the request's
  /// platform.
  Plan plan(const TensorKinds& slow) const;

 private:
  void find_kinds();
  void order_kinds();
  /// Returns the seconds of all kernels of the run.
  double kernel_seconds(const TensorKinds& slow) const;

  PlacedPrices& prices_;
  Plan plan_;
  std::uint32_t first_ = none, second_ = none;       ///< the numbers of the two pools
  std::vector<std::optional<TensorKind>> kinds_of_;  ///< indexed by tensor of the plan
  std::vector<TensorKind> kinds_;
  /// How often each forward pass runs in a run of the plan.
  std::map<PlacedPrices::Work, std::int64_t> works_;
  std::optional<PlacedSeconds> bound_;
};

}  // namespace sluice
