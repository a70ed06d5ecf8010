#include "execute/arithmetic/sharing.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

Sharing::Sharing(const Plan& plan, std::size_t flows)
    : plan_(plan),
      flows_(flows),
      links_(plan.links.size()),
      marked_(flows, 0),
      next_rate_(flows, 0) {}

void Sharing::start(std::uint32_t number, const sluice::Flow& flow, double now) {
  flows_[number] = {flow.route, static_cast<double>(flow.bytes), 0, now};
  for (const std::uint32_t link : plan_.routes[flow.route].links) {
    links_[link].flows.push_back(number);
    touched_.push_back(link);
  }
}

void Sharing::stop(std::uint32_t number) {
  for (const std::uint32_t link : plan_.routes[flows_[number].route].links) {
    auto& flows = links_[link].flows;
    flows.erase(std::find(flows.begin(), flows.end(), number));
    touched_.push_back(link);
  }
  flows_[number].route = none;
}

const std::vector<std::uint32_t>& Sharing::update(double now) {
  collect_component();
  fill();
  moved_.clear();
  for (const std::uint32_t number : component_) {
    marked_[number] = 0;
    Flow& flow = flows_[number];
    if (flow.rate == next_rate_[number]) continue;
    flow.bytes_left = flow.bytes_left_at(now);
    flow.since = now;
    flow.rate = next_rate_[number];
    moved_.push_back(number);
  }
  for (const std::uint32_t link : component_links_) links_[link].marked = false;
  return moved_;
}

/// A link has changed if a flow on it has started or ended. Collects all flows and links that are connected to a
/// changed link, directly or over other flows and links.
void Sharing::collect_component() {
  component_links_.clear();
  component_.clear();
  const auto add_link = [&](std::uint32_t link) {
    if (!std::exchange(links_[link].marked, true)) component_links_.push_back(link);
  };
  for (const std::uint32_t link : touched_) add_link(link);
  touched_.clear();
  for (std::size_t l = 0; l < component_links_.size(); ++l)
    for (const std::uint32_t number : links_[component_links_[l]].flows) {
      if (std::exchange(marked_[number], 1)) continue;
      component_.push_back(number);
      for (const std::uint32_t link : plan_.routes[flows_[number].route].links) add_link(link);
    }
}

void Sharing::fill() {
  for (const std::uint32_t l : component_links_) {
    links_[l].rate_left = plan_.links[l].bandwidth;
    links_[l].unrated_flows = static_cast<std::uint32_t>(links_[l].flows.size());
  }
  for (const std::uint32_t number : component_) next_rate_[number] = -1;
  for (std::size_t settled = 0; settled < component_.size();) {
    double share = std::numeric_limits<double>::infinity();
    std::uint32_t tightest = none;
    for (const std::uint32_t l : component_links_)
      if (links_[l].unrated_flows > 0 && links_[l].rate_left / links_[l].unrated_flows < share) {
        share = links_[l].rate_left / links_[l].unrated_flows;
        tightest = l;
      }
    for (const std::uint32_t number : links_[tightest].flows) {
      if (next_rate_[number] >= 0) continue;
      settle(number, share);
      ++settled;
    }
  }
}

/// Sets the new rate of flow `number`, and subtracts it from `rate_left` of the links of the flow's route.
void Sharing::settle(std::uint32_t number, double rate) {
  next_rate_[number] = rate;
  for (const std::uint32_t l : plan_.routes[flows_[number].route].links) {
    links_[l].rate_left = std::max(0.0, links_[l].rate_left - rate);
    --links_[l].unrated_flows;
  }
}

}  // namespace sluice
