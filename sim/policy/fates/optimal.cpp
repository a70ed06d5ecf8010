// optimal: least time within the device's memory over keep, recompute and offload at once. Without
// overlap a frontier of the chain has the answer; with overlap candidates are listed and replayed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/blocking.hpp"
#include "plan/passes/fate_bound.hpp"
#include "plan/passes/fate_graph.hpp"
#include "plan/passes/fate_search.hpp"
#include "policy/fates/strategy.hpp"

namespace sluice {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::string in_seconds(double seconds) {
  return format_quantity(seconds, Dimension::seconds);
}
std::string in_bytes(std::int64_t bytes) {
  return format_quantity(static_cast<double>(bytes), Dimension::bytes);
}

std::string percent(double part) {
  return std::to_string(std::round(part * 10000) / 100).substr(0, 5) + " %";
}

[[noreturn]] void refuse(std::int64_t least, std::int64_t budget) {
  throw Infeasible("does not fit: whatever is kept, recomputed or offloaded, a micro-batch needs " +
                   bytes_text(least) +
                   " for activations, their gradients and workspace, and there are " +
                   bytes_text(budget) + ". The least budget that works is " + bytes_text(least));
}

/// Each stage with what it makes, what bringing it back costs either way, and what was chosen.
void explain(const Chain& chain, const Tape& tape, FateChoice& choice) {
  constexpr std::size_t most = 64;
  const std::vector<std::string> fates = fates_text(chain, tape);
  if (fates.size() > most) return;
  choice.explained = true;
  for (std::size_t s = 0; s < fates.size(); ++s) {
    const ChainStage& stage = chain.stages[s];
    choice.facts.emplace_back(
        "stage " + std::to_string(s + 1) + " " + stage.name,
        fates[s] + ": makes " + in_bytes(stage.output.bytes + stage.inner.bytes) +
            "; recomputing takes " + in_seconds(stage.forward_s) + ", saving and loading " +
            in_seconds(stage.output.save_s + stage.output.load_s + stage.inner.save_s +
                       stage.inner.load_s));
  }
}

/// What was found, a lower bound of it, and what one more GB finds: seconds of the whole run.
struct Found {
  double seconds = 0, bound = 0, with_more = 0;
  double micro_batch_bound = 0;
};

void report(const Found& found, double steps, FateChoice& choice) {
  choice.facts.emplace_back("micro_batch_bound", in_seconds(found.micro_batch_bound));
  const double gap = found.seconds > 0 ? 1 - found.bound / found.seconds : 0;
  choice.facts.emplace_back("gap", percent(std::max(0.0, gap)));
  const double saved = found.seconds - found.with_more;
  choice.facts.emplace_back("one_more_GB_saves", saved > 1e-9 * found.seconds
                                                     ? in_seconds(saved / steps) + " a step"
                                                     : "nothing");
}

std::int64_t one_more_gb(std::int64_t budget) {
  return budget > unlimited - 1'000'000'000 ? unlimited : budget + 1'000'000'000;
}

/// The fastest tape within a budget where everything takes turns, and a bound. A frontier that was
/// not thinned is exact.
class InTurn {
 public:
  explicit InTurn(const Chain& chain) : chain_(chain), alike_(alike_tapes(chain)) {}

  /// Throws Infeasible.
  Tape within(std::int64_t budget) {
    if (keeps_all(budget)) return alike_.front();
    const std::size_t point = frontier().within(budget);
    if (point == frontier().points().size()) refuse(frontier().points().front().peak, budget);
    Tape best = frontier().tape(point);
    for (const Tape& tape : alike_)
      if (memory_of(chain_, tape).peak <= budget &&
          serial_seconds(chain_, tape) < serial_seconds(chain_, best) * (1 - 1e-12))
        best = tape;
    return best;
  }

  double bound(std::int64_t budget) {
    if (keeps_all(budget)) return serial_seconds(chain_, alike_.front());
    return frontier().thinned() ? fate_bound(chain_, budget, Copies::serial)
                                : serial_seconds(chain_, within(budget));
  }

 private:
  /// Then nothing is copied or computed that need not be.
  bool keeps_all(std::int64_t budget) const {
    return memory_of(chain_, alike_.front()).peak <= budget;
  }

  const Frontier& frontier() {
    if (!frontier_) frontier_.emplace(chain_);
    return *frontier_;
  }

  const Chain& chain_;
  std::vector<Tape> alike_;  ///< keeping all first
  std::optional<Frontier> frontier_;
};

/// Of the micro-batches alone.
Found choose_in_turn(const FateRequest& request, std::int64_t budget, FateChoice& choice) {
  InTurn search(request.chain);
  choice.tape = search.within(budget);
  const double bound = search.bound(budget), count = request.run.micro_batches;
  const Tape with_more = search.within(one_more_gb(budget));
  return {count * serial_seconds(request.chain, choice.tape), count * bound,
          count * serial_seconds(request.chain, with_more), bound};
}

Found search_overlapped(const FateRequest& request, std::int64_t budget, FateChoice& choice) {
  FateSearch search(request.chain, request.score, request.run);
  FateSearch::Answer answer = search.within(budget);
  if (answer.seconds == std::numeric_limits<double>::infinity()) refuse(search.least(), budget);
  const auto bound_within = [&](std::int64_t bytes) {
    const FateBound bound = bound_of(request.chain, bytes, Copies::overlapped);
    return std::pair(bound.seconds, run_bound(request.chain, request.run, bound.halves));
  };
  const auto [micro_batch, run] = bound_within(budget);
  Found found{answer.seconds, run, answer.seconds, micro_batch};
  if (found.bound < answer.seconds * (1 - 1e-12))
    found.with_more = search.within(one_more_gb(budget)).seconds;
  choice.tape = std::move(answer.tape);
  choice.bytes = answer.bytes;
  return found;
}

/// As the programme's own bound has it; it starts from the frontier's answer, so it is never
/// slower.
FateChoice choose_by_milp(const FateRequest& request, const Reader& parameters,
                          std::int64_t budget) {
  if (request.overlap)
    parameters.fail("solver",
                    "'milp' for 'solver': the programme takes copies and computation in turns, so "
                    "'policy.overlap' must be false");
  if (request.chain.stages.size() > most_milp_stages)
    parameters.fail("solver", "'milp' for 'solver': the programme is for up to " +
                                  std::to_string(most_milp_stages) + " stages, and there are " +
                                  std::to_string(request.chain.stages.size()) +
                                  "; expected frontier");
  const MilpAnswer answer = solve_milp(request.chain, budget, parameters.quantity("time_limit"),
                                       InTurn(request.chain).within(budget));
  FateChoice choice{answer.tape, {}};
  choice.facts.emplace_back("budget", budget == unlimited ? "unlimited" : in_bytes(budget));
  choice.facts.emplace_back("micro_batch_bound", in_seconds(answer.bound));
  choice.facts.emplace_back("gap", percent(answer.gap) + (answer.proven ? ", proven" : ""));
  explain(request.chain, choice.tape, choice);
  return choice;
}

FateChoice choose(const FateRequest& request, const Reader& parameters) {
  std::int64_t budget = request.budget.value_or(unlimited);
  if (parameters.has("budget")) budget = std::min(budget, parameters.bytes("budget"));
  if (parameters.text("solver") == "milp") return choose_by_milp(request, parameters, budget);
  if (parameters.has("time_limit"))
    parameters.fail("time_limit", "'time_limit' is for the solver milp; frontier needs none");
  FateChoice choice;
  const Found found = request.overlap ? search_overlapped(request, budget, choice)
                                      : choose_in_turn(request, budget, choice);
  choice.facts.emplace_back("budget", budget == unlimited ? "unlimited" : in_bytes(budget));
  report(found, request.steps, choice);
  explain(request.chain, choice.tape, choice);
  return choice;
}

}  // namespace

extern const FateStrategy optimal_fates;
const FateStrategy optimal_fates = {
    .name = "optimal",
    .summary =
        "The least time within the device's memory over keep, recompute and offload at once, "
        "also recomputing more than once.",
    .source =
        "Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova, Optimal checkpointing for "
        "heterogeneous chains (2019); Beaumont, Eyraud-Dubois and Shilova, Efficient "
        "combination of rematerialization and offloading (2021)",
    .parameters = {{.name = "budget",
                    .type = Type::quantity,
                    .summary = "bytes for activations, their gradients and workspace of a "
                               "micro-batch; what the device has left where it is not given",
                    .optional = true,
                    .dimension = Dimension::bytes},
                   {.name = "solver",
                    .type = Type::choice,
                    .summary =
                        "frontier: the dynamic programme over the chain; milp: a mixed-integer "
                        "linear programme (Jain et al. 2020, Checkmate), for up to 64 "
                        "stages without overlap",
                    .default_text = "frontier",
                    .choices = {"frontier", "milp"}},
                   {.name = "time_limit",
                    .type = Type::quantity,
                    .summary = "wall clock of the solver milp; what it finds in it depends on the "
                               "machine",
                    .default_text = "10s",
                    .dimension = Dimension::seconds}},
    .one_by_one = true,
    .choose = choose,
};

}  // namespace sluice
