#include "planning/placement/backing.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/never.hpp"
#include "base/quantity.hpp"
#include "fates/optimal/report.hpp"
#include "planning/equal_replicas.hpp"
#include "planning/only_candidate.hpp"
#include "planning/placement/any_fates.hpp"
#include "planning/placement/placed_candidates.hpp"
#include "planning/placement/plan_routes.hpp"
#include "planning/placement/turns/limited_runs.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/program.hpp"

namespace sluice {
namespace {

/// Returns the shown machine (see backing.hpp): a platform in which the second memory of the devices is the host memory.
Platform shown_platform(const Platform& platform, const std::vector<std::string>& names) {
  Platform shown = platform;
  shown.lookup = {};
  shown.memories.clear();
  const auto add = [&](const DeviceMemory& memory) {
    if (std::ranges::count(shown.memories, memory.pool, &Memory::name) == 0)
      shown.memories.push_back({memory.pool, memory.capacity});
  };
  for (Device& device : shown.devices) {
    if (std::ranges::count(names, device.name) == 0) continue;
    add(device.memories[1]);
    device.memories.erase(device.memories.begin() + 1);
    if (!device.memory().own) add(device.memory());
  }
  return shown;
}

struct ShownRequest {
  ShownRequest(const PolicyRequest& asked, const ComputingDevices& on)
      : platform(shown_platform(asked.pricing.platform, on.names)),
        request(asked.priced(asked.pricing.on(platform))) {
    request.real_machine = &asked.pricing.platform;
    if (asked.shown_plans) request.shown_plans = &asked.shown_plans->backed();
    if (!asked.replicas) return;
    share = shown_platform(*asked.replicas->share, on.names);
    replicas = *asked.replicas;
    replicas->real_share = std::exchange(replicas->share, &*share);
    request.replicas = &*replicas;
  }
  ShownRequest(const ShownRequest&) = delete;

  Platform platform;
  std::optional<Platform> share;  ///< of equal replicas
  std::optional<EqualReplicas> replicas;
  PolicyRequest request;  ///< refers to the members above
  /// Whether the second memory has room for all weights. The first plan sets this value. Every cut of the model has the
  /// same weights, so the value holds for all candidates.
  mutable std::optional<bool> weights_fit;
};

/// Returns the bytes of the tensors whose home is this pool. If `only` is given, counts only tensors of this class.
std::int64_t bytes_at_home(const Plan& plan, std::uint32_t pool,
                           std::optional<TensorClass> only = {}) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : plan.tensors)
    if (tensor.home == pool && (!only || tensor.tensor_class == *only))
      bytes = checked_add(bytes, tensor.bytes, "bytes of a memory");
  return bytes;
}

bool has_room(const Pool& pool, std::int64_t bytes) {
  return !pool.limited() || bytes <= pool.most();
}

/// Returns whether the second memory has room for all weights of a plan for the shown machine.
bool has_room_for_weights(const DeviceMemory& second, const Plan& plan) {
  const std::uint32_t pool = pool_number(plan, second.pool);
  return has_room(plan.pools[pool], bytes_at_home(plan, pool, TensorClass::weight));
}

/// Changes a plan for the shown machine into a plan for the real machine.
class BackingRewriter {
 public:
  BackingRewriter(Plan plan, const Platform& platform, const ComputingDevices& on)
      : plan_(std::move(plan)), routes_(plan_, platform), in_turn_(!on.overlap) {
    const Device& device = platform.device(on.names.front());
    const DeviceMemory& memory = device.memories[1];
    second_ = pool_number(plan_, memory.pool);
    if (memory.own) plan_.pools[second_].owner = device.name;
    host_ = static_cast<std::uint32_t>(plan_.pools.size());
    const Memory& host = platform.host();
    plan_.pools.push_back({host.name, host.capacity, "", plan_.pools[second_].enforced});
  }

  Plan rewrite() {
    move_homes();
    for (Action& action : plan_.actions) redirect(action);
    require_room();
    load_once();
    return std::move(plan_);
  }

 private:
  /// Makes host memory the home of inputs and answers. Adds a tensor in host memory for each weight, because the run
  /// starts with all weights in host memory.
  void move_homes() {
    for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t) {
      Tensor& tensor = plan_.tensors[t];
      if (tensor.home != second_) continue;
      if (tensor.tensor_class == TensorClass::input || tensor.tensor_class == TensorClass::output)
        tensor.home = host_;
      else if (tensor.tensor_class == TensorClass::weight)
        begin_.push_back(t);
    }
    for (const std::uint32_t t : begin_) {
      Tensor held = plan_.tensors[t];
      held.name += ".host";
      held.home = host_;
      plan_.tensors.push_back(std::move(held));
    }
  }

  void require_room() const {
    const Pool& second = plan_.pools[second_];
    const std::int64_t bytes = bytes_at_home(plan_, second_);
    if (has_room(second, bytes)) return;
    throw Infeasible(
        "the tensors that take turns have their home in '" + second.name + "': they need " +
            format_bytes(bytes) + ", and it has " + format_bytes(*second.capacity) +
            "; use placement none",
        {.pool = second.name, .needed_bytes = bytes, .available_bytes = *second.capacity});
  }

  /// Returns whether host memory takes the place of the second memory in this flow. This is so for the tensors whose home
  /// is host memory, and for inputs and answers. A plan may have several tensors for one input, for example if the input
  /// is loaded again. Such a tensor has no home, but it comes from the home of the inputs. An answer goes to a place that
  /// is there from the start, so its save allocates nothing.
  bool belongs_to_host(const Action& action, const Flow& flow) const {
    const Tensor& tensor = plan_.tensors[flow.tensor];
    if (tensor.home == host_ || tensor.tensor_class == TensorClass::input) return true;
    return tensor.tensor_class == TensorClass::output && flow.to == second_ &&
           action.allocates.empty();
  }

  /// Makes the action use host memory, instead of the second memory, for inputs, for answers, and for the tensors whose
  /// home is host memory.
  void redirect(Action& action) {
    for (Flow& flow : action.flows) {
      if (flow.tensor == none) continue;
      if (flow.from != second_ && flow.to != second_) continue;
      if (!belongs_to_host(action, flow)) continue;
      (flow.from == second_ ? flow.from : flow.to) = host_;
      routes_.send(action, flow);
    }
    for (Access& use : action.uses) use.pool = pool_of(use.tensor, use.pool);
    for (Placement& made : action.allocates) made.pool = pool_of(made.tensor, made.pool);
  }
  std::uint32_t pool_of(std::uint32_t tensor, std::uint32_t pool) const {
    return pool == second_ && plan_.tensors[tensor].home == host_ ? host_ : pool;
  }

  /// Adds loads of the weights at the start of the prologue: from host memory to the second memory, in the order in
  /// which the plan first reads the weights. Actions that read weights from the second memory wait for these loads. A plan
  /// may have several tensors for the weights of a stage, one per load. Only one of them has a home.
  void load_once() {
    // The action that loads a tensor, indexed by tensor.
    std::map<std::uint32_t, std::uint32_t> loads;
    std::vector<Action> head;
    const auto count = static_cast<std::uint32_t>(begin_.size());
    for (Action& action : plan_.actions) {
      for (Wait& wait : action.waits) wait.action += count;
      for (const Flow& flow : action.flows) {
        if (flow.from != second_ || flow.tensor == none) continue;
        const std::uint32_t weights = home_of(flow.tensor, action.stage);
        if (weights == none) continue;
        const auto [load, fresh] =
            loads.try_emplace(weights, static_cast<std::uint32_t>(head.size()));
        if (fresh) head.push_back(load_of(weights, action.stage));
        action.waits.push_back({load->second, 0});
      }
    }
    for (const std::uint32_t t : begin_)
      if (loads.count(t) == 0) head.push_back(load_of(t, -1));
    for (std::uint32_t a = 1; in_turn_ && a < count; ++a) head[a].waits.push_back({a - 1, 0});
    if (in_turn_ && count > 0 && !plan_.actions.empty())
      plan_.actions.front().waits.push_back({count - 1, 0});
    plan_.body_begin += count;
    plan_.body_end += count;
    plan_.actions.insert(plan_.actions.begin(), std::make_move_iterator(head.begin()),
                         std::make_move_iterator(head.end()));
  }

  /// Returns the tensor with these weights whose home is the second memory. Returns `none` for other tensors.
  std::uint32_t home_of(std::uint32_t tensor, std::int32_t stage) const {
    if (std::ranges::count(begin_, tensor) > 0) return tensor;
    if (plan_.tensors[tensor].tensor_class != TensorClass::weight || stage < 0) return none;
    const std::string name = instance_name("weights", static_cast<std::size_t>(stage), -1);
    const auto home = std::ranges::find(
        begin_, name, [&](std::uint32_t t) -> const std::string& { return plan_.tensors[t].name; });
    return home == begin_.end() ? none : *home;
  }

  Action load_of(std::uint32_t t, std::int32_t stage) {
    Action load;
    load.name = "home." + plan_.tensors[t].name;
    load.kind = ActionKind::load;
    load.stage = stage;
    load.flows.push_back({t, host_, second_, none, plan_.tensors[t].bytes});
    routes_.send(load, load.flows.front());
    return load;
  }

  Plan plan_;
  PlanRoutes routes_;
  bool in_turn_;  ///< whether actions run one at a time
  std::uint32_t second_ = none, host_ = none;
  /// The weights whose home is the second memory. load_once() adds the loads that bring them there from host memory.
  std::vector<std::uint32_t> begin_;
};

Plan rewrite_for(const PolicyRequest& request, const ComputingDevices& on, Plan plan) {
  Plan rewritten = BackingRewriter(std::move(plan), request.pricing.platform, on).rewrite();
  std::erase_if(rewritten.facts, is_proven);  // these facts hold only for the shown machine
  rewritten.facts.insert(rewritten.facts.begin(), Fact("placement", backing));
  return rewritten;
}

/// Returns whether a plan keeps this pool within fewer bytes than it has. If it has as many, they are the capacity, and
/// say nothing about the plan.
bool has_smaller_limit(const Pool& pool) {
  return pool.limit && (!pool.capacity || *pool.limit < *pool.capacity);
}

/// `shown` is a result for the shown machine. Returns the corresponding result for the real machine: the rewritten plan
/// and its seconds. Transfers may share links that they do not share on the shown machine. Then the plan is compared
/// within several limits of the first memories (limited_runs.hpp), so more memory does not make it slower. If the plan
/// has a limit of its own, this limit is compared, too. But replicas stay within limits of their plans,
/// because their runs are simulated together. The returned result has no plan if a memory is too small, or if the plan
/// takes `worth` seconds or more.
Settled settled_on(const PolicyRequest& request, const ComputingDevices& on, const Settled& shown,
                   double worth) {
  Settled one = {.text = shown.text, .attempt = shown.attempt};
  try {
    Plan plan = rewrite_for(request, on, shown.plan());
    std::vector<std::uint32_t> firsts;
    for (const std::string& name : on.names) {
      const std::uint32_t pool =
          pool_number(plan, request.pricing.platform.device(name).memory().pool);
      if (std::ranges::count(firsts, pool) == 0) firsts.push_back(pool);
    }
    RunsWanted wanted = {.worth = worth, .firsts = firsts.size(), .many = true};
    const Plan own = plan;
    if (!request.replicas)
      for (const std::uint32_t pool : firsts) {
        plan.pools[pool].limit.reset();
        plan.pools[pool].enforced = request.capacity_enforced;
      }
    LimitedRun run = fastest_within(plan, firsts, wanted);
    if (!request.replicas && has_smaller_limit(own.pools[firsts.front()])) {
      wanted.worth = std::min(worth, run.seconds);
      LimitedRun within_own = fastest_within(own, firsts, wanted);
      if (within_own.seconds < run.seconds) {
        run = std::move(within_own);
        plan = own;
      }
    }
    if (run.seconds == never) return one;
    one.seconds = run.seconds;
    one.text += keep_within(run, plan, firsts);
    one.plan = keeping(std::move(plan));
  } catch (const Infeasible&) {  // Other candidates may still fit.
  }
  return one;
}

/// `candidate` is a candidate for the shown machine. Returns the corresponding candidate for the real machine.
Candidate backed(Candidate candidate, const std::shared_ptr<const ShownRequest>& shown,
                 const PolicyRequest& request, const ComputingDevices& on) {
  const auto change = [shown, &request, on](Settled& one, double worth) {
    const Device& device = request.pricing.platform.device(on.names.front());
    if (one.plan && !shown->weights_fit)
      shown->weights_fit = has_room_for_weights(device.memories[1], one.plan());
    if (one.plan) one = settled_on(request, on, one, worth);
    one.text = with_placement(backing, one.text);
  };
  const CallGuard guard = [shown](const auto& call) {
    if (shown->weights_fit.value_or(true)) call();
  };
  return changed(std::move(candidate), {.way = change, .guard = guard});
}

}  // namespace

std::string with_placement(const std::string& placement, const std::string& text) {
  return joined("placement: " + placement, text);
}

std::string why_no_backing(const Platform& platform, const std::string& name) {
  const Device& device = platform.device(name);
  if (device.memories.size() < 2) return "device '" + name + "' has only one memory";
  if (device.memories[1].pool == platform.host().name)
    return "the second memory of '" + name +
           "' is host memory, where the tensors that take turns already have their home";
  for (const std::string& other : {device.name, platform.host().name}) try {
      platform.path(other, device.memories[1].pool);
    } catch (const InputError& error) {
      return error.what();
    }
  return "";
}

void require_backing(const Platform& platform, const std::string& device,
                     const Reader& parameters) {
  const std::string why = why_no_backing(platform, device);
  if (!why.empty())
    parameters.fail("placement", "'backing' for 'placement': " + why + "; expected placement none");
}

Draft backed_draft(const PolicyRequest& request, const ComputingDevices& on, const PlanOf& plan) {
  const ShownRequest shown(request, on);
  return rewrite_for(request, on, finish(plan(shown.request), shown.request));
}

std::vector<Candidate> backed_candidates(const PolicyRequest& request, const ComputingDevices& on,
                                         const CandidatesOf& candidates) {
  const auto shown = std::make_shared<const ShownRequest>(request, on);
  std::vector<Candidate> offered;
  for (Candidate& one : candidates(shown->request))
    offered.push_back(backed(std::move(one), shown, request, on));
  return offered;
}

CandidatesOf candidates_of(std::vector<FixedPlan> fixed) {
  return [fixed = std::move(fixed)](const PolicyRequest& machine) {
    std::vector<Candidate> candidates;
    for (const FixedPlan& one : fixed)
      candidates.push_back(only_candidate(
          one.text, [&machine, plan = one.plan] { return finish(plan(machine), machine); }));
    return candidates;
  };
}

std::vector<Candidate> candidates_of_homes(const PolicyRequest& request, Homes homes,
                                           const PlansForMachine& of_policy,
                                           std::vector<Candidate> others) {
  std::vector<Candidate> from_host, from_second;
  if (homes.host) from_host = of_policy.candidates(request);
  if (homes.backing) from_second = backed_candidates(request, of_policy.on, of_policy.candidates);
  const bool several = (homes.host && homes.backing) || !others.empty();
  const bool searches = several && request.strategy().searches;
  if (from_host.empty() && from_second.empty() && others.empty() && !searches) return {};
  const PlanOf plan = of_policy.plan;
  if (homes.host && from_host.empty())
    from_host.push_back(
        only_candidate("", [&request, plan] { return finish(plan(request), request); }));
  if (homes.backing && from_second.empty())
    from_second.push_back(
        only_candidate(std::string("placement: ") + backing, [&request, on = of_policy.on, plan] {
          return finish(backed_draft(request, on, plan), request);
        }));
  if (several)  // Several placements are compared, so the text names the placement.
    for (Candidate& one : from_host)
      one = changed(std::move(one),
                    [](Settled& way) { way.text = with_placement("none", way.text); });
  if (request.strategy().searches && of_policy.any_fates)
    for (Candidate& one : from_second)
      one = with_bound_of_any_fates(std::move(one),
                                    [&request, on = of_policy.on, any_fates = of_policy.any_fates] {
                                      const ShownRequest shown(request, on);
                                      return any_fates(shown.request);
                                    });
  if (searches) {
    for (Candidate& one : from_host) one = proven_for("none", std::move(one));
    for (Candidate& one : from_second) one = proven_for(backing, std::move(one));
  }
  std::vector<Candidate> all;
  for (std::vector<Candidate>* more : {&from_host, &from_second, &others})
    all.insert(all.end(), std::make_move_iterator(more->begin()),
               std::make_move_iterator(more->end()));
  return all;
}

}  // namespace sluice
