// The choices that a scenario of training leaves open, and that are compared for every strategy: how many micro-batches
// are in flight, and which stages' weights stay on the device.
#pragma once

#include <string>
#include <vector>

#include "planning/training/training.hpp"

namespace sluice {

/// Returns the capacities of the devices that take turns. It is `no_limit` if a device has no limit, or if capacities
/// are not enforced.
DeviceBytes capacities(const PolicyRequest& request, const TrainingOrder& order);

/// Returns whether ways are compared that use different numbers of bytes on the devices that take turns. They are also
/// compared on devices with equal memories, so that more memory for one of them does not make the run slower. But shown
/// machines (placement/turns/shown_machine.hpp) always have equal memories.
bool devices_differ(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the number of batches of the whole run.
double batches_of_run(const Workload& workload);

/// Returns the numbers of micro-batches in flight that are tried.
std::vector<std::int64_t> counts_of(const PolicyRequest& request, const TrainingOrder& order);

/// Reads the keys `resident`, `resident_gradients` and `resident_optimizer`. Returns, indexed by stage, which tensors
/// stay, or nothing if `resident` leaves this choice open.
std::optional<std::vector<StayingTensors>> staying_keys(const Reader& parameters,
                                                        const PolicyRequest& request);

/// Reads these keys, and sets TrainingOrder::staying and TrainingOrder::staying_open. The order must already have its
/// number of micro-batches in flight.
void read_staying(const Reader& parameters, const PolicyRequest& request, TrainingOrder& order);

/// If the order leaves open which tensors stay (TrainingOrder::staying_open), returns the orders that are tried besides
/// `order` itself. Each of them has a different set of tensors that stay. In the first order, all tensors stay. The
/// stages of a set are spread over the model, so that their computations hide loads of the other stages. Of each device
/// that takes turns, about the same share of the bytes stays. If several devices take turns, there are also sets with
/// different shares. The sets do not depend on the capacities of the memories.
std::vector<TrainingOrder> orders_that_stay(const PolicyRequest& request,
                                            const TrainingOrder& order);

/// Returns whether the order is one of orders_that_stay().
bool one_of_many(const TrainingOrder& order);

/// Returns whether the order is tried with this number of passes per batch (TrainingOrder::one_pass).
bool tried_with_passes(const TrainingOrder& order, std::int64_t passes);

/// Returns whether the weights, gradients and optimizer state that stay fit into the memories.
bool staying_fits(const PolicyRequest& request, const TrainingOrder& order);

/// Returns `order`, and after it those of orders_that_stay() for which staying_fits() is true.
std::vector<TrainingOrder> fitting_orders(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the first device with the least memory.
const Device& smallest_device(const Platform& platform, const std::vector<std::string>& names);

/// Returns which tensors stay, as a scenario writes it: "resident: 1..6, resident_optimizer: 2, 4".
std::string staying_text(const std::vector<StayingTensors>& staying);
/// Returns what the order chooses, as a scenario writes it: "in_flight: 8, resident: 2, 4..6". The number of
/// micro-batches in flight must be chosen. The stages that stay are named only if the scenario leaves them open.
std::string text_of(const TrainingOrder& order);
/// Returns when the loads come, as it follows the text of an order. `late` says whether each load is listed before the
/// operation that needs it.
std::string text_of(const LoadSequence& sequence, bool late);
/// Returns the same, and what is chosen about the loads. They are placed as in a step with `more` more micro-batches.
std::string text_of(const TrainingOrder& order, std::int64_t more);

}  // namespace sluice
