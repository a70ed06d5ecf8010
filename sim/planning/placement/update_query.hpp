// A query for the price of a layer's update. The query lists the update's operands, because they may be in several
// memories.
#pragma once

#include <cstdint>

#include "cost/cost.hpp"
#include "model/model.hpp"
#include "workload/workload.hpp"

namespace sluice {

/// Returns the query for an update of weights. The operands of the query are the weights, their gradient and, if there
/// is one, the state of the optimizer. The operands do not yet name a memory.
Query update_query(const Layer& layer, std::int64_t weight_bytes, const Training& training,
                   DType dtype, const Device& device);

}  // namespace sluice
