#include "fates/optimal/report.hpp"

#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/gap.hpp"

namespace sluice {
namespace {

constexpr double rounding = 1e-9;  ///< a gap below this may be a rounding error of the sums
constexpr double beaten = 1e-6;    ///< by more than this, no rounding error beats a bound
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
constexpr const char* const gap = "gap";
constexpr const char* const micro_batch_bound = "micro_batch_bound_s";
constexpr const char* const run_bound_name = "run_bound_s";
constexpr const char* const pass_bound = "pass_bound_s";
constexpr const char* const proven_name = "proven";

}  // namespace

Fact budget_fact(std::int64_t budget) {
  if (budget == unlimited) return {"budget_bytes", "unlimited"};
  return {"budget_bytes", budget, "byte"};
}

Fact gap_fact(double seconds, double bound) {
  const bool is_beaten = seconds < bound * (1 - beaten);
  const double share = is_beaten ? -1 : gap_of(seconds, bound);
  return {gap, !is_beaten && share < rounding ? 0 : share, "1"};
}

Fact run_bound_fact(double bound) {
  return {run_bound_name, bound, "s"};
}

void check_bounds(const std::vector<Fact>& facts) {
  for (const Fact& fact : facts)
    if (fact.name == gap && fact.number()->value < 0)
      throw InternalError(
          "the plan takes fewer seconds than a lower bound that counts as proven: use another strategy in 'fates', and "
          "report this scenario");
}

Fact bound_fact(double bound, bool side_by_side) {
  return {side_by_side ? pass_bound : micro_batch_bound, bound, "s"};
}

Fact proven_fact(bool proven) {
  return {proven_name, proven ? "yes" : "no"};
}

bool is_proven(const Fact& fact) {
  const auto is = [&](const char* name) { return fact.name == name; };
  return fact.of.empty() && (is(gap) || is(run_bound_name) || is(micro_batch_bound) ||
                             is(pass_bound) || is(proven_name));
}

void state_for_all_replicas(std::vector<Fact>& facts, const std::map<std::string, RunAlone>& alone,
                            double seconds) {
  std::erase_if(facts, [&](const Fact& fact) {
    return is_proven(fact) && alone.contains(fact.replica) && !alone.at(fact.replica).bounds_hold;
  });
  for (Fact& fact : facts) {
    const auto run = alone.find(fact.replica);
    if (run == alone.end() || !is_proven(fact)) continue;
    if (fact.name == gap && fact.number()->value >= 0) {
      const double bound = run->second.seconds * (1 - fact.number()->value);
      fact.value = gap_fact(seconds, bound).value;
    } else if (fact.name == proven_name && seconds > run->second.seconds * (1 + rounding)) {
      // Other fates may be faster for replicas that delay each other.
      fact.value = "no";
    }
  }
}

void explain(const Chain& chain, FateChoice& choice) {
  constexpr std::size_t most = 64;
  const std::vector<std::string> fates = fates_text(chain, choice.tape);
  if (fates.size() > most) return;
  choice.explained = true;
  for (std::size_t s = 0; s < fates.size(); ++s) {
    const ChainStage& stage = chain.stages[s];
    const auto say = [&](Fact fact) {
      choice.facts.push_back(std::move(fact).said_of(std::to_string(s + 1) + " " + stage.name));
    };
    say({"fate_of_stage", fates[s]});
    say({"made_by_stage_bytes", stage.output.bytes + stage.inner.bytes, "byte"});
    say({"recompute_of_stage_s", stage.forward_s, "s"});
    say({"copies_of_stage_s",
         stage.output.save_s + stage.output.load_s + stage.inner.save_s + stage.inner.load_s, "s"});
  }
}

}  // namespace sluice
