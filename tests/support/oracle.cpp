#include "support/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace sluice::test {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
using Instance = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // tensor, pool, iteration

struct Node {
  std::uint32_t action;
  std::int64_t iteration;
  double seconds, latency;
  // A node is one execution of an action. It waits until the data of all nodes in `after` has arrived. It also waits
  // until `previous`, the node before it on its stream, has ended.
  std::vector<std::size_t> after;
  std::size_t previous = SIZE_MAX;
  double asked = never, start = never, end = never;
  bool ended = false;
};

class Oracle {
 public:
  Oracle(const Plan& plan, bool in_order) : plan_(plan), in_order_(in_order) {
    for (const Action& a : plan.actions)
      for (const Placement& p : a.allocates)
        if (inside(&a - plan.actions.data())) iterated_[p.tensor] = true;
    for (std::uint32_t a = 0; a < plan.body_begin; ++a) add(a, 0);
    for (std::int64_t i = 0; i < plan.iterations; ++i)
      for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
        const std::int64_t serves = i + plan.actions[a].ahead;
        if (serves >= 0 && serves < plan.iterations) add(a, i);
      }
    for (std::uint32_t a = plan.body_end; a < plan.actions.size(); ++a) add(a, 0);
    for (Node& node : nodes_) connect(node);
    level_.resize(plan.pools.size(), 0);
    for (const Tensor& t : plan.tensors)
      if (t.home != none) level_[t.home] += t.bytes;
  }

  OracleResult run() {
    while (now_ < never) {
      do {
        while (end_some() || start_some(false)) {
        }
      } while (start_some(true));
      now_ = next_moment();
    }
    OracleResult result;
    for (const Node& n : nodes_) {
      result.blocked = result.blocked || !n.ended;
      if (n.ended) result.makespan = std::max(result.makespan, n.end + n.latency);
      result.times[{n.action, n.iteration}] = {n.start, n.end};
    }
    return result;
  }

 private:
  bool inside(std::ptrdiff_t a) const { return a >= plan_.body_begin && a < plan_.body_end; }

  void add(std::uint32_t a, std::int64_t iteration) {
    const Action& action = plan_.actions[a];
    Node node{a, iteration, std::isnan(action.seconds) ? 0 : action.seconds, 0, {}};
    for (const Flow& flow : action.flows) {
      const Route& route = plan_.routes[flow.route];
      double slowest = never;
      for (const std::uint32_t link : route.links)
        slowest = std::min(slowest, plan_.links[link].bandwidth);
      const double through = route.setup_s + static_cast<double>(flow.bytes) / slowest;
      node.seconds = std::max(node.seconds, through);
      node.latency = std::max(node.latency, route.latency_s);
    }
    if (last_.count(action.stream) > 0) node.previous = last_[action.stream];
    last_[action.stream] = number_[{a, iteration}] = nodes_.size();
    for (const Access& use : action.uses) ++uses_[instance(node, use)];
    nodes_.push_back(node);
  }

  void connect(Node& node) {
    for (const Wait& wait : plan_.actions[node.action].waits) {
      std::int64_t i = 0;
      if (inside(wait.action))
        i = (inside(node.action) ? node.iteration : plan_.iterations - 1) - wait.distance;
      if (const auto found = number_.find({wait.action, i}); found != number_.end())
        node.after.push_back(found->second);
    }
  }

  Instance instance(const Node& node, const Access& use) const {
    const bool epilogue = node.action >= plan_.body_end;
    const std::int64_t iteration = epilogue ? plan_.iterations : node.iteration;
    const bool many = iterated_.count(use.tensor) > 0;
    return {use.tensor, use.pool,
            many ? iteration + plan_.actions[node.action].ahead - use.distance : 0};
  }

  bool end_some() {
    bool any = false;
    for (Node& node : nodes_) {
      if (node.ended || node.end > now_) continue;
      any = node.ended = true;
      for (const Access& use : plan_.actions[node.action].uses)
        if (--uses_[instance(node, use)] == 0) level_[use.pool] -= plan_.tensors[use.tensor].bytes;
    }
    return any;
  }

  /// Starts an execution that may start now. Returns whether there was such an execution. With `shared`, only
  /// executions that need bytes of a shared pool are considered. Without `shared`, only the other executions are
  /// considered.
  bool start_some(bool shared) {
    std::vector<std::size_t> asking;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      if (node.start < never || !ready(node)) continue;
      node.asked = std::min(node.asked, now_);
      asking.push_back(n);
    }
    const auto first_come = [&](std::size_t a, std::size_t b) {
      return std::pair(nodes_[a].asked, stream(a)) < std::pair(nodes_[b].asked, stream(b));
    };
    std::sort(asking.begin(), asking.end(), first_come);
    for (auto n = asking.begin(); n != asking.end(); ++n) {
      if (wants_shared(*n) != shared) continue;
      const auto ahead = std::vector<std::size_t>(asking.begin(), n);
      if (!granted(*n, ahead)) continue;
      nodes_[*n].start = now_;
      nodes_[*n].end = now_ + nodes_[*n].seconds;
      for (const Placement& p : plan_.actions[nodes_[*n].action].allocates)
        level_[p.pool] += plan_.tensors[p.tensor].bytes;
      return true;
    }
    return false;
  }

  bool ready(const Node& node) const {
    if (node.previous != SIZE_MAX && !nodes_[node.previous].ended) return false;
    if (plan_.actions[node.action].not_before > now_) return false;
    return std::all_of(node.after.begin(), node.after.end(), [&](std::size_t n) {
      return nodes_[n].ended && nodes_[n].end + nodes_[n].latency <= now_;
    });
  }

  bool granted(std::size_t n, const std::vector<std::size_t>& came_before) const {
    for (std::uint32_t p = 0; p < plan_.pools.size(); ++p) {
      const Pool& pool = plan_.pools[p];
      if (wanted(n, p) < 0 || !pool.limited()) continue;
      std::int64_t sum = level_[p] + wanted(n, p);
      if (pool.owner.empty()) {
        for (const std::size_t other : came_before)
          if (wanted(other, p) >= 0) return false;
      } else {
        for (std::size_t earlier = 0; earlier < n; ++earlier) {
          if (nodes_[earlier].start < never || wanted(earlier, p) < 0) continue;
          if (in_order_) return false;
          sum += wanted(earlier, p);
        }
      }
      if (sum > pool.most()) return false;
    }
    return true;
  }

  /// Returns the bytes that node `n` allocates in a pool, or -1 if it allocates nothing there.
  std::int64_t wanted(std::size_t n, std::uint32_t pool) const {
    std::int64_t bytes = -1;
    for (const Placement& p : plan_.actions[nodes_[n].action].allocates)
      if (p.pool == pool) bytes = std::max<std::int64_t>(bytes, 0) + plan_.tensors[p.tensor].bytes;
    return bytes;
  }

  bool wants_shared(std::size_t n) const {
    const auto& allocates = plan_.actions[nodes_[n].action].allocates;
    return std::any_of(allocates.begin(), allocates.end(), [&](const Placement& p) {
      const Pool& pool = plan_.pools[p.pool];
      return pool.owner.empty() && pool.limited();
    });
  }

  std::uint32_t stream(std::size_t n) const { return plan_.actions[nodes_[n].action].stream; }

  double next_moment() const {
    double next = never;
    for (const Node& node : nodes_)
      for (const double time :
           {node.end, node.end + node.latency, plan_.actions[node.action].not_before})
        if (time > now_) next = std::min(next, time);
    return next;
  }

  const Plan& plan_;
  bool in_order_;
  std::vector<Node> nodes_;
  std::map<std::uint32_t, bool> iterated_;
  std::map<std::uint32_t, std::size_t> last_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> number_;
  std::map<Instance, std::int64_t> uses_;
  std::vector<std::int64_t> level_;
  double now_ = 0;
};

}  // namespace

OracleResult oracle(const Plan& plan, bool in_order) {
  return Oracle(plan, in_order).run();
}

}  // namespace sluice::test
