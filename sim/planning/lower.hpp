// Lowers plans: completes the actions of a plan that a policy has made. For a computation, the policy says only "stage
// 3 on gpu": lowering adds the seconds, FLOP and joules. For a transfer, the policy says only "this tensor from host to
// gpu": lowering adds the route. A lowered plan can be simulated without the model and the platform.
#pragma once

#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "stage/stage.hpp"
#include "workload/training.hpp"

namespace sluice {

struct Pricing {
  const Model& model;
  const std::vector<Stage>& stages;
  const Platform& platform;
  const Cost& cost;
  DType dtype;
  const Training* training = nullptr;  ///< null for inference

  /// Return the same pricing on another platform, or of other stages. The argument must outlive the result.
  Pricing on(const Platform& other) const { return {model, stages, other, cost, dtype, training}; }
  Pricing of(const std::vector<Stage>& others) const {
    return {model, others, platform, cost, dtype, training};
  }
};

/// The properties of a computation on which its price depends. The price of an update does not depend on `samples`.
struct StageQuery {
  ActionKind kind = ActionKind::forward;
  const Stage& stage;
  const Device& device;
  std::int64_t samples = 0;
  /// If true, the price is only for the layers that selective recomputation runs again.
  bool selective = false;
};

/// Returns the price of a computation: the sum of the prices of the stage's layers. A recompute costs as much as a
/// forward pass. If the workload gives the backward pass as a multiple of the forward pass, the price of a backward
/// pass is this multiple of the price of the forward pass. Throws InputError if the cost model has no price for a
/// layer.
Price price_of(const Pricing& pricing, const StageQuery& query);

/// Sets the action's seconds, FLOP, bytes and joules. The joules do not include the energy that the device takes when
/// it is idle.
void take_price(Action& action, const Price& price, const Stream& stream);

/// A layer, and its part of the price that price_of() returns. If the layer is null, the price is for the update of the
/// stage's weights.
using LayerPrice = std::pair<const Layer*, Price>;
std::vector<LayerPrice> layer_prices(const Pricing& pricing, const StageQuery& query);

/// Adds the prices and routes that are missing in a plan. A computation gets seconds, FLOP, bytes and joules: the price
/// of its stage's layers for its samples. A transfer gets a route. Throws InputError if no links connect two memories,
/// or if a device has no rate for the dtype.
void lower(Plan& plan, const Pricing& pricing);

/// Adds missing routes and joules to a plan that was made without a scenario. There is no cost model for such a plan,
/// so its computations must have seconds already. If a computation has no seconds, the function changes nothing and
/// returns false. Throws InputError if a flow has no route in the plan, and no links connect the flow's two memories.
bool lower_as_written(Plan& plan, const Platform& platform);

}  // namespace sluice
