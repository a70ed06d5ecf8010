#include "study/fits/card.hpp"

#include <algorithm>

#include "base/count_error.hpp"
#include "base/interrupt.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "execute/residency.hpp"
#include "fates/strategy.hpp"
#include "metrics/metric.hpp"
#include "plan/tables.hpp"
#include "run/further_steps.hpp"

namespace sluice {
namespace {

/// When a search has found that n is the largest number of samples that fits, n + 1 to n + `neighbours` are tried, too.
constexpr std::int64_t neighbours = 3;
/// If the user does not request a batch, accumulation is shown for a batch with this number of micro-batches, each as
/// large as fits.
constexpr std::int64_t shown_accumulation = 4;
/// The largest number of micro-batches that a step of a scenario may have.
constexpr std::int64_t most_micro_batches = 1'000'000;

std::string doing(const Plan& plan, const Action& action) {
  const std::string text(name_of(action.kind));
  const auto stage = static_cast<std::size_t>(action.stage);
  const bool named = action.stage >= 0 && stage < plan.stages.size();
  return named ? text + " of " + plan.stages[stage] : text;
}

/// Returns the footprint of a plan whose actions run one at a time: the bytes that the memory holds at the first moment
/// of its peak.
Footprint footprint_of(const Plan& plan, const std::string& memory, std::int64_t samples) {
  const PlanTables index(plan);
  Residency live(index);
  Footprint footprint{.samples = samples};
  std::array<std::int64_t, tensor_class_count> level{};
  std::uint32_t pool = 0;
  while (plan.pools.at(pool).name != memory) ++pool;
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

const Device& device_of(const Scenario& scenario) {
  const Value* named = scenario.document.find("policy")->find("device");
  if (!named) return scenario.platform.devices.front();
  return located(*named,
                 [&]() -> const Device& { return scenario.platform.device(named->text()); });
}

/// The search for the largest micro-batch needs a cost model that knows the seconds of every size. If the scenario's
/// cost model knows only one size, returns the scenario with the cost model `peak`.
Scenario without_seconds(Scenario scenario) {
  if (Card::measured_batch(scenario) > 0) scenario.cost = plain_cost("peak");
  return scenario;
}

/// Returns the scenario with one step and without overlap. So nothing is loaded ahead, and actions run one at a time. In
/// training, weights stay on the device only if the policy or the scenario demands it: which of them stay otherwise
/// depends on the size of the memory.
Scenario one_at_a_time(Scenario scenario) {
  Value policy = *scenario.document.find("policy");
  policy.set("overlap", Value::make(false));
  if (policy.find("prefetch")) policy.set("prefetch", Value::make(std::int64_t{0}));
  const bool may_stay =
      std::ranges::count(scenario.policy->parameters, "resident", &Field::name) > 0;
  if (scenario.workload.training && may_stay && !policy.find("resident"))
    policy.set("resident", Value::make(std::string("none")));
  set_policy(scenario, std::move(policy));
  scenario.workload.steps = 1;
  return scenario;
}

/// Returns the seconds of a step of the plan, as the metric step_s defines them.
double step_s_of(const Plan& plan) {
  if (const std::optional<double> seconds = further_step_s(plan)) return *seconds;
  Totals totals(plan);
  replay(plan, totals);
  return metric_catalog().find("step_s").value(totals).number;
}

/// Returns the divisors of a number, largest first.
std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d * d <= number; ++d)
    if (number % d == 0) divisors.insert(divisors.end(), {d, number / d});
  std::sort(divisors.rbegin(), divisors.rend());
  return divisors;
}

}  // namespace

Card::Card(Scenario scenario, std::function<void()> on_answer)
    : asked_(without_seconds(scenario)),
      serial_(one_at_a_time(asked_)),
      timed_(std::move(scenario)),
      on_answer_(std::move(on_answer)),
      device_(device_of(asked_)) {}

std::int64_t Card::measured_batch(const Scenario& scenario) {
  return scenario.cost->only_samples(scenario.model);
}

CardFit Card::answer(std::optional<std::int64_t> batch) {
  CardFit fit;
  fit.platform = asked_.platform.name;
  fit.device = device_.name;
  fit.cost = timed_.cost.name();
  fit.capacity = device_.memory().capacity;
  fit.reserved = device_.memory().reserved;
  if (device_.memory().capacity) {
    fit.largest = largest();
    if (refusal_) {
      fit.refusal = refusal_->what();
      fit.refusal_headline = refusal_->headline();
      fit.shortage = refusal_->shortage;
    } else if (is_beyond_counts_) {
      fit.refusal = fit.refusal_headline =
          "one more sample needs more than 2^63 - 1 bytes, and no memory has so many bytes";
    }
  } else {
    plan(asked_, 1, 1);  // This call throws if no plan can be made for the question.
  }
  const std::int64_t most = fit.largest.value_or(0);
  if (most > 0 && has_seconds(most)) fit.step_s = step_s(most, most);
  add_footprints(fit, batch);
  if (batch)
    fit.accumulation = accumulation(*batch, fit, /*is_requested=*/true);
  else if (most > 0 && asked_.workload.training)
    fit.accumulation =
        accumulation(std::min(most, most_samples / shown_accumulation) * shown_accumulation, fit,
                     /*is_requested=*/false);
  const std::int64_t samples = std::max<std::int64_t>(1, fit.largest.value_or(1));
  asked_.document.find("workload")->set("batch", Value::make(samples));
  fit.scenario = asked_.text();
  return fit;
}

bool Card::has_seconds(std::int64_t micro_batch) const {
  const std::int64_t measured = measured_batch(timed_);
  return measured == 0 || measured == micro_batch;
}

/// Returns true if the strategy for fates makes a search for each plan. With such a strategy, each plan takes long to
/// make.
bool Card::searches() const {
  return asked_.workload.training && asked_.fates && (*asked_.fates)->searches;
}

Plan Card::plan(Scenario& scenario, std::int64_t batch, std::int64_t micro_batch) {
  check_interrupt();
  scenario.workload.batch = batch;
  scenario.workload.micro_batch = micro_batch;
  Plan made = make_plan(scenario);
  if (on_answer_) on_answer_();
  return made;
}

FitAnswer Card::ask(Scenario& scenario, std::int64_t batch, std::int64_t micro_batch) {
  try {
    const auto made = std::make_shared<const Plan>(plan(scenario, batch, micro_batch));
    check(*made);
    if (&scenario == &asked_) made_ = {batch, micro_batch, made};
    return {.fits = true};
  } catch (const CountError&) {
    // The number of bytes is too large for 64 bits. No memory has so many bytes, so the micro-batch does not fit.
    if (&scenario == &asked_) {
      refusal_.reset();
      is_beyond_counts_ = true;
    }
    return {};
  } catch (const Infeasible& error) {
    if (on_answer_) on_answer_();
    if (&scenario == &asked_) refusal_ = error;
    const Shortage& shortage = error.shortage;
    return {.needed = static_cast<double>(shortage.needed_bytes.value_or(0)),
            .available = static_cast<double>(shortage.available_bytes.value_or(0))};
  }
}

bool Card::fits(std::int64_t batch, std::int64_t micro_batch) {
  return ask(asked_, batch, micro_batch).fits;
}

double Card::step_s(std::int64_t batch, std::int64_t micro_batch) {
  const bool known = made_.batch == batch && made_.micro_batch == micro_batch;
  if (known && measured_batch(timed_) == 0) return step_s_of(*made_.plan);
  return step_s_of(plan(timed_, batch, micro_batch));
}

/// Returns the micro-batch at which the search for the largest micro-batch begins. It is 1 unless the strategy for
/// fates searches. If the strategy searches, each plan takes long to make. So few plans should be made, and the search
/// for the micro-batch should begin near the micro-batch that it will find. This function then tries
/// strategies that do not search, and returns the largest micro-batch that fits with at least one of them. This
/// micro-batch also fits with the strategy that searches.
std::int64_t Card::begin() {
  std::int64_t most = 0;
  if (!searches()) return 1;
  Scenario alike = serial_;
  const auto ask_alike = [&](std::int64_t samples) { return ask(alike, samples, samples); };
  for (const FateStrategy* strategy : fate_catalog().entries()) {
    if (!strategy->compared) continue;
    alike.fates = plain_fates(*strategy);
    if (most == most_samples || !ask_alike(most + 1).fits) continue;
    most = largest_by_needs(most + 1, most_samples, ask_alike);
  }
  return std::max<std::int64_t>(1, most);
}

/// Returns the largest micro-batch, and stores in `refusal_` why the next larger micro-batch does not fit.
std::int64_t Card::largest() {
  for (std::int64_t first = begin();;) {
    const std::int64_t good = largest_by_needs(
        first, most_samples, [&](std::int64_t samples) { return ask(asked_, samples, samples); });
    if (good == 0 || good == most_samples) return good;
    // If the strategy searches, it refused good + 1 because even its choice with the least bytes did not fit. These
    // bytes grow with the samples. So no larger micro-batch fits.
    if (searches()) return good;
    std::int64_t above = std::min(good + neighbours, most_samples);
    while (above > good && !fits(above, above)) --above;
    if (above == good) return good;
    first = above;
  }
}

/// Returns the footprint of a micro-batch with this number of samples. Returns nullopt if no plan fits, or if the
/// number of bytes is too large for 64 bits.
std::optional<Footprint> Card::footprint(std::int64_t samples, bool enforced) {
  serial_.capacity_enforced = enforced;
  try {
    return footprint_of(plan(serial_, samples, samples), device_.memory().pool, samples);
  } catch (const Infeasible&) {
    return {};
  } catch (const CountError&) {
    return {};
  }
}

void Card::add_footprints(CardFit& fit, std::optional<std::int64_t> batch) {
  const std::int64_t most = fit.largest ? *fit.largest : batch.value_or(1);
  if (most > 0) {
    fit.one_sample = footprint(1, /*enforced=*/true);
    fit.largest_footprint = footprint(most, /*enforced=*/true);
    if (!fit.largest || most == most_samples) return;
    // With unlimited memory, the policy may make another plan. Then a footprint with unlimited memory cannot be
    // compared with the other footprints, and is left out.
    if (footprint(1, /*enforced=*/false) != fit.one_sample ||
        footprint(most, /*enforced=*/false) != fit.largest_footprint)
      return;
  }
  fit.next = footprint(most + 1, /*enforced=*/false);
  if (fit.next && fit.next->bytes <= *fit.capacity) fit.next.reset();
  if (most == 0) fit.one_sample = fit.next;
}

/// Divides the batch into equal micro-batches of the largest size that fits. If this gives more than
/// `most_micro_batches` micro-batches, the result depends on who chose the size of the batch. If the user requested it,
/// throws an error. Otherwise, returns nullopt.
std::optional<Accumulation> Card::accumulation(std::int64_t batch, const CardFit& fit,
                                               bool is_requested) {
  if (fit.largest == 0 || !has_seconds(batch)) return {};
  const std::int64_t largest = fit.largest.value_or(most_samples);
  for (const std::int64_t micro_batch : divisors_of(batch)) {
    if (micro_batch > largest) continue;
    const bool is_too_many = batch / micro_batch > most_micro_batches;
    if (is_too_many && !is_requested) return {};
    if (is_too_many)
      throw InputError("'" + std::to_string(batch) +
                       "' for 'batch': its largest divisor that fits on " + fit.platform + " is " +
                       std::to_string(micro_batch) + ", so the batch has " +
                       std::to_string(batch / micro_batch) + " micro-batches; expected at most " +
                       std::to_string(most_micro_batches) + " micro-batches of at most " +
                       std::to_string(largest) + " samples");
    if (!fits(batch, micro_batch)) continue;
    if (!has_seconds(micro_batch)) return {};
    return Accumulation{
        .batch = batch, .micro_batch = micro_batch, .step_s = step_s(batch, micro_batch)};
  }
  return {};
}

}  // namespace sluice
