// Executes a scenario, checks the result, and then runs the checks that compare the scenario with a changed scenario.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "campaign/invariants.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/tables.hpp"
#include "plan/text.hpp"
#include "run/executor.hpp"
#include "run/isolated.hpp"
#include "run/run.hpp"
#include "scenario/question_bound.hpp"
#include "support/oracle.hpp"

namespace sluice::test {

void Complaints::at_most(double a, double b, const std::string& claim, double slack) {
  const double most = b + slack * std::abs(b) + (slack > 0 ? 1e-18 : 0);
  require(a <= most, claim + ": " + exact(a) + " > " + exact(b));
}

void Complaints::equal(double a, double b, const std::string& claim, double slack) {
  const double size = std::max(std::abs(a), std::abs(b));
  require(std::abs(a - b) <= slack * size + (slack > 0 ? 1e-15 : 0),
          claim + ": " + exact(a) + " and " + exact(b));
}

Scenario scenario_of(const std::string& text, const std::vector<std::string>& overrides) {
  return scenario_from(parse_text(text, "random.yaml"), "random.yaml", overrides);
}

Executed executed(const std::string& text) {
  Executed run;
  run.scenario = scenario_of(text);
  run.planned = plan_scenario(run.scenario);
  run.summary = sluice::run({.plan = run.planned.plan,
                             .executor = Executor::replay,
                             .question_bound_s = question_bound(run.scenario).seconds,
                             .also = &run.trace})
                    .summary;
  return run;
}

namespace {

bool same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// Returns whether all metrics are equal to the last bit. Skips the bound of the question, which cannot be computed
/// without the scenario.
bool same_numbers(const Summary& a, const Summary& b) {
  for (const Summary::Metric& metric : a.metrics) {
    if (metric.name.compare(0, 8, "question") == 0) continue;
    const Summary::Metric* other = b.find(metric.name);
    if (!other || !same_number(metric.value.number, other->value.number)) return false;
    if (metric.value.text != other->value.text) return false;
    if (metric.value.keyed.size() != other->value.keyed.size()) return false;
    for (std::size_t k = 0; k < metric.value.keyed.size(); ++k)
      if (metric.value.keyed[k].key != other->value.keyed[k].key ||
          !same_number(metric.value.keyed[k].number, other->value.keyed[k].number))
        return false;
  }
  return true;
}

/// Returns whether the naive executor can execute the plan in a short time.
/// The naive executor is slow for large plans, and cannot execute plans with shared links.
bool is_small(const Plan& plan) {
  return executions_of(plan) <= 400 && PlanTables(plan).contention_free();
}

void compare_with_oracle(const Executed& run, Complaints& complaints) {
  if (!is_small(run.plan())) return;
  const OracleResult naive = oracle(run.plan());
  complaints.require(!naive.blocked, "a naive executor ends, too");
  complaints.equal(naive.makespan, run.seconds(),
                   "a naive executor gives the makespan of the replay");
  const OracleResult in_order = oracle(run.plan(), true);
  if (!in_order.blocked)
    complaints.at_most(run.seconds(), in_order.makespan,
                       "the plan is not slower than if memory were granted in listing order");
}

/// Checks a claim of docs/trust.md about plans without shared links: with more memory, the plan does not block and is
/// not slower.
void give_more_memory(const Executed& run, Complaints& complaints) {
  if (!PlanTables(run.plan()).contention_free()) return;
  Plan plan = run.plan();
  for (Pool& pool : plan.pools) {
    if (pool.shared()) continue;
    if (pool.capacity) *pool.capacity += *pool.capacity / 3;
    if (pool.limit) *pool.limit += *pool.limit / 3;
  }
  const ReplayResult more = replay(plan);
  complaints.require(!more.blocking, "the plan also ends with more memory");
  if (!more.blocking)
    complaints.at_most(more.makespan, run.seconds(), "the plan is not slower with more memory");
}

/// A temporary folder. The destructor removes it with all its files.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-campaign-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw IoError("cannot make the folder " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Checks the claim of docs/trust.md that SimGrid and the replay give equal times. If no link is shared, their traces
/// are equal to the last bit.
void compare_executors(const Plan& plan, Complaints& complaints) {
  const Folder folder;
  const auto hash = [&](Executor executor, const char* name) {
    return sluice::run({.plan = plan, .trace_path = folder.file(name), .executor = executor})
        .content_sha256;
  };
  // This call throws an error if the times of SimGrid and of the replay differ.
  const std::string by_simgrid = hash(Executor::both, "simgrid.h5");
  if (PlanTables(plan).contention_free())
    complaints.require(by_simgrid == hash(Executor::replay, "replay.h5"),
                       "without contention, SimGrid and the replay write equal traces");
}

/// Checks a claim of docs/trust.md: a plan blocks in all executors, or in none of them. The plan gets four fifths of
/// the memory that it needs.
void compare_with_less_memory(const Executed& run, Complaints& complaints) {
  Plan plan = run.plan();
  for (Pool& pool : plan.pools) {
    const double peak = run.summary.number("peak_bytes", {pool.name});
    if (!pool.shared() && !std::isnan(peak)) pool.limit = static_cast<std::int64_t>(0.8 * peak);
  }
  const bool blocks = replay(plan).blocking.has_value();
  complaints.require(oracle(plan).blocked == blocks,
                     "with less memory, a naive executor blocks exactly if the replay blocks");
  bool simgrid_blocks = false;
  try {
    execute_isolated(plan, {});
  } catch (const Infeasible&) {
    simgrid_blocks = true;
  }
  complaints.require(simgrid_blocks == blocks,
                     "with less memory, SimGrid blocks exactly if the replay blocks");
}

}  // namespace

void check_repeated(const Executed& run, bool simgrid, Complaints& complaints) {
  const std::string text = to_text(run.plan());
  const Plan again = plan_from_text(text, "again.plan");
  complaints.require(to_text(again) == text,
                     "the plan that is read from the plan's text has an equal text");
  const Summary numbers = sluice::run({.plan = again, .executor = Executor::replay}).summary;
  complaints.require(same_numbers(run.summary, numbers),
                     "the plan that is read from the plan's text gives equal "
                     "numbers");
  const std::string resolved = run.scenario.text();
  complaints.require(scenario_of(resolved).text() == resolved,
                     "the scenario that is read from the resolved text has an equal text");
  compare_with_oracle(run, complaints);
  give_more_memory(run, complaints);
  constexpr std::int64_t most = 5000;
  if (!simgrid || executions_of(run.plan()) > most) return;
  if (is_small(run.plan())) compare_with_less_memory(run, complaints);
  // This check comes last, because a process can run SimGrid only once.
  compare_executors(again, complaints);
}

Verdict verdict_of(const std::string& text, int which, bool simgrid) {
  Verdict verdict;
  Complaints complaints;
  try {
    const Executed run = executed(text);
    check_numbers(run, complaints);
    check_trace(run, complaints);
    check_repeated(run, simgrid, complaints);
    const std::vector<Comparing>& all = comparing_checks();
    for (std::size_t c = 0; c < all.size(); ++c)
      if (which < 0 || static_cast<std::size_t>(which) == c) all[c].check(run, complaints);
  } catch (const Infeasible& infeasible) {
    verdict.kind = Verdict::Kind::infeasible;
    verdict.message = infeasible.what();
  } catch (const InputError& refused) {
    verdict.kind = Verdict::Kind::refused;
    verdict.message = refused.what();
  } catch (const Error& error) {
    complaints.require(false, std::string("not a refusal but an error of Sluice: ") + error.what());
  }
  verdict.complaints = complaints.all();
  return verdict;
}

}  // namespace sluice::test
