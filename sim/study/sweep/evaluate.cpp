#include "study/sweep/evaluate.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/suggest.hpp"
#include "base/version.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "plan/fact.hpp"
#include "run/executor.hpp"
#include "run/further_steps.hpp"
#include "run/plan_json.hpp"
#include "scenario/plans_again.hpp"
#include "scenario/question_bound.hpp"

namespace sluice {

namespace {

/// Returns true if the override (KEY=VALUE) replaces the document of the model or of the platform. After such an
/// override, the whole scenario is read again.
bool names_document(const std::string& override) {
  const std::vector<std::string> path = parse_override(override).path;
  return (path[0] == "model" || path[0] == "platform") &&
         (path.size() == 1 || (path.size() == 2 && path[1] == "file"));
}

/// Returns true if the override changes the platform or the cost model.
bool says_prices(const std::string& override) {
  const std::string key = parse_override(override).path.front();
  return key == "platform" || key == "cost";
}

/// Returns the choices that were made for the plan, as text. If the scenario left no choice open, returns "".
std::string chosen_of(const Plan& plan) {
  const Fact* fact = find_fact(plan.facts, "chosen");
  return fact ? fact->shown() : "";
}

PointResult complete(const Plan& plan, const Summary& summary) {
  PointResult outcome{.status = PointResult::Status::complete};
  take_numbers(outcome, summary);
  outcome.chosen = chosen_of(plan);
  outcome.executor = "replay";
  return outcome;
}

/// Measures a plan that was priced again. Returns nullopt if the run ends in a deadlock. Also returns nullopt if
/// ends_if_it_ran() is false: even if the run reaches its end, check() may refuse the plan. The caller must then make a
/// new plan for the point.
std::optional<Summary> measure_again(PlansAgain::KeptPlan& made, double question_bound_s) {
  if (!ends_if_it_ran(made.plan)) return {};
  check_totals(made.plan);
  Totals totals(made.plan);
  totals.set_question_bound(question_bound_s);
  if (replay(made.tables, totals).blocking) return {};
  totals.set_further_step(further_step_s(made.plan, made.tables));
  return summarise(totals);
}

/// Measures a plan that was just made. This function changes the plan's number of iterations for a time, and restores
/// the number before it returns.
Summary measure_anew(Plan& plan, double question_bound_s) {
  const PlanTables tables = check_without_replay(plan);
  Totals totals(plan);
  totals.set_question_bound(question_bound_s);
  const ReplayResult result = replay(tables, totals);
  if (result.blocking || !ends_if_it_ran(plan)) check(plan);
  require_end(plan, result.blocking);
  totals.set_further_step(further_step_s(plan, tables));
  return summarise(totals);
}

/// Returns the result of `ask`. If `ask` throws an exception, returns a result with this error.
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
  Plan own = plan;
  return measure_anew(own, question_bound_s);
}

/// The plans that were kept for further points. A PlansAgain object keeps plans, and prices them again for other points
/// (scenario/plans_again.hpp). Each PlansAgain object is used by at most one thread at any time.
class Variants::Plans {
 public:
  /// A PlansAgain object that only the current thread uses. The destructor gives the object back.
  class BorrowedPlans {
   public:
    explicit BorrowedPlans(Plans& all) : all_(all), plans_(all.take()) {}
    ~BorrowedPlans() {
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      all_.idle_.push_back(std::move(plans_));
    }
    BorrowedPlans(const BorrowedPlans&) = delete;
    BorrowedPlans& operator=(const BorrowedPlans&) = delete;
    PlansAgain* operator->() { return plans_.get(); }

   private:
    Plans& all_;
    std::unique_ptr<PlansAgain> plans_;
  };

 private:
  std::unique_ptr<PlansAgain> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return std::make_unique<PlansAgain>();
    std::unique_ptr<PlansAgain> plans = std::move(idle_.back());
    idle_.pop_back();
    return plans;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<PlansAgain>> idle_;
};

Variants::Variants(Value document, std::string path, std::vector<std::string> fixed)
    : document_(std::move(document)),
      path_(std::move(path)),
      fixed_(std::move(fixed)),
      base_(scenario_from(document_, path_, fixed_)),
      plans_(std::make_unique<Plans>()) {}

Variants::~Variants() = default;

PointResult Variants::ask(const Scenario& scenario) const {
  const bool alike = other_prices_only(base_, scenario);
  Plans::BorrowedPlans plans(*plans_);
  if (PlansAgain::KeptPlan* made = alike ? plans->find(scenario) : nullptr)
    if (const auto summary =
            measure_again(*made, question_bound(scenario, made->question_stages).seconds))
      return complete(made->plan, *summary);
  PlannedScenario planned = plan_scenario(scenario);
  PointResult result =
      complete(planned.plan, measure_anew(planned.plan, question_bound(scenario).seconds));
  if (alike) plans->keep(std::move(planned), scenario);
  return result;
}

Scenario Variants::with(const std::vector<std::string>& overrides) const {
  for (const std::string& override : overrides)
    if (names_document(override)) {
      std::vector<std::string> all = fixed_;
      all.insert(all.end(), overrides.begin(), overrides.end());
      return scenario_from(document_, path_, all);
    }
  if (std::all_of(overrides.begin(), overrides.end(), says_prices))
    return with_other_prices(base_, path_, overrides);
  return scenario_from(base_.document, path_, overrides);
}

PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides) {
  return outcome_of([&] { return variants.ask(variants.with(overrides)); });
}

PointResult evaluate(const Variants& variants, const Scenario& scenario) {
  return outcome_of([&] { return variants.ask(scenario); });
}

PointResult evaluate(const Variants& variants, const std::vector<std::string>& overrides,
                     const Measure& measure) {
  return outcome_of([&] {
    const Scenario scenario = variants.with(overrides);
    const Plan plan = make_plan(scenario);
    return complete(plan, measure(plan, question_bound(scenario).seconds));
  });
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
  } catch (const std::exception&) {
    // The scenario cannot be read. evaluate() will read it again, and report the reason.
    return {sha256_of(point_key(variants.base()) + "\n" + join(overrides, "\n")), {}};
  }
}

}  // namespace sluice
