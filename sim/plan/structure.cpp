#include "plan/structure.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/quantity.hpp"
#include "plan/fault.hpp"
#include "plan/tables.hpp"

namespace sluice {

namespace {

void check_numbers(const Plan& plan, std::uint32_t a) {
  const Action& action = plan.actions[a];
  const auto require = [&](std::uint32_t number, std::size_t size, const char* what) {
    if (number >= size)
      plan_fault(plan, a,
                 "action '" + action.name + "' names " + what + " number " +
                     std::to_string(number) + ", of which there are " + std::to_string(size));
  };
  require(action.stream, plan.streams.size(), "stream");
  for (const auto* placements : {&action.allocates, &action.uses})
    for (const Placement& placement : *placements) {
      require(placement.tensor, plan.tensors.size(), "tensor");
      require(placement.pool, plan.pools.size(), "pool");
    }
  for (const Wait& wait : action.waits) require(wait.action, plan.actions.size(), "action");
  if (!action.is_transfer()) return;
  require(action.moves, plan.tensors.size(), "tensor");
  if (action.route == none)
    plan_fault(plan, a, "transfer '" + action.name + "' has no route: the plan is not lowered");
  require(action.route, plan.routes.size(), "route");
  for (std::uint32_t link : plan.routes[action.route].links)
    require(link, plan.links.size(), "link");
}

void check_tensor(const Plan& plan, const Tensor& tensor) {
  if (tensor.bytes < 0) plan_fault(plan, none, "tensor '" + tensor.name + "' has a negative size");
  if (tensor.home != none && tensor.home >= plan.pools.size())
    plan_fault(plan, none,
               "tensor '" + tensor.name + "' has its home in pool number " +
                   std::to_string(tensor.home) + ", of which there are " +
                   std::to_string(plan.pools.size()));
}

void check_amounts(const Plan& plan, std::uint32_t a) {
  const Action& action = plan.actions[a];
  const Stream& stream = plan.streams[action.stream];
  if (stream.kind == StreamKind::compute && action.is_transfer())
    plan_fault(plan, a,
               "transfer '" + action.name + "' stands on '" + stream.name +
                   "', a compute stream; expected a copy stream");
  if (!action.is_transfer() && std::isnan(action.seconds))
    plan_fault(plan, a, "action '" + action.name + "' has no seconds: the plan is not lowered");
  if (!action.is_transfer() && !(std::isfinite(action.seconds) && action.seconds >= 0))
    plan_fault(plan, a,
               "action '" + action.name + "' takes " + exact(action.seconds) +
                   " s; expected a finite time, not negative");
  if (action.bytes < 0 || action.samples < 0)
    plan_fault(plan, a, "action '" + action.name + "' has a negative amount");
}

void check_waits(const Plan& plan, std::uint32_t a) {
  for (const Wait& wait : plan.actions[a].waits) {
    const Section mine = plan.section_of(a), other = plan.section_of(wait.action);
    const auto pair = [&] {
      return "'" + plan.actions[a].name + "' waits for '" + plan.actions[wait.action].name + "'";
    };
    if (other > mine)
      plan_fault(plan, a, pair() + " of the later section " + std::string(name_of(other)));
    if (other != Section::body && wait.distance != 0)
      plan_fault(plan, a, pair() + " at an iteration distance, but that runs once");
    if (wait.action == a && wait.distance == 0)
      plan_fault(plan, a, "'" + plan.actions[a].name + "' waits for itself");
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
    plan_fault(
        plan_, entry,
        "waits and stream order form a cycle: " + names + "'" + plan_.actions[entry].name + "'");
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
        plan_fault(plan, a,
                   "two actions of the " + std::string(name_of(section)) + " are called '" +
                       plan.actions[a].name + "'");
  }
}

void check_receives(const Plan& plan) {
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    if (action.kind != ActionKind::receive) continue;
    const bool paired = std::any_of(
        action.waits.begin(), action.waits.end(),
        [&](const Wait& wait) { return plan.actions[wait.action].kind == ActionKind::send; });
    if (!paired) plan_fault(plan, a, "receive '" + action.name + "' waits for no send");
  }
}

/// Each instance is allocated once; what the body allocates, it releases.
void check_allocations(const PlanTables& tables) {
  const Plan& plan = tables.plan;
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
                 : single.emplace(p.tensor, p.pool, tables.instance(a, 0, p.tensor)).second;
      if (!fresh)
        plan_fault(plan, a,
                   what() + " is allocated twice (again by '" + plan.actions[a].name + "')");
      const std::int64_t middle = plan.iterations / 2;
      if (inside && plan.iterations > 0 && tables.uses(p, middle) == 0)
        plan_fault(plan, a,
                   "the body allocates " + what() + " in each iteration and never releases it");
    }
  }
}

/// A step is whole runs of the body, or a run of the body is whole steps.
void check_steps(const Plan& plan) {
  const std::int64_t per_step = plan.iterations_per_step;
  if (per_step < 1 || plan.steps_per_iteration < 1)
    plan_fault(plan, none,
               "'iterations_per_step' and 'steps_per_iteration' are whole numbers from 1");
  if (per_step > 1 && plan.steps_per_iteration > 1)
    plan_fault(plan, none,
               "'iterations_per_step' is " + std::to_string(per_step) +
                   " and 'steps_per_iteration' is " + std::to_string(plan.steps_per_iteration) +
                   ": one of them must be 1");
  if (plan.iterations % per_step != 0)
    plan_fault(plan, none,
               "'iterations' is " + std::to_string(plan.iterations) +
                   ", which is not a multiple of the " + std::to_string(per_step) +
                   " iterations of a step ('iterations_per_step')");
}

/// What has to hold before tables can be made of the plan.
void check_parts(const Plan& plan) {
  if (plan.body_begin > plan.body_end || plan.body_end > plan.actions.size())
    plan_fault(plan, none, "its sections do not cover its actions");
  if (plan.body_end > plan.body_begin && plan.iterations < 1)
    plan_fault(plan, plan.body_begin,
               "a body that runs " + std::to_string(plan.iterations) +
                   " times; expected 'iterations' of at least 1");
  check_steps(plan);
  for (const Tensor& tensor : plan.tensors) check_tensor(plan, tensor);
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) check_numbers(plan, a);
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    check_amounts(plan, a);
    check_waits(plan, a);
  }
  check_names(plan);
  check_receives(plan);
  CycleSearch(plan).run();
}

}  // namespace

void check_structure(const Plan& plan) {
  checked_tables(plan);
}

PlanTables checked_tables(const Plan& plan) {
  check_parts(plan);
  PlanTables tables(plan);
  check_allocations(tables);
  return tables;
}

}  // namespace sluice
