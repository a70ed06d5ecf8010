#include "study/sweep/evaluate.hpp"

#include <new>
#include <vector>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/suggest.hpp"
#include "base/version.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "plan/fact.hpp"
#include "run/executor.hpp"
#include "run/further_steps.hpp"
#include "run/plan_json.hpp"
#include "scenario/question_bound.hpp"

namespace sluice {

namespace {

/// Does the change say which document takes the place of the model or of the platform? Then the
/// scenario is read again from its beginning.
bool names_document(const std::string& override) {
  const std::vector<std::string> path = parse_override(override).path;
  return (path[0] == "model" || path[0] == "platform") &&
         (path.size() == 1 || (path.size() == 2 && path[1] == "file"));
}

/// What the plan says was chosen for the scenario; empty: nothing was open.
std::string chosen_of(const Plan& plan) {
  const Fact* fact = find_fact(plan.facts, "chosen");
  return fact ? fact->shown() : "";
}

PointResult complete(const Scenario& scenario, const Measure& measure) {
  const Plan plan = make_plan(scenario);
  PointResult outcome{.status = PointResult::Status::complete};
  take_numbers(outcome, measure(plan, question_bound(scenario).seconds));
  outcome.chosen = chosen_of(plan);
  outcome.executor = "replay";
  return outcome;
}

/// Calls `ask`, and turns what it throws into an outcome.
template <class Ask>
PointResult outcome_of(Ask&& ask) {
  try {
    return ask();
  } catch (const Interrupted&) {
    throw;
  } catch (const Infeasible& infeasible) {
    return {.status = PointResult::Status::infeasible,
            .reason = infeasible.headline(),
            .message = infeasible.what(),
            .shortage = to_json(json_shortage(infeasible), 0)};
  } catch (const std::bad_alloc&) {
    return failed_result("out of memory (of this computer, not of the simulated one)");
  } catch (const std::exception& error) {
    return failed_result(error.what());
  }
}

}  // namespace

Summary measure_on_replay(const Plan& plan, double question_bound_s) {
  check(plan);
  Totals totals(plan);
  totals.set_question_bound(question_bound_s);
  execute_or_throw(replay_executor, plan, totals, {});
  totals.set_further_step(further_step_s(plan));
  return summarise(totals);
}

Variants::Variants(Value document, std::string path, std::vector<std::string> fixed)
    : document_(std::move(document)),
      path_(std::move(path)),
      fixed_(std::move(fixed)),
      base_(scenario_from(document_, path_, fixed_)) {}

Scenario Variants::with(const std::vector<std::string>& overrides) const {
  for (const std::string& override : overrides)
    if (names_document(override)) {
      std::vector<std::string> all = fixed_;
      all.insert(all.end(), overrides.begin(), overrides.end());
      return scenario_from(document_, path_, all);
    }
  return scenario_from(base_.document, path_, overrides);
}

PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides,
                     const Measure& measure) {
  return outcome_of([&] { return complete(variants.with(overrides), measure); });
}

PointResult evaluate(const Scenario& scenario, const Measure& measure) {
  return outcome_of([&] { return complete(scenario, measure); });
}

std::string point_key(const Scenario& scenario) {
  Sha256 digest;
  digest.update("sluice-point/1\n" + std::string(library_digest()) + "\n");
  digest.update(scenario.text());
  return digest.hex();
}

KnownPoint known_point(const Variants& variants, const std::vector<std::string>& overrides) {
  try {
    Scenario scenario = variants.with(overrides);
    std::string key = point_key(scenario);
    return {std::move(key), std::move(scenario)};
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {  // evaluate() says why
    return {sha256_of(point_key(variants.base()) + "\n" + join(overrides, "\n")), {}};
  }
}

}  // namespace sluice
