// Lower: from "stage 3 on gpu" and "tensor from host to gpu" to seconds, FLOP, joules and routes.
// After it a plan needs neither the model nor the platform.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "stage/stage.hpp"

namespace sluice {

struct Pricing {
  const Model& model;
  const std::vector<Stage>& stages;
  const Platform& platform;
  const CostModel& cost;
  DType dtype;
};

/// Fills what is left open: seconds, flop, memory_bytes and joules (above idle) of compute actions,
/// from the layers of their stage for their samples; the route of transfers. Throws InputError when
/// nothing joins two memories or the device has no rate for the dtype.
void lower(Plan& plan, const Pricing& pricing);

/// Each action waits for the one listed before it: no overlap at all. The makespan is then the sum
/// of everything.
void serialise(Plan& plan);

}  // namespace sluice
