#include "execute/arithmetic/least_rest.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

// The executions are added from the last one in listing order to the first one. If an execution waits for one that is
// listed later, this wait counts too late, and the bound is smaller.
LeastRest::LeastRest(const PlanTables& tables)
    : plan_(tables.plan),
      after_body_(static_cast<std::size_t>(std::max<std::int64_t>(plan_.iterations, 1) - 1) *
                  (plan_.body_end - plan_.body_begin)),
      rest_(plan_.actions.size() + after_body_, 0),
      next_(tables.plan.streams.size(), 0) {
  for (std::size_t l = 0; l < plan_.links.size(); ++l)
    links_.push_back({0, plan_.links[l].bandwidth, std::numeric_limits<double>::infinity()});
  for (auto a = static_cast<std::uint32_t>(plan_.actions.size()); a-- > plan_.body_end;)
    add(tables, a, 0);
  for (std::int64_t i = plan_.iterations; i-- > 0;)
    for (std::uint32_t a = plan_.body_end; a-- > plan_.body_begin;) {
      const std::int64_t served = i + tables.ahead(a);
      if (served >= 0 && served < plan_.iterations) add(tables, a, i);
    }
  for (std::uint32_t a = plan_.body_begin; a-- > 0;) add(tables, a, 0);
}

void LeastRest::add(const PlanTables& tables, std::uint32_t action, std::int64_t iteration) {
  double& rest = rest_[number(action, iteration)];
  double& next = next_[tables.stream(action)];
  const double after_s = std::max({rest, next, tables.latency(action)});
  rest = next = tables.seconds_alone(action) + after_s;
  for (const Wait& wait : tables.waits(action)) {
    const std::int64_t awaited = tables.awaited(action, iteration, wait);
    if (awaited < 0) continue;
    double& after = rest_[number(wait.action, awaited)];
    after = std::max(after, tables.latency(wait.action) + rest);
  }
  for (const Flow& flow : plan_.actions[action].flows)
    for (const std::uint32_t link : plan_.routes[flow.route].links) {
      if (flow.bytes == 0 || !tables.link_shared[link]) continue;
      links_[link].bytes += static_cast<double>(flow.bytes);
      links_[link].after_s = std::min(links_[link].after_s, after_s);
    }
}

double LeastRest::all_seconds() const {
  double seconds = *std::ranges::max_element(next_);
  for (const OnLink& link : links_)
    if (link.bytes > 0) seconds = std::max(seconds, link.seconds(link.bytes));
  return seconds;
}

LeastEnd::LeastEnd(const ReplayWorth& worth) : worth_(worth) {
  for (const LeastRest::OnLink& link : worth.rest.links()) bytes_.push_back(link.bytes);
}

void LeastEnd::begins(const Plan& plan, const Flow& flow, const Sharing& sharing, double now) {
  for (const std::uint32_t link : plan.routes[flow.route].links) {
    const LeastRest::OnLink& all = worth_.rest.links()[link];
    if (all.bytes == 0) continue;
    not_before(now + all.seconds(bytes_[link] + sharing.bytes_left(link, now)));
    bytes_[link] -= static_cast<double>(flow.bytes);
  }
}

}  // namespace sluice
