// The price of a pass of a layer whose operands are in several memories. Operands in memories that the device reaches
// itself cost seconds. Operands behind a link become flows: the device reads or writes them over the link while it
// computes (zero-copy), and these flows share the link with all others. The pass ends when both have ended.
#pragma once

#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/lower.hpp"

namespace sluice {

struct PlacedPrice {
  struct Flow {
    std::size_t operand = 0;  ///< number of the operand in the query
    std::string from, to;     ///< pools; a device stands for its own pool
    double bytes = 0;
  };
  Price price;  ///< without the bytes that flow over links
  std::vector<Flow> flows;
};

/// The price of `query`, whose operands say in which memories they are (see placed_query). If the cost model has
/// measured the operator with its operands in these memories, the measured time is the price, and nothing flows.
/// Throws InputError, which names layer, operand and memory, when there is no such memory, no link to it, or no
/// rate.
PlacedPrice placed_price(const Platform& platform, const Cost& cost, const Query& query);

/// Sets the seconds of the action and its flows from that price. `tensors` has the tensor of each operand.
void take_placed_price(PlanBuilder& builder, PlanBuilder::Ref ref, const Device& device,
                       const PlacedPrice& placed, const std::vector<std::uint32_t>& tensors);

}  // namespace sluice
