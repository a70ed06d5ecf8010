// Leaves out a batch of each step of a plan, for a replica that computes one batch less than another one.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace sluice {

/// `plan` is a plan of inference on one device, which computes `batches` batches in each step, at least two. Returns
/// the plan without the last of them. It leaves out the computations of this batch, the transfers of what they make,
/// and the loads that only they need. All other actions are in the same order. If an action waits for one that is left
/// out, it waits for the same one of the batch before instead. Throws InputError if the batches cannot be told apart:
/// if the prologue or the epilogue computes.
Plan without_last_batch(const Plan& plan, std::int64_t batches);

}  // namespace sluice
