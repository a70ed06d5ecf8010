#include "support/random_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace sluice::test {

namespace {

class Generator {
 public:
  Generator(unsigned seed, const RandomPlanOptions& options) : random_(seed), options_(options) {}

  Plan make() {
    add_machine();
    for (Section section : {Section::prologue, Section::body, Section::epilogue}) {
      if (section == Section::body) plan_.body_begin = size();
      const int count = section == Section::body ? integer(3, 12) : integer(0, 5);
      for (int i = 0; i < count; ++i) add_action(section, i);
      if (section == Section::body) plan_.body_end = size();
    }
    plan_.iterations = integer(1, 6);
    for (std::uint32_t a = 0; a < size(); ++a) add_waits(a);
    for (std::uint32_t a = 0; a < size(); ++a)
      if (chance(0.6)) add_tensor(a);
    if (plan_.body_begin > 0 && chance(0.7)) add_prefetch();
    if (options_.riffled) riffle();
    if (plan_.body_begin > 0 && plan_.body_end < size() && chance(0.5)) add_handover();
    return std::move(plan_);
  }

 private:
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<double>()(random_) < p; }
  double seconds() {
    if (options_.ties) return 0.5 * integer(0, 4);
    return std::uniform_real_distribution<double>(0.01, 1)(random_);
  }
  std::int64_t bytes() { return options_.ties ? 5 * integer(0, 3) : integer(0, 12); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(plan_.actions.size()); }
  std::uint32_t any(std::uint32_t begin, std::uint32_t end) {
    return static_cast<std::uint32_t>(integer(static_cast<int>(begin), static_cast<int>(end) - 1));
  }

  void add_machine() {
    const int devices = integer(1, 3);
    for (int d = 0; d < devices; ++d) {
      const std::string name = "d" + std::to_string(d);
      plan_.pools.push_back({name, integer(30, 120), name, chance(0.9)});
      if (chance(0.4)) plan_.pools.push_back({name + ".slow", integer(30, 120), name, chance(0.9)});
      plan_.streams.push_back({name + ".compute", StreamKind::compute, name, 0, 0});
    }
    computes_ = devices;
    plan_.pools.push_back({"host"});
    if (!options_.owned_pools && chance(0.7)) plan_.pools.back().capacity = integer(30, 150);
    const int copies = integer(1, 4);
    for (int c = 0; c < copies; ++c) {
      const std::string name = "c" + std::to_string(c);
      plan_.links.push_back({name, 10, 0, 0});
      plan_.routes.push_back({name,
                              {static_cast<std::uint32_t>(c)},
                              chance(0.3) ? seconds() : 0,
                              chance(0.4) ? seconds() : 0});
      plan_.streams.push_back({name, StreamKind::copy, name, 0, 0});
    }
    add_ways_of_kernels();
    if (options_.shared_links) share_links();
    plan_.tensors.push_back({"moved", TensorClass::activation, 10});
  }

  /// Adds two links and two routes for each device. The device may read over them while it computes.
  void add_ways_of_kernels() {
    for (int d = 0; d < computes_; ++d)
      for (int k = 0; k < 2; ++k) {
        const std::string name = "k" + std::to_string(d) + std::to_string(k);
        plan_.links.push_back({name, 10, 0, 0});
        plan_.routes.push_back({name,
                                {static_cast<std::uint32_t>(plan_.links.size() - 1)},
                                chance(0.3) ? seconds() : 0,
                                chance(0.2) ? seconds() : 0});
      }
  }

  /// Lets a computation read over one or two routes. These are the routes that add_ways_of_kernels() made for the
  /// device of the computation. With `shared_links`, any route of the plan may take the place of such a route.
  void add_flows(Action& action) {
    const auto own = static_cast<std::uint32_t>(plan_.routes.size()) -
                     2 * (static_cast<std::uint32_t>(computes_) - action.stream);
    const int count = integer(1, 2);
    for (int k = 0; k < count; ++k) {
      const bool any_route = options_.shared_links && chance(0.5);
      const auto routes = static_cast<std::uint32_t>(plan_.routes.size());
      action.flows.push_back(
          {.tensor = chance(0.5) ? 0 : none,
           .route = any_route ? any(0, routes) : own + static_cast<std::uint32_t>(k),
           .bytes = bytes()});
    }
  }

  /// Gives each link a random bandwidth, and each route a random set of links. So several routes may share a link.
  void share_links() {
    for (Link& link : plan_.links)
      link.bandwidth = 10 * std::pow(10, std::uniform_real_distribution<double>(0, 5)(random_));
    if (chance(0.5))
      for (Link& link : plan_.links) link.bandwidth = integer(1, 20);
    for (Route& route : plan_.routes) {
      route.links.clear();
      for (std::uint32_t link = 0; link < plan_.links.size(); ++link)
        if (chance(0.6)) route.links.push_back(link);
      if (route.links.empty()) route.links.push_back(0);
    }
  }

  void add_action(Section section, int number) {
    Action action;
    action.name = std::string(1, name_of(section)[0]) + std::to_string(number);
    action.stream = any(0, static_cast<std::uint32_t>(plan_.streams.size()));
    const auto computes = static_cast<std::uint32_t>(computes_);
    if (section != Section::body && chance(0.15)) action.not_before = 3 * seconds();
    if (action.stream < computes) {
      action.seconds = seconds();
      if (chance(0.3)) add_flows(action);
    } else {
      action.kind = ActionKind::load;
      action.flows = {{.tensor = 0, .route = action.stream - computes, .bytes = bytes()}};
    }
    plan_.actions.push_back(std::move(action));
  }

  void wait(std::uint32_t a, std::uint32_t on, std::uint32_t distance) {
    const Wait wait{on, distance};
    auto& waits = plan_.actions[a].waits;
    if (std::find(waits.begin(), waits.end(), wait) == waits.end()) waits.push_back(wait);
  }

  void add_waits(std::uint32_t a) {
    const Section section = plan_.section_of(a);
    const std::uint32_t begin = plan_.section_begin(section);
    const bool has_body = plan_.body_end > plan_.body_begin;
    for (int k = integer(0, 2); k > 0; --k) {
      if (section == Section::body && chance(0.4))
        wait(a, any(plan_.body_begin, plan_.body_end), static_cast<std::uint32_t>(integer(1, 3)));
      else if (section == Section::epilogue && has_body && chance(0.5))
        wait(a, any(plan_.body_begin, plan_.body_end), static_cast<std::uint32_t>(integer(0, 2)));
      else if (section != Section::prologue && plan_.body_begin > 0 && chance(0.2))
        wait(a, any(0, plan_.body_begin), 0);
      else if (a > begin)
        wait(a, any(begin, a), 0);
    }
  }

  std::uint32_t new_tensor(const char* what) {
    plan_.tensors.push_back(
        {what + std::to_string(plan_.tensors.size()), TensorClass::activation, integer(1, 40)});
    return static_cast<std::uint32_t>(plan_.tensors.size() - 1);
  }

  /// Adds a tensor that action `a` allocates, and one or two uses of the tensor. Each use is by `a` itself, or by a
  /// later action that waits for `a`.
  void add_tensor(std::uint32_t a) {
    const std::uint32_t end = plan_.section_end(plan_.section_of(a));
    const Placement placement{new_tensor("t"),
                              any(0, static_cast<std::uint32_t>(plan_.pools.size()))};
    plan_.actions[a].allocates.push_back(placement);
    for (int k = integer(1, 2); k > 0; --k) {
      const std::uint32_t user = any(a, end);
      if (user != a) wait(user, a, 0);
      plan_.actions[user].uses.push_back({placement.tensor, placement.pool});
    }
  }

  /// Lets an action of the body allocate a tensor for the next iteration. An action of the prologue allocates the
  /// tensor for the first iteration.
  void add_prefetch() {
    const std::uint32_t load = any(plan_.body_begin, plan_.body_end);
    if (!plan_.actions[load].allocates.empty() || !plan_.actions[load].uses.empty()) return;
    const std::uint32_t first = any(0, plan_.body_begin);
    const std::uint32_t user = any(plan_.body_begin, plan_.body_end);
    if (user == load) return;
    const Placement placement{new_tensor("p"),
                              any(0, static_cast<std::uint32_t>(plan_.pools.size()))};
    plan_.actions[load].ahead = 1;
    plan_.actions[load].allocates.push_back(placement);
    plan_.actions[first].allocates.push_back(placement);
    plan_.actions[user].uses.push_back({placement.tensor, placement.pool});
    wait(user, load, 1);
    wait(user, first, 0);
  }

  /// Lets an action of the body use a tensor of the iteration before. An action of the prologue allocates the tensor for
  /// the first iteration, and an action of the epilogue uses that of the last iteration.
  void add_handover() {
    const std::uint32_t first = any(0, plan_.body_begin),
                        maker = any(plan_.body_begin, plan_.body_end),
                        user = any(plan_.body_begin, plan_.body_end),
                        last = any(plan_.body_end, size());
    if (!plan_.actions[first].allocates.empty() || plan_.actions[maker].ahead != 0 ||
        plan_.actions[user].ahead != 0)
      return;
    const Placement placement{new_tensor("h"),
                              any(0, static_cast<std::uint32_t>(plan_.pools.size()))};
    plan_.actions[first].ahead = -1;
    for (const std::uint32_t a : {first, maker}) plan_.actions[a].allocates.push_back(placement);
    for (const std::uint32_t a : {user, last})
      plan_.actions[a].uses.push_back(
          {.tensor = placement.tensor, .pool = placement.pool, .distance = 1});
    wait(user, maker, 1);
    wait(user, first, 0);
    wait(last, maker, 0);
  }

  /// Lists the actions of each section in a random order. Actions of the same stream keep their order.
  void riffle() {
    std::vector<std::uint32_t> order;  // the old number of each action, in the new order
    for (Section section : {Section::prologue, Section::body, Section::epilogue}) {
      std::vector<std::uint32_t> left;
      for (std::uint32_t a = plan_.section_begin(section); a < plan_.section_end(section); ++a)
        left.push_back(a);
      while (!left.empty()) {
        const std::uint32_t stream =
            plan_.actions[left[any(0, static_cast<std::uint32_t>(left.size()))]].stream;
        const auto next = std::find_if(left.begin(), left.end(), [&](std::uint32_t a) {
          return plan_.actions[a].stream == stream;
        });
        order.push_back(*next);
        left.erase(next);
      }
    }
    std::vector<std::uint32_t> place(order.size());
    std::vector<Action> listed;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      listed.push_back(std::move(plan_.actions[order[i]]));
    }
    for (Action& action : listed)
      for (Wait& wait : action.waits) wait.action = place[wait.action];
    plan_.actions = std::move(listed);
  }

  std::mt19937 random_;
  RandomPlanOptions options_;
  int computes_ = 0;  ///< the number of compute streams, which come before the copy streams
  Plan plan_;
};

}  // namespace

Plan random_plan(unsigned seed, const RandomPlanOptions& options) {
  return Generator(seed, options).make();
}

}  // namespace sluice::test
