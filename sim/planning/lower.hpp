// Lower: from "stage 3 on gpu" and "tensor from host to gpu" to seconds, FLOP, joules and routes.
// After it a plan needs neither the model nor the platform.
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

/// A compute action of a stage, as its price sees it. An update does not depend on samples.
struct StageQuery {
  ActionKind kind = ActionKind::forward;
  const Stage& stage;
  const Device& device;
  std::int64_t samples = 0;
  bool selective = false;  ///< only the layers that selective recomputation runs again
};

/// The sum over the stage's layers. A recompute costs what a forward does, and so does a backward
/// pass as often as the workload says. Throws InputError where the cost model has no price.
Price price_of(const Pricing& pricing, const StageQuery& query);

/// Seconds, FLOP, bytes and joules of an action on its stream.
void take_price(Action& action, const Price& price, const Stream& stream);

/// What price_of sums, by layer; null: the update of the stage's weights.
using LayerPrice = std::pair<const Layer*, Price>;
std::vector<LayerPrice> layer_prices(const Pricing& pricing, const StageQuery& query);

/// Fills what is left open: seconds, flop, memory_bytes and joules (above idle) of compute actions,
/// from the layers of their stage for their samples; the route of transfers. Throws InputError when
/// nothing joins two memories or the device has no rate for the dtype.
void lower(Plan& plan, const Pricing& pricing);

/// The same for a plan that was made without a scenario, which has no cost model: its computations
/// say their seconds themselves. False, and nothing is filled, where one does not. Throws
/// InputError when nothing joins two memories.
bool lower_as_written(Plan& plan, const Platform& platform);

}  // namespace sluice
