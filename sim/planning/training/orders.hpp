// The choices that a scenario of training leaves open, and that are compared for every strategy: how many micro-batches
// are in flight, and which stages' weights stay on the device.
#pragma once

#include <string>
#include <vector>

#include "planning/training/training.hpp"

namespace sluice {

/// Returns the capacity of the device with the smallest memory. The result is empty if no device has a limit, or if
/// capacities are not enforced.
std::optional<std::int64_t> smallest_capacity(const PolicyRequest& request,
                                              const TrainingOrder& order);

/// Returns the number of batches of the whole run.
double batches_of_run(const Workload& workload);

/// Returns the numbers of micro-batches in flight that are tried.
std::vector<std::int64_t> counts_of(const PolicyRequest& request, const TrainingOrder& order);

/// If the order leaves open whose weights stay (TrainingOrder::staying_open), returns the orders that are tried besides
/// `order` itself. In each of them, the weights of other stages stay, and the first is the one in which most stay. The
/// stages that stay are spread over the model, so that their computations hide loads of the others. They do not depend
/// on the capacity of the memory.
std::vector<TrainingOrder> orders_that_stay(const PolicyRequest& request,
                                            const TrainingOrder& order);

/// Returns whether the weights, gradients and optimizer state that stay fit into the memory.
bool staying_fits(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the stages that stay as a scenario writes them in `resident`, for example "2, 4..6".
std::string resident_text(const std::vector<bool>& staying);

}  // namespace sluice
