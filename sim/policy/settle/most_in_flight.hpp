// Finds the greatest number of micro-batches in flight that fits, for the error about a number that does not fit.
#pragma once

#include <cstdint>
#include <functional>

#include "policy/policy.hpp"

namespace sluice {

/// A scenario that names a number of micro-batches in flight that does not fit. The policy, the parameters and the
/// workload must outlive the object.
struct RefusedInFlight {
  const Policy& policy;
  const Reader& parameters;
  const Workload& workload;
  /// An estimate of the result: the error of one attempt gives it, computed from the bytes on the device. With other
  /// choices that the scenario leaves open, more micro-batches may fit. The estimate leaves out the limit of host memory
  /// and the bytes of buffers. So fewer may fit.
  std::int64_t estimate = 0;
};

/// Returns the greatest number of micro-batches in flight that fits, or 0 if no number fits. If a number fits, each
/// smaller number fits, too. `fits` says whether there is a plan with the parameters that it gets. If the parameters do
/// not name the number, the function returns the estimate.
std::int64_t most_in_flight(const RefusedInFlight& refused,
                            const std::function<bool(const Reader& parameters)>& fits);

}  // namespace sluice
