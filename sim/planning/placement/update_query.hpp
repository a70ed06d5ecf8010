// The query that asks for the seconds of a layer's update. The operands of the update may be in several memories.
#pragma once

#include <cstdint>

#include "cost/cost.hpp"
#include "model/model.hpp"
#include "workload/workload.hpp"

namespace sluice {

/// Returns the query for an update of weights. The operands of the query are the weights, their gradient and, if there
/// is one, the state of the optimizer. The operands have no memories yet.
Query update_query(const Layer& layer, std::int64_t weight_bytes, const Training& training,
                   DType dtype, const Device& device);

}  // namespace sluice
