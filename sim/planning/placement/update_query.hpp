// A query for the price of an update of weights. The query lists the update's operands, because they may be in several
// memories.
#pragma once

#include <cstdint>
#include <string>

#include "cost/cost.hpp"
#include "workload/workload.hpp"

namespace sluice {

/// The weights that an update changes. `of` names the layer or the stage that has them.
struct UpdatedWeights {
  std::string of;
  std::int64_t parameters = 0, bytes = 0;
};

/// Returns the query for an update of weights. The operands of the query are the weights, their gradient and, if there
/// is one, the state of the optimizer, in this order. The operands do not yet name a memory.
Query update_query(const UpdatedWeights& weights, const Training& training, DType dtype,
                   const Device& device);

}  // namespace sluice
