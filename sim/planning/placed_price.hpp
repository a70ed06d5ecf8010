// The price of a pass whose operands are in several memories: seconds for memories that the device
// reaches itself, and flows for those that it reads or writes over a link while it computes
// (zero-copy). The flows contend with all other flows there. The pass ends with the later of both.
#pragma once

#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/lower.hpp"

namespace sluice {

struct PlacedPrice {
  struct Flow {
    std::size_t operand = 0;  ///< of the query
    std::string from, to;     ///< pools; the device by its name
    double bytes = 0;
  };
  Price price;  ///< without what flows over links
  std::vector<Flow> flows;
};

/// `query` has its operands, as placed_query() makes it. Where the cost model has measured the
/// operator with its operands in these memories, that is the price, and nothing flows. Throws
/// InputError that names layer, operand and memory where there is no such memory, no link leads to
/// it, or it has no rate.
PlacedPrice placed_price(const Platform& platform, const Cost& cost, const Query& query);

/// Gives the action that price, and its flows: of `tensors`, one for each operand.
void take_placed_price(PlanBuilder& builder, PlanBuilder::Ref ref, const Device& device,
                       const PlacedPrice& placed, const std::vector<std::uint32_t>& tensors);

}  // namespace sluice
