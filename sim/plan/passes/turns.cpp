#include "plan/passes/turns.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice {

namespace {

/// Returns all transfers: first the prologue's, then the body's, then the epilogue's. Within a section, the transfers
/// are in the order of their starts.
std::vector<std::uint32_t> in_order(const Plan& plan, const std::vector<double>& starts) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    if (plan.actions[a].is_transfer() && plan.executions_of(a) > 0) order.push_back(a);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::make_tuple(plan.section_of(a), starts[a], a) <
           std::make_tuple(plan.section_of(b), starts[b], b);
  });
  return order;
}

}  // namespace

void take_turns(Plan& plan, const std::vector<double>& starts,
                const std::vector<char>& link_shared) {
  std::vector<std::uint32_t> last(plan.links.size(), none);
  const auto wait_for_last = [&](std::uint32_t a, std::uint32_t link) {
    if (!link_shared[link]) return;
    const std::uint32_t before = std::exchange(last[link], a);
    if (before == none || before == a || plan.section_of(before) != plan.section_of(a)) return;
    if (plan.actions[before].stream == plan.actions[a].stream) return;
    if (plan.actions[before].ahead != plan.actions[a].ahead) return;
    const Wait wait{before, 0};
    auto& waits = plan.actions[a].waits;
    if (std::find(waits.begin(), waits.end(), wait) == waits.end()) waits.push_back(wait);
  };
  for (const std::uint32_t a : in_order(plan, starts))
    for (const Flow& flow : plan.actions[a].flows)
      for (const std::uint32_t link : plan.routes[flow.route].links) wait_for_last(a, link);
}

}  // namespace sluice
