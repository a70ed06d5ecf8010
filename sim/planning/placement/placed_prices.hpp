// The prices of computations whose tensors are in the two memories of a device. Each tensor has a kind, and all tensors
// of a kind are in the same memory for their whole lives. The weights of each stage are a kind of their own. Every other
// kind is a whole class of tensors: inputs, activations, tensors inside stages that no backward pass needs (called
// workspaces), answers, caches, gradients, or optimizer state. Activations are the tensors between stages and, in
// training, the tensors inside stages that a forward pass keeps for the backward pass. Kernels read and write a tensor
// in its memory. So the seconds of a computation depend on the memories of the kinds.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cost/work.hpp"
#include "planning/layer_passes.hpp"
#include "planning/placement/placed_seconds.hpp"
#include "planning/request.hpp"

namespace sluice {

struct TensorKind {
  TensorClass tensor_class = TensorClass::activation;
  std::int32_t stage = -1;  ///< the stage of weights; -1 for other classes
  auto operator<=>(const TensorKind&) const = default;
};
using TensorKinds = std::set<TensorKind>;

/// The prices of computations for each set of kinds in the second memory. Many plans have the same computations, so the
/// object computes each price only once.
class PlacedPrices {
 public:
  /// The device must reach its second memory without a link. The request must outlive the object.
  PlacedPrices(const PolicyRequest& request, const std::string& device);

  const PolicyRequest& request() const { return request_; }
  const Device& device() const { return device_; }
  /// Returns the price of a computation if the kinds in `slow` are in the second memory. Throws InputError if the cost
  /// model has no price.
  const Price& of(const StageWork& work, const TensorKinds& slow);
  /// Returns the least seconds that a pass of a layer may take. Each kind of tensors that the pass reads or writes may
  /// be in the first or in the second memory. In inference, if `all_slow` is true, all these kinds are in the second
  /// memory, except workspaces that are not counted. Throws InputError if the cost model has no price.
  double least_seconds(std::uint32_t layer, Pass pass, std::int64_t samples, bool all_slow) const;

 private:
  const Stage& stage_of(const StageWork& work) const {
    return request_.pricing.stages.at(static_cast<std::size_t>(work.stage));
  }
  StageQuery query_of_stage(const StageWork& work) const;
  const TensorKinds& used_by(const StageWork& work);
  Price price(const StageWork& work, const TensorKinds& slow) const;
  Price of_update(const StageWork& work, const TensorKinds& slow) const;
  Price of_pass(std::uint32_t layer, Pass pass, const StageWork& work,
                const TensorKinds& slow) const;
  bool crosses(std::uint32_t layer, const StageWork& work) const;
  TensorKind kind_of_output(std::uint32_t layer, const StageWork& work) const;
  TensorKind kind_of_gradient(std::uint32_t layer, const StageWork& work) const;
  std::vector<TensorKind> operand_kinds(std::uint32_t layer, Pass pass,
                                        const StageWork& work) const;
  std::vector<TensorKind> update_kinds(const StageWork& work) const;

  const PolicyRequest& request_;
  const Device& device_;
  std::vector<std::uint32_t> last_readers_;
  std::vector<char> kept_;  ///< whether the stage of a layer keeps its output, indexed by layer
  bool first_computes_ = false;  ///< whether the first stage has a layer that is not an input
  std::map<StageWork, TensorKinds> used_;
  std::map<std::pair<StageWork, TensorKinds>, Price> known_;
};

}  // namespace sluice
