// Prices a pass of a layer. The operands of the pass may be in several memories. An operand in a memory that the device
// reaches without a link adds to the seconds of the pass. An operand behind a link becomes a flow: the device reads or
// writes it over the link while it computes (zero-copy). These flows share the link with all other flows. The pass ends
// when the computation and its flows have ended.
#pragma once

#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/lower.hpp"

namespace sluice {

struct PlacedPrice {
  struct Flow {
    std::size_t operand = 0;  ///< the index of the operand in the query
    /// The bytes flow from the pool `from` to the pool `to`. A device's name stands for its first memory.
    std::string from, to;
    double bytes = 0;
  };
  Price price;  ///< the price without the bytes that flow over links
  std::vector<Flow> flows;
};

/// Returns the price of `query`. The operands of the query say in which memories they are (see placed_query). If the
/// cost model has a measurement with the operands in these memories, the measured time is the price, and there are no
/// flows. Throws InputError if the device cannot reach the memory of an operand, or has no rate for this memory. The
/// message names the layer, the operand and the memory.
PlacedPrice placed_price(const Platform& platform, const Cost& cost, const Query& query);

/// Sets the price and the flows of the action `ref`. `tensors` has one tensor for each operand of the query.
void take_placed_price(PlanBuilder& builder, PlanBuilder::Ref ref, const Device& device,
                       const PlacedPrice& placed, const std::vector<std::uint32_t>& tensors);

}  // namespace sluice
