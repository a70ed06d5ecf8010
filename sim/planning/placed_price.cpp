#include "planning/placed_price.hpp"

#include <cmath>

#include "base/error.hpp"
#include "cost/operands.hpp"

namespace sluice {
namespace {

/// Throws an error that names the operand if no route leads from `from` to `to`.
void require_route(const Platform& platform, const Query& query, const Operand& operand,
                   const std::string& from, const std::string& to) {
  try {
    platform.path(from, to);
  } catch (const InputError& error) {
    const std::string layer =
        query.layer ? std::string(name_of(query.pass)) + " of layer '" + query.layer->name + "': "
                    : "";
    throw InputError(layer + operand_is(operand) + " in '" + operand.pool + "', which device '" +
                     query.device.name + "' cannot reach: " + error.what());
  }
}

}  // namespace

PlacedPrice placed_price(const Platform& platform, const Cost& cost, const Query& query) {
  if (cost.measured_so(query)) return {cost.of(query), {}};
  Query near = query;
  near.operands.clear();
  PlacedPrice placed;
  const std::string& device = query.device.name;
  for (std::size_t o = 0; o < query.operands.size(); ++o) {
    const Operand& operand = query.operands[o];
    if (operand.pool.empty() || query.device.memory_or_null(operand.pool)) {
      near.operands.push_back(operand);
      continue;
    }
    const auto flows = [&](const std::string& from, const std::string& to, double bytes) {
      require_route(platform, query, operand, from, to);
      if (bytes > 0) placed.flows.push_back({o, from, to, bytes});
    };
    if (operand.read > 0 || operand.written == 0) flows(operand.pool, device, operand.read);
    if (operand.written > 0) flows(device, operand.pool, operand.written);
    near.work.bytes -= operand.read + operand.written;
    near.work.written -= operand.written;
  }
  if (near.operands.empty() && !query.operands.empty())
    // All operands are behind links, so none is in the list `near.operands`. But an empty list would mean that all
    // operands are in the default memory. So the list gets one operand without a memory.
    near.operands.emplace_back();
  placed.price = cost.of(near);
  return placed;
}

void take_placed_price(PlanBuilder& builder, PlanBuilder::Ref ref, const Device& device,
                       const PlacedPrice& placed, const std::vector<std::uint32_t>& tensors) {
  take_price(builder.at(ref), placed.price,
             {.kind = StreamKind::compute, .idle_w = device.idle_w, .busy_w = device.busy_w});
  for (const PlacedPrice::Flow& flow : placed.flows)
    builder.flow(ref, tensors.at(flow.operand), flow.from, flow.to,
                 static_cast<std::int64_t>(std::llround(flow.bytes)));
}

}  // namespace sluice
