#include "plan/structure.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/quantity.hpp"
#include "plan/cycles.hpp"
#include "plan/fault.hpp"
#include "plan/tables.hpp"
#include "plan/unique_names.hpp"

namespace sluice {

namespace {

std::string quoted_name(const Plan& plan, std::uint32_t a) {
  return "'" + name_of(plan.actions[a]) + "'";
}

void check_numbers(const Plan& plan, std::uint32_t a) {
  const Action& action = plan.actions[a];
  const auto require = [&](std::uint32_t number, std::size_t size, const char* what) {
    if (number >= size)
      plan_fault(plan, a,
                 "action " + quoted_name(plan, a) + " names " + what + " number " +
                     std::to_string(number) + ", but there are only " + std::to_string(size));
  };
  require(action.stream, plan.streams.size(), "stream");
  for (const Placement& placement : action.allocates) {
    require(placement.tensor, plan.tensors.size(), "tensor");
    require(placement.pool, plan.pools.size(), "pool");
  }
  for (const Access& use : action.uses) {
    require(use.tensor, plan.tensors.size(), "tensor");
    require(use.pool, plan.pools.size(), "pool");
  }
  for (const Wait& wait : action.waits) require(wait.action, plan.actions.size(), "action");
  if (action.collective != none) require(action.collective, plan.collectives.size(), "collective");
  for (const Flow& flow : action.flows) {
    if (flow.tensor != none) require(flow.tensor, plan.tensors.size(), "tensor");
    if (flow.route == none)
      plan_fault(plan, a,
                 std::string(action.is_transfer() ? "transfer " : "a flow of ") +
                     quoted_name(plan, a) + " has no route yet: call lower() for the plan first");
    require(flow.route, plan.routes.size(), "route");
  }
}

void check_route(const Plan& plan, const Route& route) {
  for (const std::uint32_t link : route.links)
    if (link >= plan.links.size())
      plan_fault(plan, none,
                 "route '" + route.name + "' names link number " + std::to_string(link) +
                     ", but there are only " + std::to_string(plan.links.size()));
}

void check_tensor(const Plan& plan, const Tensor& tensor) {
  if (tensor.bytes < 0) plan_fault(plan, none, "tensor '" + tensor.name + "' has a negative size");
  if (tensor.home != none && tensor.home >= plan.pools.size())
    plan_fault(plan, none,
               "tensor '" + tensor.name + "' has its home in the pool with the number " +
                   std::to_string(tensor.home) + ", but there are only " +
                   std::to_string(plan.pools.size()));
}

void check_amounts(const Plan& plan, std::uint32_t a) {
  const Action& action = plan.actions[a];
  const Stream& stream = plan.streams[action.stream];
  const bool transfer = action.is_transfer();
  if (stream.kind == StreamKind::compute && transfer)
    plan_fault(plan, a,
               "transfer " + quoted_name(plan, a) + " is on '" + stream.name +
                   "', a compute stream; expected a copy stream");
  if (transfer && !std::isnan(action.seconds))
    plan_fault(plan, a,
               "transfer " + quoted_name(plan, a) +
                   " has the key 'seconds': remove this key, "
                   "because the " +
                   "flows give the time of a transfer");
  if (!transfer && std::isnan(action.seconds))
    plan_fault(plan, a,
               "action " + quoted_name(plan, a) + " has no seconds yet: call lower() for the plan first");
  if (!transfer && !(std::isfinite(action.seconds) && action.seconds >= 0))
    plan_fault(plan, a,
               "action " + quoted_name(plan, a) + " takes " + exact(action.seconds) +
                   " s; expected a finite time that is not negative");
  const bool negative = std::any_of(action.flows.begin(), action.flows.end(),
                                    [](const Flow& flow) { return flow.bytes < 0; });
  if (negative || action.samples < 0)
    plan_fault(plan, a, "action " + quoted_name(plan, a) + " has negative bytes or samples");
  for (const Access& use : action.uses)
    if (!use.read && !use.written)
      plan_fault(plan, a,
                 "action " + quoted_name(plan, a) + " uses tensor '" +
                     plan.tensors[use.tensor].name + "' but neither reads nor writes this tensor");
}

/// Checks the action's `not_before`, the time before which it must not start. An action of the body runs in many
/// iterations, so it must not have such a time.
void check_not_before(const Plan& plan, std::uint32_t a) {
  const double time = plan.actions[a].not_before;
  if (time == 0) return;
  if (!(std::isfinite(time) && time > 0))
    plan_fault(plan, a,
               "action " + quoted_name(plan, a) + " has not_before=" + exact(time) +
                   " s; expected a finite time that is not negative");
  if (plan.section_of(a) == Section::body)
    plan_fault(plan, a,
               "action " + quoted_name(plan, a) + " of the body has not_before=" + exact(time) +
                   " s; only actions of the prologue and the epilogue may have this key, " +
                   "because the body runs many times");
}

void check_collective(const Plan& plan, const Collective& collective) {
  const auto fail = [&](const std::string& what) {
    plan_fault(plan, none, "collective '" + collective.name + "' " + what);
  };
  if (!record_of(collective.kind).is_collective)
    fail("has the kind " + std::string(name_of(collective.kind)) +
         ", which a single device executes; expected a collective kind");
  const std::set<std::string> devices(collective.devices.begin(), collective.devices.end());
  if (devices.size() < 2) fail("has only one device; expected at least two devices");
  if (devices.size() < collective.devices.size()) fail("names a device twice");
  for (const std::string& device : devices)
    if (std::none_of(plan.streams.begin(), plan.streams.end(),
                     [&](const Stream& stream) { return stream.device == device; }))
      fail("names the device '" + device + "', which has no stream");
}

void check_membership(const Plan& plan, std::uint32_t a) {
  const Action& action = plan.actions[a];
  if (action.collective == none) return;
  const Collective& collective = plan.collectives[action.collective];
  const std::string start =
      "action " + quoted_name(plan, a) + " is a part of collective '" + collective.name + "', ";
  if (action.kind != collective.kind)
    plan_fault(plan, a,
               start + "which has the kind " + std::string(name_of(collective.kind)) +
                   "; the action has the kind " + std::string(name_of(action.kind)));
  const std::string& device = plan.streams[action.stream].device;
  if (std::find(collective.devices.begin(), collective.devices.end(), device) ==
      collective.devices.end())
    plan_fault(plan, a, start + "which does not include the action's device '" + device + "'");
}

void check_waits(const Plan& plan, std::uint32_t a) {
  for (const Wait& wait : plan.actions[a].waits) {
    const Section mine = plan.section_of(a), other = plan.section_of(wait.action);
    const auto pair = [&] {
      return quoted_name(plan, a) + " waits for " + quoted_name(plan, wait.action);
    };
    if (other > mine)
      plan_fault(plan, a, pair() + " of the later section " + std::string(name_of(other)));
    if (other != Section::body && wait.distance != 0)
      plan_fault(plan, a, pair() + " with a distance ('~'), but the awaited action runs only once");
    if (wait.action == a && wait.distance == 0)
      plan_fault(plan, a, quoted_name(plan, a) + " waits for itself");
  }
}

/// Checks each action alone, and that no two actions of a section have the same name.
class ActionCheck {
 public:
  explicit ActionCheck(const Plan& plan)
      : plan_(plan),
        names_are_unique_(plan.source && plan.line_begins.size() == plan.actions.size()) {}

  void operator()(std::uint32_t a) {
    check_numbers(plan_, a);
    check_amounts(plan_, a);
    check_not_before(plan_, a);
    check_membership(plan_, a);
    check_waits(plan_, a);
    if (!names_are_unique_) check_name(a);
  }

 private:
  void check_name(std::uint32_t a) {
    const Section section = plan_.section_of(a);
    if (section != section_) names_ = {};
    section_ = section;
    if (!names_.add(plan_.actions[a]))
      plan_fault(plan_, a,
                 "two actions of the " + std::string(name_of(section)) + " are called " +
                     quoted_name(plan_, a));
  }

  const Plan& plan_;
  bool names_are_unique_;  ///< whether the reader of the plan's text has compared the names
  Section section_ = Section::prologue;
  UniqueNames names_;  ///< the names of the current section
};

/// An instance of a tensor, and the action that allocates this instance.
struct MadeInstance {
  std::uint32_t tensor, pool;
  std::int64_t instance;
  std::uint32_t action;
  auto operator<=>(const MadeInstance&) const = default;
};

std::string named(const Plan& plan, const MadeInstance& made) {
  return "tensor '" + plan.tensors[made.tensor].name + "' in " + plan.pools[made.pool].name;
}

/// Returns all allocations of the plan, in listing order. An allocation of the body appears only once, for all
/// iterations together.
std::vector<MadeInstance> allocations(const PlanTables& tables) {
  constexpr std::int64_t each_iteration = std::numeric_limits<std::int64_t>::min();
  const Plan& plan = tables.plan;
  std::vector<MadeInstance> made;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    if (!tables.touches_memory(a)) continue;
    const bool inside = plan.section_of(a) == Section::body;
    for (const Placement& p : plan.actions[a].allocates)
      made.push_back(
          {p.tensor, p.pool, inside ? each_iteration : tables.instance(a, 0, p.tensor), a});
  }
  return made;
}

/// Returns whether an action of the body uses the tensor that the body allocates. It may use instances of so many
/// iterations before (Access::distance) that a short run has none of them.
bool body_releases(const PlanTables& tables, const MadeInstance& made) {
  const Plan& plan = tables.plan;
  const Placement placement{made.tensor, made.pool};
  if (tables.uses(placement, plan.iterations / 2) > 0) return true;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    if (std::ranges::find(plan.actions[a].uses, placement, &Access::placement) !=
        plan.actions[a].uses.end())
      return true;
  return false;
}

/// Returns what to do so that the body releases the tensor that it allocates.
std::string how_to_release(const Plan& plan, const MadeInstance& made) {
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    for (const Access& use : plan.actions[a].uses)
      if (use.tensor == made.tensor)
        return "action " + quoted_name(plan, a) + " uses it in " + plan.pools[use.pool].name +
               ", and not in " + plan.pools[made.pool].name;
  return "list the tensor in 'uses' of an action of the body";
}

/// Checks that each instance is allocated only once, and that the body releases the instances that it allocates.
void check_allocations(const PlanTables& tables) {
  const Plan& plan = tables.plan;
  std::vector<MadeInstance> made = allocations(tables);
  if (plan.iterations > 0)
    for (const MadeInstance& one : made)
      if (plan.section_of(one.action) == Section::body && !body_releases(tables, one))
        plan_fault(plan, one.action,
                   "the body allocates " + named(plan, one) +
                       " in each iteration, but never releases it: " + how_to_release(plan, one));
  std::sort(made.begin(), made.end());
  const auto twice = std::adjacent_find(
      made.begin(), made.end(), [](const MadeInstance& x, const MadeInstance& y) {
        return x.tensor == y.tensor && x.pool == y.pool && x.instance == y.instance;
      });
  if (twice == made.end()) return;
  const MadeInstance& again = twice[1];
  plan_fault(plan, again.action,
             named(plan, again) + " is allocated a second time (by " +
                 quoted_name(plan, again.action) + ")");
}

/// Checks that a tensor whose instance of an earlier iteration is used has one instance per iteration.
void check_distances(const PlanTables& tables) {
  const Plan& plan = tables.plan;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    for (const Access& use : plan.actions[a].uses)
      if (use.distance > 0 && !tables.iterated[use.tensor])
        plan_fault(plan, a,
                   "action " + quoted_name(plan, a) + " uses tensor '" +
                       plan.tensors[use.tensor].name +
                       "' with a distance ('~'), but no action of the body allocates the tensor");
}

/// Checks that a step consists of whole runs of the body, or that a run of the body consists of whole steps.
void check_steps(const Plan& plan) {
  const std::int64_t per_step = plan.iterations_per_step;
  if (per_step < 1 || plan.steps_per_iteration < 1)
    plan_fault(plan, none, "'iterations_per_step' and 'steps_per_iteration' must be at least 1");
  if (per_step > 1 && plan.steps_per_iteration > 1)
    header_fault(plan, "iterations_per_step",
                 "'iterations_per_step' is " + std::to_string(per_step) +
                     " and 'steps_per_iteration' is " + std::to_string(plan.steps_per_iteration) +
                     ": one of the two numbers must be 1");
  if (plan.iterations % per_step != 0)
    header_fault(plan, "iterations",
                 "'iterations' is " + std::to_string(plan.iterations) +
                     ", which is not a multiple of the " + std::to_string(per_step) +
                     " iterations of a step ('iterations_per_step')");
}

/// Checks the plan's sections, steps, tensors, routes and collectives, before PlanTables uses them.
void check_parts(const Plan& plan) {
  if (plan.body_begin > plan.body_end || plan.body_end > plan.actions.size())
    plan_fault(plan, none, "the body begins after its end, or ends after the last action");
  if (plan.body_end > plan.body_begin && plan.iterations < 1)
    plan_fault(plan, plan.body_begin,
               "the body runs " + std::to_string(plan.iterations) +
                   " times; set 'iterations' to at least 1");
  check_steps(plan);
  for (const Tensor& tensor : plan.tensors) check_tensor(plan, tensor);
  for (const Route& route : plan.routes) check_route(plan, route);
  for (const Collective& collective : plan.collectives) check_collective(plan, collective);
}

}  // namespace

void check_structure(const Plan& plan) {
  checked_tables(plan);
}

PlanTables checked_tables(const Plan& plan) {
  check_parts(plan);
  // The constructor of the tables checks each action just before it uses the action. A separate loop for the check
  // would fetch millions of actions from memory once more, and this function would spend most of its time on these
  // fetches.
  PlanTables tables(plan, ActionCheck(plan));
  check_cycles(tables);
  check_allocations(tables);
  check_distances(tables);
  return tables;
}

}  // namespace sluice
