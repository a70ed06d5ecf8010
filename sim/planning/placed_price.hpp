// The price of a pass whose operands are in several memories: seconds for memories that the device
// reaches itself, and flows for memories that it reads or writes over a link while it computes
// (zero-copy). The flows share links with all other flows. The pass ends when both have ended.
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

/// `query` has its operands, as placed_query() makes it. If the cost model has measured the
/// operator with its operands in these memories, that is the price, and nothing flows. Throws
/// InputError, which names layer, operand and memory, when there is no such memory, no link to it,
/// or no rate.
PlacedPrice placed_price(const Platform& platform, const Cost& cost, const Query& query);

/// Gives the action that price and its flows. `tensors` has the tensor of each operand.
void take_placed_price(PlanBuilder& builder, PlanBuilder::Ref ref, const Device& device,
                       const PlacedPrice& placed, const std::vector<std::uint32_t>& tensors);

}  // namespace sluice
