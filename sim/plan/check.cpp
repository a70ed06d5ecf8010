#include "plan/check.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "plan/index.hpp"

namespace sluice {

namespace {

[[noreturn]] void fault(const std::string& message) {
  throw InputError("plan: " + message);
}

void require_number(std::uint32_t number, std::size_t size, const Action& action,
                    std::string_view what) {
  if (number >= size)
    fault("action '" + action.name + "' names " + std::string(what) + " number " +
          std::to_string(number) + ", of which there are " + std::to_string(size));
}

void check_numbers(const Plan& plan, const Action& action) {
  require_number(action.stream, plan.streams.size(), action, "stream");
  for (const auto* placements : {&action.allocates, &action.uses})
    for (const Placement& placement : *placements) {
      require_number(placement.tensor, plan.tensors.size(), action, "tensor");
      require_number(placement.pool, plan.pools.size(), action, "pool");
    }
  for (const Wait& wait : action.waits)
    require_number(wait.action, plan.actions.size(), action, "action");
  if (!action.is_transfer()) return;
  require_number(action.moves, plan.tensors.size(), action, "tensor");
  if (action.route == none)
    fault("transfer '" + action.name + "' has no route: the plan is not lowered");
  require_number(action.route, plan.routes.size(), action, "route");
  for (std::uint32_t link : plan.routes[action.route].links)
    require_number(link, plan.links.size(), action, "link");
}

void check_tensor(const Plan& plan, const Tensor& tensor) {
  if (tensor.bytes < 0) fault("tensor '" + tensor.name + "' has a negative size");
  if (tensor.home != none && tensor.home >= plan.pools.size())
    fault("tensor '" + tensor.name + "' has its home in pool number " +
          std::to_string(tensor.home) + ", of which there are " +
          std::to_string(plan.pools.size()));
}

void check_amounts(const Plan& plan, const Action& action) {
  const bool compute = plan.streams[action.stream].kind == StreamKind::compute;
  if (compute && action.is_transfer())
    fault("transfer '" + action.name + "' stands on compute stream " +
          plan.streams[action.stream].name);
  if (!action.is_transfer() && !(std::isfinite(action.seconds) && action.seconds >= 0))
    fault("action '" + action.name + "' has no seconds: the plan is not lowered");
  if (action.bytes < 0 || action.samples < 0)
    fault("action '" + action.name + "' has a negative amount");
}

void check_waits(const Plan& plan, std::uint32_t a) {
  for (const Wait& wait : plan.actions[a].waits) {
    const Section mine = plan.section_of(a), other = plan.section_of(wait.action);
    const auto pair = [&] {
      return "'" + plan.actions[a].name + "' waits for '" + plan.actions[wait.action].name + "'";
    };
    if (other > mine) fault(pair() + " of the later section " + std::string(name_of(other)));
    if (other != Section::body && wait.distance != 0)
      fault(pair() + " at an iteration distance, but that runs once");
    if (wait.action == a && wait.distance == 0)
      fault("'" + plan.actions[a].name + "' waits for itself");
  }
}

/// Waits within an iteration, and the order of each stream, must not form a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const Plan& plan)
      : plan_(plan), before_(plan.actions.size(), none), colour_(plan.actions.size(), 0) {
    std::vector<std::uint32_t> last(plan.streams.size(), none);
    Section section = Section::prologue;
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
      if (plan.section_of(a) != section) last.assign(last.size(), none);
      section = plan.section_of(a);
      before_[a] = std::exchange(last[plan.actions[a].stream], a);
    }
  }

  void run() {
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
      if (colour_[a] == 0) visit(a);
  }

 private:
  struct Frame {
    std::uint32_t action;
    std::size_t next = 0;
  };

  void visit(std::uint32_t root) {
    std::vector<Frame> path{{root}};
    colour_[root] = 1;
    while (!path.empty()) {
      Frame& frame = path.back();
      const std::uint32_t next = predecessor(frame.action, frame.next++);
      if (next == end_) {
        colour_[frame.action] = 2;
        path.pop_back();
      } else if (next != none && colour_[next] == 1) {
        report(path, next);
      } else if (next != none && colour_[next] == 0) {
        colour_[next] = 1;
        path.push_back({next});
      }
    }
  }

  /// The k-th thing that must end before this action in the same iteration; none: skip it.
  std::uint32_t predecessor(std::uint32_t a, std::size_t k) const {
    const auto& waits = plan_.actions[a].waits;
    if (k > waits.size()) return end_;
    if (k == waits.size()) return before_[a];
    const bool same = plan_.section_of(waits[k].action) == plan_.section_of(a);
    return same && waits[k].distance == 0 ? waits[k].action : none;
  }

  [[noreturn]] void report(const std::vector<Frame>& path, std::uint32_t entry) const {
    auto from = std::find_if(path.begin(), path.end(),
                             [&](const Frame& frame) { return frame.action == entry; });
    std::string names;
    for (; from != path.end(); ++from) names += "'" + plan_.actions[from->action].name + "' after ";
    fault("waits and stream order form a cycle: " + names + "'" + plan_.actions[entry].name + "'");
  }

  static constexpr std::uint32_t end_ = none - 1;
  const Plan& plan_;
  std::vector<std::uint32_t> before_;
  std::vector<char> colour_;
};

void check_names(const Plan& plan) {
  for (Section section : {Section::prologue, Section::body, Section::epilogue}) {
    std::unordered_set<std::string_view> names;
    names.reserve(plan.section_end(section) - plan.section_begin(section));
    for (std::uint32_t a = plan.section_begin(section); a < plan.section_end(section); ++a)
      if (!names.insert(plan.actions[a].name).second)
        fault("two actions of the " + std::string(name_of(section)) + " are called '" +
              plan.actions[a].name + "'");
  }
}

void check_receives(const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (action.kind != ActionKind::receive) continue;
    const bool paired = std::any_of(
        action.waits.begin(), action.waits.end(),
        [&](const Wait& wait) { return plan.actions[wait.action].kind == ActionKind::send; });
    if (!paired) fault("receive '" + action.name + "' waits for no send");
  }
}

/// Each instance is allocated once; what the body allocates, it releases.
void check_allocations(const Plan& plan) {
  const PlanIndex index(plan);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> single;
  std::set<std::pair<std::uint32_t, std::uint32_t>> body;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const bool inside = plan.section_of(a) == Section::body;
    for (const Placement& p : plan.actions[a].allocates) {
      const auto what = [&] {
        return "tensor '" + plan.tensors[p.tensor].name + "' in " + plan.pools[p.pool].name;
      };
      const bool fresh =
          inside ? body.emplace(p.tensor, p.pool).second
                 : single.emplace(p.tensor, p.pool, index.instance(a, 0, p.tensor)).second;
      if (!fresh) fault(what() + " is allocated twice (again by '" + plan.actions[a].name + "')");
      const std::int64_t middle = plan.iterations / 2;
      if (inside && plan.iterations > 0 && index.uses(p, middle) == 0)
        fault("the body allocates " + what() + " in each iteration and never releases it");
    }
  }
}

void check_homes(const Plan& plan) {
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p) {
    const Pool& pool = plan.pools[p];
    if (!pool.limited()) continue;
    std::int64_t bytes = 0;
    for (const Tensor& tensor : plan.tensors)
      if (tensor.home == p) bytes = checked_add(bytes, tensor.bytes, "bytes in " + pool.name);
    if (bytes > *pool.capacity)
      throw Infeasible("out of memory at 0 s: the tensors whose home is " + pool.name + " take " +
                       std::to_string(bytes) + " B, its capacity is " +
                       std::to_string(*pool.capacity) + " B");
  }
}

void check_demands(const Plan& plan) {
  const PlanIndex index(plan);
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    for (const Demand& demand : index.demands[a]) {
      const Pool& pool = plan.pools[demand.pool];
      if (demand.bytes <= *pool.capacity) continue;
      std::string message =
          "out of memory at 0 s: " + plan.actions[a].name + " on " +
          plan.streams[plan.actions[a].stream].name + " needs " + std::to_string(demand.bytes) +
          " B (" + format_quantity(static_cast<double>(demand.bytes), Dimension::bytes) +
          ") at once in " + pool.name + ", whose capacity is " + std::to_string(*pool.capacity) +
          " B (" + format_quantity(static_cast<double>(*pool.capacity), Dimension::bytes) +
          "), even when it is empty; it allocates:";
      for (const Placement& p : plan.actions[a].allocates)
        if (p.pool == demand.pool)
          message += "\n    " + plan.tensors[p.tensor].name + " (" +
                     std::string(name_of(plan.tensors[p.tensor].tensor_class)) + ") " +
                     std::to_string(plan.tensors[p.tensor].bytes) + " B";
      throw Infeasible(message);
    }
}

}  // namespace

void check_structure(const Plan& plan) {
  if (plan.body_begin > plan.body_end || plan.body_end > plan.actions.size())
    fault("its sections do not cover its actions");
  if (plan.body_end > plan.body_begin && plan.iterations < 1)
    fault("it has a body but " + std::to_string(plan.iterations) + " iterations");
  for (const Tensor& tensor : plan.tensors) check_tensor(plan, tensor);
  for (const Action& action : plan.actions) check_numbers(plan, action);
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    check_amounts(plan, plan.actions[a]);
    check_waits(plan, a);
  }
  check_names(plan);
  check_receives(plan);
  CycleSearch(plan).run();
  check_allocations(plan);
}

std::optional<Blocking> blocks(const Plan& plan) {
  std::int64_t reach = 0;
  for (const Action& action : plan.actions) {
    reach = std::max<std::int64_t>(reach, std::abs(action.ahead));
    for (const Wait& wait : action.waits) reach = std::max<std::int64_t>(reach, wait.distance);
  }
  if (plan.iterations <= reach + 2) return replay(plan).blocking;
  Plan shorter = plan;
  shorter.iterations = reach + 2;
  return replay(shorter).blocking;
}

void check(const Plan& plan) {
  check_structure(plan);
  check_homes(plan);
  check_demands(plan);
  if (const auto blocking = blocks(plan)) throw Infeasible(describe(plan, *blocking));
}

}  // namespace sluice
