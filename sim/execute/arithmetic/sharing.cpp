#include "execute/arithmetic/sharing.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

Sharing::Sharing(const Plan& plan)
    : plan_(plan),
      flows_(plan.streams.size()),
      links_(plan.links.size()),
      marked_(plan.streams.size(), 0),
      next_rate_(plan.streams.size(), 0) {}

void Sharing::start(std::uint32_t stream, std::uint32_t action, double now) {
  const std::uint32_t route = plan_.actions[action].route;
  flows_[stream] = {route, static_cast<double>(plan_.actions[action].bytes), 0, now};
  for (const std::uint32_t link : plan_.routes[route].links) {
    links_[link].flows.push_back(stream);
    touched_.push_back(link);
  }
}

void Sharing::stop(std::uint32_t stream) {
  for (const std::uint32_t link : plan_.routes[flows_[stream].route].links) {
    auto& flows = links_[link].flows;
    flows.erase(std::find(flows.begin(), flows.end(), stream));
    touched_.push_back(link);
  }
  flows_[stream].route = none;
}

const std::vector<std::uint32_t>& Sharing::update(double now) {
  collect_component();
  fill();
  moved_.clear();
  for (const std::uint32_t stream : component_) {
    marked_[stream] = 0;
    Flow& flow = flows_[stream];
    if (flow.rate == next_rate_[stream]) continue;
    flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since));
    flow.since = now;
    flow.rate = next_rate_[stream];
    moved_.push_back(stream);
  }
  for (const std::uint32_t link : component_links_) links_[link].marked = false;
  return moved_;
}

/// All flows and links that a touched link reaches.
void Sharing::collect_component() {
  component_links_.clear();
  component_.clear();
  const auto add_link = [&](std::uint32_t link) {
    if (!std::exchange(links_[link].marked, true)) component_links_.push_back(link);
  };
  for (const std::uint32_t link : touched_) add_link(link);
  touched_.clear();
  for (std::size_t l = 0; l < component_links_.size(); ++l)
    for (const std::uint32_t stream : links_[component_links_[l]].flows) {
      if (std::exchange(marked_[stream], 1)) continue;
      component_.push_back(stream);
      for (const std::uint32_t link : plan_.routes[flows_[stream].route].links) add_link(link);
    }
}

void Sharing::fill() {
  for (const std::uint32_t l : component_links_) {
    links_[l].left = plan_.links[l].bandwidth;
    links_[l].open = static_cast<std::uint32_t>(links_[l].flows.size());
  }
  for (const std::uint32_t stream : component_) next_rate_[stream] = -1;
  for (std::size_t settled = 0; settled < component_.size();) {
    double share = std::numeric_limits<double>::infinity();
    std::uint32_t tightest = none;
    for (const std::uint32_t l : component_links_)
      if (links_[l].open > 0 && links_[l].left / links_[l].open < share) {
        share = links_[l].left / links_[l].open;
        tightest = l;
      }
    for (const std::uint32_t stream : links_[tightest].flows) {
      if (next_rate_[stream] >= 0) continue;
      settle(stream, share);
      ++settled;
    }
  }
}

/// Gives this flow its rate.
void Sharing::settle(std::uint32_t stream, double rate) {
  next_rate_[stream] = rate;
  for (const std::uint32_t l : plan_.routes[flows_[stream].route].links) {
    links_[l].left = std::max(0.0, links_[l].left - rate);
    --links_[l].open;
  }
}

}  // namespace sluice
