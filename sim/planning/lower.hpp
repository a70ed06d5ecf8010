// Lowering completes the actions of a plan. A computation ("stage 3 on gpu") gets seconds, FLOP and joules. A
// transfer ("tensor from host to gpu") gets a route. A lowered plan can be executed without the model and the
// platform.
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
};

/// The properties of a compute action on which its price depends. The price of an update does not depend on samples.
struct StageQuery {
  ActionKind kind = ActionKind::forward;
  const Stage& stage;
  const Device& device;
  std::int64_t samples = 0;
  /// If true, the price counts only layers that selective recomputation runs again.
  bool selective = false;
};

/// Returns the sum of the prices of the stage's layers. A recompute costs as much as a forward pass. A workload may
/// give the backward pass as a multiple of the forward pass. The price of a backward pass is then this multiple of
/// the forward price. Throws InputError if the cost model has no price.
Price price_of(const Pricing& pricing, const StageQuery& query);

/// Sets the action's seconds, FLOP, bytes and joules. The joules include what the stream takes above idle power.
void take_price(Action& action, const Price& price, const Stream& stream);

/// A layer, and what the layer adds to the sum that price_of() returns. If the layer is null, the term is the price of
/// the update of the stage's weights.
using LayerPrice = std::pair<const Layer*, Price>;
std::vector<LayerPrice> layer_prices(const Pricing& pricing, const StageQuery& query);

/// Adds missing prices and routes. A computation gets the seconds, FLOP, bytes and joules (above idle) of its stage's
/// layers for its samples. A transfer gets its route. Throws InputError if no links connect two memories. Throws
/// InputError also if the device has no rate for the dtype.
void lower(Plan& plan, const Pricing& pricing);

/// Adds missing prices and routes like lower(), for a plan that was made without a scenario. Such a plan has no cost
/// model, so its computations must already have seconds. If a computation has no seconds, the function returns false
/// and changes nothing. Throws InputError if no links connect two memories.
bool lower_as_written(Plan& plan, const Platform& platform);

}  // namespace sluice
