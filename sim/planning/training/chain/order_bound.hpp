// Lower bounds of training runs. They hold for all fates, and for all places of the loads.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/training/training.hpp"

namespace sluice {

/// Returns a lower bound of the seconds of the run for `order`, whose number of micro-batches in flight is chosen. It is
/// infinite if no run can fit. If the platform is a shown machine, loads of inputs do not count, because they use other
/// links on the real machine.
double order_bound(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the bytes of all devices of the order together, or the largest number if they are unlimited.
std::int64_t budget_of(const PolicyRequest& request, const TrainingOrder& order);

/// Returns an order for each of these numbers of micro-batches in flight, with each choice of the stages whose weights
/// stay, if they fit.
std::vector<TrainingOrder> settled_orders(const PolicyRequest& request, const TrainingOrder& order,
                                          const std::vector<std::int64_t>& in_flight);

}  // namespace sluice
