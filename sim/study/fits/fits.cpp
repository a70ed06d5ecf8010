#include "study/fits/fits.hpp"

#include <algorithm>

#include "base/bisection.hpp"
#include "base/interrupt.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "execute/residency.hpp"
#include "metrics/metric.hpp"
#include "plan/tables.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

/// Steps of a candidate: the second half of them is the steady state.
constexpr std::int64_t steps = 5;
/// How many are asked above the largest that bisection finds.
constexpr std::int64_t neighbours = 3;
/// Micro-batches of the batch that shows what accumulation costs, where none is asked for.
constexpr std::int64_t shown_accumulation = 4;
/// As many as a scenario may unroll.
constexpr std::int64_t most_micro_batches = 1'000'000;

// --- the scenario ------------------------------------------------------------------------------

Value unlimited_platform(const std::string& dtype) {
  return parse_text("format: sluice-platform/1\nname: unlimited\ndevices:\n  device:\n    rate: {" +
                        dtype +
                        ": 1TFLOP/s}\n    memory: {capacity: unlimited}\nmemories:\n  host: "
                        "{capacity: unlimited}\nlinks:\n  host: {joins: [host, device], "
                        "bandwidth: 1GB/s}\n",
                    "unlimited.yaml");
}

Value mapping(const std::vector<std::pair<std::string, std::string>>& entries) {
  Value map = Value::make_map();
  for (const auto& [key, text] : entries)
    if (!text.empty()) map.set(key, Value::make(text));
  return map;
}

/// What is searched, or has a place of its own in the request, is no override.
void refuse_override(const Override& override) {
  const auto is = [&](std::vector<std::string> path) { return override.path == path; };
  const auto refuse = [&](const std::string& reason) {
    throw UsageError("'" + override.value.source()->text + "': " + reason);
  };
  if (is({"workload"}) || is({"workload", "batch"}) || is({"workload", "micro_batch"}) ||
      is({"workload", "batches_per_step"}) || is({"workload", "steps"}))
    refuse("how many samples fit is what is asked; a batch to be accumulated is given apart");
  for (const char* key : {"mode", "dtype", "optimizer"})
    if (is({"workload", key})) refuse("the " + std::string(key) + " is given apart");
  if (is({"policy"}) || is({"policy", "name"})) refuse("the policy is given apart");
  if (is({"fates"}) || is({"fates", "strategy"})) refuse("the strategy for fates is given apart");
  if (is({"memory"}) || is({"memory", "capacity"}))
    refuse("how much fits is asked of a capacity that is enforced");
}

Scenario scenario_of(const FitsRequest& request, Value platform) {
  Value document = mapping({{"format", "sluice-scenario/1"},
                            {"question", "How long does the largest micro-batch that fits take?"}});
  document.set("model", request.model);
  document.set("platform", std::move(platform));
  Value workload =
      mapping({{"mode", request.mode}, {"dtype", request.dtype}, {"optimizer", request.optimizer}});
  workload.set("batch", Value::make(std::int64_t{1}));
  workload.set("steps", Value::make(steps));
  document.set("workload", std::move(workload));
  document.set("stages", mapping({{"cut", "single_tensor"}}));
  document.set("policy", mapping({{"name", request.policy}}));
  document.set("fates", mapping({{"strategy", request.fates}}));
  for (const std::string& text : request.overrides) {
    const Override override = parse_override(text);
    refuse_override(override);
    apply_override(document, override, {"phases", "cost", "memory"});
  }
  return read_scenario(std::move(document), "fits");
}

const Device& device_of(const Scenario& scenario) {
  const Value* named = scenario.document.find("policy")->find("device");
  if (!named) return scenario.platform.devices.front();
  return located(*named,
                 [&]() -> const Device& { return scenario.platform.device(named->text()); });
}

/// The only micro-batch whose seconds the cost model knows; 0: it knows any.
std::int64_t measured_batch(const Scenario& scenario) {
  return scenario.cost->only_samples(scenario.model);
}

// --- what a plan takes -------------------------------------------------------------------------

std::string doing(const Plan& plan, const Action& action) {
  const std::string text(name_of(action.kind));
  const auto stage = static_cast<std::size_t>(action.stage);
  const bool named = action.stage >= 0 && stage < plan.stages.size();
  return named ? text + " of " + plan.stages[stage] : text;
}

/// Of a plan that does one thing at a time.
Footprint footprint_of(const Plan& plan, const std::string& device, std::int64_t samples) {
  const PlanTables index(plan);
  Residency live(index);
  Footprint footprint{.samples = samples};
  std::array<std::int64_t, tensor_class_count> level{};
  std::uint32_t pool = 0;
  while (plan.pools.at(pool).owner != device) ++pool;  // its first memory
  for (const Tensor& tensor : plan.tensors)
    if (tensor.home == pool) level[static_cast<std::size_t>(tensor.tensor_class)] += tensor.bytes;
  const auto tally = [&](const Placement& placement, std::int64_t sign) {
    const Tensor& tensor = plan.tensors[placement.tensor];
    if (placement.pool == pool)
      level[static_cast<std::size_t>(tensor.tensor_class)] += sign * tensor.bytes;
  };
  replay(plan, [&](const Executed& done) {
    const Action& action = plan.actions[done.action];
    live.allocate(done.action, done.iteration);
    for (const Placement& made : action.allocates) tally(made, 1);
    if (live.level(pool) > footprint.bytes) {
      footprint.bytes = live.level(pool);
      footprint.by_class = level;
      footprint.action = name_of(action);
      footprint.doing = doing(plan, action);
    }
    live.release(done.action, done.iteration, [&](const Placement& gone) { tally(gone, -1); });
  });
  return footprint;
}

/// Seconds of a step, as the metric of that name says.
double step_s_of(const Plan& plan) {
  Totals totals(plan);
  replay(plan, totals);
  return metric_catalog().find("step_s").value(totals).number;
}

// --- one card ----------------------------------------------------------------------------------

class Card {
 public:
  explicit Card(Scenario scenario)
      : asked_(without_seconds(scenario)),
        serial_(asked_),
        timed_(std::move(scenario)),
        device_(device_of(asked_)) {
    Value policy = *serial_.document.find("policy");
    policy.set("overlap", Value::make(false));
    if (policy.find("prefetch")) policy.set("prefetch", Value::make(std::int64_t{0}));
    set_policy(serial_, std::move(policy));
    serial_.workload.steps = 1;  // nothing comes in for a next one
  }

  CardFit answer(std::optional<std::int64_t> batch) {
    CardFit fit;
    fit.platform = asked_.platform.name;
    fit.device = device_.name;
    fit.cost = timed_.cost.name();
    fit.capacity = device_.capacity;
    if (device_.capacity) {
      fit.largest = largest();
      if (refusal_) fit.refusal = refusal_->what(), fit.refusal_headline = refusal_->headline();
    } else {
      plan(asked_, 1, 1);  // refuses what no plan can be made of
    }
    add_footprints(fit, batch);
    if (fit.largest.value_or(0) > 0 && has_seconds(*fit.largest))
      fit.step_s = step_s_of(plan(timed_, *fit.largest, *fit.largest));
    if (!batch && fit.largest.value_or(0) > 0 && asked_.workload.training)
      batch = std::min(*fit.largest, most_samples / shown_accumulation) * shown_accumulation;
    if (batch) fit.accumulation = accumulation(*batch, fit);
    const std::int64_t samples = std::max<std::int64_t>(1, fit.largest.value_or(1));
    asked_.document.find("workload")->set("batch", Value::make(samples));
    fit.scenario = asked_.text();
    return fit;
  }

 private:
  /// Seconds that are known for one micro-batch alone say nothing of others: memory is found with
  /// those of peak.
  static Scenario without_seconds(Scenario scenario) {
    if (measured_batch(scenario) > 0) scenario.cost = plain_cost("peak");
    return scenario;
  }

  bool has_seconds(std::int64_t micro_batch) const {
    const std::int64_t measured = measured_batch(timed_);
    return measured == 0 || measured == micro_batch;
  }

  static Plan plan(Scenario& scenario, std::int64_t batch, std::int64_t micro_batch) {
    check_interrupt();
    scenario.workload.batch = batch;
    scenario.workload.micro_batch = micro_batch;
    return make_plan(scenario);
  }

  bool fits(std::int64_t batch, std::int64_t micro_batch) {
    try {
      check(plan(asked_, batch, micro_batch));
      return true;
    } catch (const Infeasible& error) {
      refusal_ = error;
      return false;
    }
  }
  bool fits(std::int64_t samples) { return fits(samples, samples); }

  /// Leaves in `refusal_` why the next one does not fit.
  std::int64_t largest() {
    if (!fits(1)) return 0;
    std::int64_t good = 1;
    for (;;) {
      std::int64_t bad = good;
      while (bad < most_samples) {
        bad = std::min(2 * bad, most_samples);
        if (!fits(bad)) break;
        good = bad;
      }
      if (good == most_samples) return good;
      good = most_that_fits(good, bad, [&](std::int64_t samples) { return fits(samples); });
      const std::int64_t before = good;
      for (std::int64_t above = std::min(good + neighbours, most_samples); above > before; --above)
        if (fits(above)) {
          good = above;
          break;
        }
      if (good == before) return good;
    }
  }

  /// None: it does not fit, or there are no stages for it even without a limit.
  std::optional<Footprint> footprint(std::int64_t samples, bool enforced) {
    serial_.capacity_enforced = enforced;
    try {
      return footprint_of(plan(serial_, samples, samples), device_.name, samples);
    } catch (const Infeasible&) {
      return {};
    }
  }

  void add_footprints(CardFit& fit, std::optional<std::int64_t> batch) {
    const std::int64_t most = fit.largest ? *fit.largest : batch.value_or(1);
    if (most > 0) {
      fit.one = footprint(1, true);
      fit.most = footprint(most, true);
      if (!fit.largest || most == most_samples) return;
      // Does what is done follow from the memory there is?
      if (footprint(1, false) != fit.one || footprint(most, false) != fit.most) return;
    }
    fit.next = footprint(most + 1, false);
    if (fit.next && fit.next->bytes <= *fit.capacity) fit.next.reset();
    if (most == 0) fit.one = fit.next;
  }

  /// The largest divisor of the batch that fits as its micro-batch.
  std::optional<Accumulation> accumulation(std::int64_t batch, const CardFit& fit) {
    if (fit.largest == 0 || !has_seconds(batch)) return {};
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d * d <= batch; ++d)
      if (batch % d == 0) divisors.insert(divisors.end(), {d, batch / d});
    std::sort(divisors.rbegin(), divisors.rend());
    for (const std::int64_t micro_batch : divisors) {
      if (micro_batch > fit.largest.value_or(most_samples)) continue;
      if (batch / micro_batch > most_micro_batches)
        throw InputError("a batch of " + std::to_string(batch) + " samples in micro-batches of " +
                         std::to_string(micro_batch) + ", its largest divisor that fits " +
                         fit.platform + ", is more than " + std::to_string(most_micro_batches) +
                         " micro-batches, which a plan cannot unroll");
      if (!fits(batch, micro_batch)) continue;
      Accumulation made{.batch = batch, .micro_batch = micro_batch};
      if (!has_seconds(micro_batch)) return {};
      made.step_s = step_s_of(plan(timed_, batch, micro_batch));
      Scenario boundless = timed_;
      boundless.capacity_enforced = false;
      made.at_once_s = step_s_of(plan(boundless, batch, batch));
      return made;
    }
    return {};
  }

  Scenario asked_, serial_, timed_;
  const Device& device_;
  std::optional<Infeasible> refusal_;  ///< of the smallest that does not fit
};

}  // namespace

FitsReport fits(const FitsRequest& request) {
  if (request.batch && (*request.batch < 1 || *request.batch > most_samples))
    throw InputError("'" + std::to_string(*request.batch) +
                     "' for 'batch': expected an integer from 1 to " +
                     std::to_string(most_samples));
  std::vector<Value> platforms = request.platforms;
  if (platforms.empty()) platforms.push_back(unlimited_platform(request.dtype));
  FitsReport report;
  for (Value& platform : platforms) {
    Scenario scenario = scenario_of(request, std::move(platform));
    report.model = scenario.model.name;
    report.measured_batch = measured_batch(scenario);
    if (scenario.workload.training) report.optimizer = scenario.workload.training->optimizer->name;
    const std::string name = scenario.platform.name;
    try {
      report.cards.push_back(Card(std::move(scenario)).answer(request.batch));
    } catch (const InputError& error) {
      throw error.noted("of platform '" + name + "'");
    }
  }
  return report;
}

}  // namespace sluice
