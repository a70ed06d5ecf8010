// Lower: from "stage 3 on gpu" and "tensor from host to gpu" to seconds, FLOP, joules and routes.
// After it a plan needs neither the model nor the platform.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "stage/stage.hpp"
#include "workload/training.hpp"

namespace sluice {

struct Pricing {
  const Model& model;
  const std::vector<Stage>& stages;
  const Platform& platform;
  const CostModel& cost;
  DType dtype;
  const Training* training = nullptr;  ///< null for inference
};

/// What an action costs on a device.
struct Price {
  double seconds = 0, flop = 0;
  double bytes = 0;  ///< read and written in the device's memory
};

/// Of a compute action of `kind` on a stage for so many samples. A recompute costs what a forward
/// does; an update does not depend on samples. Throws InputError when the device has no rate.
Price price_of(const Pricing& pricing, ActionKind kind, const Stage& stage, const Device& device,
               std::int64_t samples);

/// Of running again only what selective recomputation drops.
Price selective_price(const Pricing& pricing, const Stage& stage, const Device& device,
                      std::int64_t samples);

/// Fills what is left open: seconds, flop, memory_bytes and joules (above idle) of compute actions,
/// from the layers of their stage for their samples; the route of transfers. Throws InputError when
/// nothing joins two memories or the device has no rate for the dtype.
void lower(Plan& plan, const Pricing& pricing);

}  // namespace sluice
