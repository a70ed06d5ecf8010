// The prices of computations whose tensors are in the two memories of a device. Each tensor has a kind, and all tensors
// of a kind are in the same memory for their whole lives. A kind is all tensors of a class that one stage has on one
// device: weights, gradients of weights, optimizer state, activations, gradients of activations, tensors inside the
// stage that no backward pass needs (called workspaces), or caches. All inputs of a device are one kind, and so are all
// answers. Activations are the tensors between stages and, in training, the tensors inside stages that a forward pass
// keeps for the backward pass. Kernels read and write a tensor in its memory. So the seconds of a computation depend on
// the memories of the kinds.
//
// The activations between two stages belong to the stage that makes them. If later stages read the output of a layer
// over several cuts, some policies have one tensor for each of these cuts. So the activations of all stages from the
// first of these cuts to the last one are a single kind, and so are their gradients.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cost/work.hpp"
#include "planning/layer_passes.hpp"
#include "planning/placement/backing.hpp"
#include "planning/placement/turns/placed_seconds.hpp"
#include "planning/request.hpp"

namespace sluice {

struct TensorKind {
  TensorClass tensor_class = TensorClass::activation;
  /// The stage to which the tensors belong; -1 for inputs and answers. Gradients of activations belong to the stage
  /// that made the activations. If the activations of several stages are a single kind, it is the first of these
  /// stages.
  std::int32_t stage = -1;
  /// The index of the device in Platform::devices. If several devices have the same first memory, it is the first of
  /// them. For weights, it is 0.
  std::uint32_t device = 0;
  bool of_weights = false;  ///< whether these are gradients of weights
  auto operator<=>(const TensorKind&) const = default;
};
using TensorKinds = std::set<TensorKind>;

/// The prices of computations for each set of kinds in the second memory. Many plans have the same computations, so the
/// object computes each price only once.
class PlacedPrices {
 public:
  /// Each device must reach its second memory without a link. The request must outlive the object.
  PlacedPrices(const PolicyRequest& request, const std::vector<std::string>& devices,
               PassedTensors passed = {});

  const PolicyRequest& request() const { return request_; }
  /// Returns the devices that compute.
  const std::vector<const Device*>& devices() const { return devices_; }
  /// Returns the only device, or the first one.
  const Device& device() const { return *devices_.front(); }
  StageWork work_of(const Plan& plan, const Action& action) const {
    return sluice::work_of(plan, action, request_.pricing.platform);
  }
  /// Returns the first device that has the same first memory as this device. Both are indices in Platform::devices.
  std::uint32_t first_with_memory_of(std::uint32_t device) const;
  /// Returns the price of a computation if the kinds in `slow` are in the second memory. Throws InputError if the cost
  /// model has no price.
  const Price& of(const StageWork& work, const TensorKinds& slow);
  /// Returns TensorKind::stage of the activations that a stage makes, and of their gradients.
  std::int32_t stage_of_activations(std::int32_t stage) const {
    return first_together_.at(static_cast<std::size_t>(stage));
  }
  /// Returns the kinds of all tensors that the computation reads or writes.
  const TensorKinds& used_by(const StageWork& work);
  /// Returns the seconds of a computation whose kinds are all in the second memory, with the first memory as their
  /// hardware cache. `misses_s` are the seconds of its misses and write-backs. They are divided among the layers in
  /// proportion to the bytes that the layers read and write. If a roofline gives the seconds of a layer, a part of them
  /// may be hidden by the FLOP of the layer.
  double behind_cache(const StageWork& work, double misses_s);
  /// A pass of a layer.
  struct PassOfLayer {
    std::uint32_t layer = 0;
    Pass pass = Pass::forward;
    std::int64_t samples = 0;
    std::uint32_t device = 0;  ///< the index in Platform::devices
    /// Whether all kinds of which plans have tensors are in the second memory. Otherwise, any of them may be there.
    bool all_slow = false;
  };
  /// Returns the least seconds of the pass. Throws InputError if the cost model has no price.
  double least_seconds(const PassOfLayer& one) const;
  /// Returns a lower bound of the seconds of a computation with any of its kinds in the second memory: the sum of the
  /// least seconds of its passes of layers. Throws InputError if the cost model has no price.
  double least_seconds(const StageWork& work) const;

 private:
  const Stage& stage_of(const StageWork& work) const {
    return request_.pricing.stages.at(static_cast<std::size_t>(work.stage));
  }
  const Device& device_of(const StageWork& work) const {
    return request_.pricing.platform.devices[work.device];
  }
  StageQuery query_of_stage(const StageWork& work) const;
  /// A pass of a layer, or an update. With x seconds of misses and write-backs, it takes max(near_s, bytes_s + x)
  /// seconds.
  struct CachedPass {
    double near_s = 0;  ///< the seconds without misses
    double bytes_s =
        0;  ///< the part of a roofline that reads and writes bytes; without a roofline, `near_s`
    double bytes = 0;     ///< the bytes that are read and written
    double multiple = 1;  ///< how often the computation counts the seconds of the pass
  };
  CachedPass cached_pass(const Query& query, double near_s) const;
  std::vector<CachedPass> cached_passes(const StageWork& work);
  Query of_update_query(const StageWork& work) const;
  Price price(const StageWork& work, const TensorKinds& slow) const;
  Price of_update(const StageWork& work, const TensorKinds& slow) const;
  Price of_pass(std::uint32_t layer, Pass pass, const StageWork& work,
                const TensorKinds& slow) const;
  void find_together();
  bool crosses(std::uint32_t layer, const StageWork& work) const;
  bool passes_answers() const { return request_.pricing.training || passed_.answers_pass; }
  /// Returns the kind of the tensors inside the stage that are kept for its backward pass.
  TensorKind kept_in(const StageWork& work) const {
    return {TensorClass::activation, stage_of_activations(work.stage)};
  }
  static TensorKind gradients_of(const StageWork& work) {
    return {.tensor_class = TensorClass::gradient, .stage = work.stage, .of_weights = true};
  }
  TensorKind kind_of_output(std::uint32_t layer, const StageWork& work) const;
  TensorKind kind_of_gradient(std::uint32_t layer, const StageWork& work) const;
  std::vector<TensorKind> operand_kinds(std::uint32_t layer, Pass pass,
                                        const StageWork& work) const;
  std::vector<TensorKind> kinds_of_operands(std::uint32_t layer, Pass pass,
                                            const StageWork& work) const;
  std::vector<TensorKind> on_device_of(const StageWork& work, std::vector<TensorKind> kinds) const;
  std::vector<TensorKind> update_kinds(const StageWork& work) const;

  const PolicyRequest& request_;
  std::vector<const Device*> devices_;
  PassedTensors passed_;
  std::vector<std::uint32_t> last_readers_;
  std::vector<char> kept_;  ///< whether the stage of a layer keeps its output, indexed by layer
  bool first_computes_ = false;        ///< whether the first stage has a layer that is not an input
  std::vector<std::int32_t> made_by_;  ///< the stage of each layer
  std::vector<std::int32_t> first_together_;  ///< by stage: stage_of_activations()
  std::map<StageWork, TensorKinds> used_;
  std::map<StageWork, std::vector<CachedPass>> cached_;
  std::map<std::pair<StageWork, TensorKinds>, Price> known_;
};

}  // namespace sluice
