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
#include "execute/deadlock.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/milp.hpp"
#include "fates/optimal/search.hpp"
#include "fates/strategy.hpp"

namespace sluice {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
constexpr double never = std::numeric_limits<double>::infinity();

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
                       bytes_text(budget) + ". The least budget that works is " + bytes_text(least),
                   {.needed_bytes = least, .available_bytes = budget});
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
  Tape tape = {};
  std::optional<std::int64_t> bytes = {};  ///< that early loads may use
  double seconds = never;                  ///< infinity: nothing fits
  double bound = never, with_more = never;
  double micro_batch_bound = never;
  std::int64_t least = 0;  ///< the least budget that works, where nothing fits
  bool selective = false;
};

Found least_of(std::int64_t least) {
  Found found;
  found.least = least;
  return found;
}

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

  /// Empty: nothing fits.
  Tape within(std::int64_t budget) {
    if (keeps_all(budget)) return alike_.front();
    const std::size_t point = frontier().within(budget);
    if (point == frontier().points().size()) return {};
    Tape best = frontier().tape(point);
    for (const Tape& tape : alike_)
      if (memory_of(chain_, tape).peak <= budget &&
          serial_seconds(chain_, tape) < serial_seconds(chain_, best) * (1 - 1e-12))
        best = tape;
    return best;
  }

  std::int64_t least() { return frontier().points().front().peak; }

  double seconds(std::int64_t budget) {
    const Tape tape = within(budget);
    return tape.empty() ? never : serial_seconds(chain_, tape);
  }

  double bound(std::int64_t budget) {
    if (keeps_all(budget)) return serial_seconds(chain_, alike_.front());
    return frontier().thinned() ? fate_bound(chain_, budget, Copies::serial) : seconds(budget);
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
Found choose_in_turn(const FateRequest& request, std::int64_t budget) {
  InTurn search(request.chain);
  Found found;
  found.tape = search.within(budget);
  if (found.tape.empty()) return least_of(search.least());
  const double count = request.run.micro_batches;
  found.micro_batch_bound = search.bound(budget);
  found.seconds = count * serial_seconds(request.chain, found.tape);
  found.bound = count * found.micro_batch_bound;
  found.with_more = count * search.seconds(one_more_gb(budget));
  return found;
}

Found choose_overlapped(const FateRequest& request, std::int64_t budget) {
  FateSearch search(request.chain, request.score, request.run);
  FateSearch::Answer answer = search.within(budget);
  if (answer.seconds == never) {  // its frontiers are coarse
    InTurn closer(request.chain);
    answer = {closer.within(budget), budget, 0};
    if (answer.tape.empty()) return least_of(closer.least());
    answer.seconds = request.score(answer.tape, budget).seconds;
  }
  const FateBound bound = bound_of(request.chain, budget, Copies::overlapped);
  Found found{answer.tape, answer.bytes, answer.seconds};
  found.micro_batch_bound = bound.seconds;
  found.bound = run_bound(request.chain, request.run, bound.halves);
  found.with_more = answer.seconds;
  if (found.bound < answer.seconds * (1 - 1e-12))
    found.with_more = std::min(found.with_more, search.within(one_more_gb(budget)).seconds);
  return found;
}

Found choose_of(const FateRequest& request, std::int64_t budget) {
  return request.overlap ? choose_overlapped(request, budget) : choose_in_turn(request, budget);
}

/// Of what was found with selective recomputation and without it, the faster; the bounds hold for
/// both.
Found better(const Found& plain, const Found& selective) {
  Found found = selective.seconds < plain.seconds * (1 - 1e-12) ? selective : plain;
  found.selective = found.seconds < plain.seconds;
  found.least = std::min(plain.least, selective.least);
  found.bound = std::min(plain.bound, selective.bound);
  found.micro_batch_bound = std::min(plain.micro_batch_bound, selective.micro_batch_bound);
  found.with_more = std::min(plain.with_more, selective.with_more);
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
  InTurn search(request.chain);
  const Tape known = search.within(budget);
  if (known.empty()) refuse(search.least(), budget);
  const MilpAnswer answer =
      solve_milp(request.chain, budget, parameters.quantity("time_limit"), known);
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
  Found found = choose_of(request, budget);
  if (request.selective) found = better(found, choose_of(*request.selective, budget));
  if (found.tape.empty()) refuse(found.least, budget);
  FateChoice choice{found.tape, {}, found.bytes};
  choice.selective = found.selective;
  choice.facts.emplace_back("budget", budget == unlimited ? "unlimited" : in_bytes(budget));
  if (found.selective) choice.facts.emplace_back("selective", "what is large and cheap runs again");
  report(found, request.steps, choice);
  explain(found.selective ? request.selective->chain : request.chain, choice.tape, choice);
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
