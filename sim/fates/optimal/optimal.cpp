// The strategy `optimal` finds the fates with the least time within the device's memory. If copies and computation take
// turns, a frontier of the chain (frontier.hpp) gives the answer. If the chain branches, the frontier gives only a
// first tape. If such a chain has up to 4 stages, all combinations of choices are tried. If it has more stages, a local
// search improves the first tape. If copies run during computation, the strategy makes candidate plans and replays
// them.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/never.hpp"
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "execute/deadlock.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/fitting.hpp"
#include "fates/optimal/in_turn.hpp"
#include "fates/optimal/joint.hpp"
#include "fates/optimal/least_bytes.hpp"
#include "fates/optimal/milp.hpp"
#include "fates/optimal/overlapped_bounds.hpp"
#include "fates/optimal/report.hpp"
#include "fates/optimal/search.hpp"
#include "fates/strategy.hpp"

namespace sluice {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// `least` is the bytes of the smallest known tape, `bound` is a proven lower bound on the bytes of any tape, and
/// `budget` is the available bytes.
struct Refusal {
  std::int64_t least, bound, budget;
  bool fits_in_host;  ///< whether host memory has room for the copies of the smallest known tape
};

/// Returns a text that says how many bytes are needed, and whether this number is certain. It is certain if the
/// smallest tape is known: the chain does not branch, one device computes all stages for one micro-batch at a time, and
/// the weights of all stages take turns, or of none. Otherwise there may be a tape that needs fewer bytes than the
/// smallest known tape.
std::string why_too_small(const FateRequest& request, const Refusal& refusal) {
  const auto [least, bound, budget, fits_in_host] = refusal;
  const std::int64_t count = request.chain.side_by_side;
  const std::string who = count == 1 ? std::string("a micro-batch needs ")
                                     : std::to_string(count) +
                                           " micro-batches that run side by "
                                           "side need ";
  const std::string what =
      std::string(" for activations, their gradients") +
      (request.takes_turns() ? ", workspace and weights that take turns" : " and workspace");
  const std::string only = ", and only " + bytes_text(budget) + " are available" +
                           (request.chain.devices == 1 ? "" : " on all devices together");
  const std::string always = "does not fit: whatever is kept, recomputed or offloaded, " + who;
  const bool certain =
      !request.chain.branches() && points_have_all_bytes(request.chain) && count == 1;
  if (certain || bound >= least)
    return always + bytes_text(least) + what + only +
           (fits_in_host ? ". The least budget that is enough is " + bytes_text(least) : "");
  const std::string found =
      fits_in_host ? ". The least budget that was found to be enough is " + bytes_text(least) : "";
  if (bound > budget) return always + "at least " + bytes_text(bound) + what + only + found;
  return "does not fit: in the schedule with the least bytes that was found, " + who +
         bytes_text(least) + what + only + found + ". Only budgets below " + bytes_text(bound) +
         " are proven not to be enough";
}

/// Throws Infeasible. `found` is the smallest tape that was found for `request`. `bound` is a lower
/// bound on the bytes of every tape.
[[noreturn]] void refuse(const FateRequest& request, const SmallestTape& found, std::int64_t bound,
                         std::int64_t budget) {
  const std::int64_t least = found.bytes;
  Shortage shortage;
  if (!found.tape.empty()) shortage = request.shortage(found.tape);
  if (least <= budget) {
    std::string text = "does not fit: no schedule was found that fits";
    if (shortage.needed_bytes && shortage.available_bytes)
      text += ". The schedule with the fewest bytes of device memory needs " +
              bytes_text(*shortage.needed_bytes) + " of the " +
              bytes_text(*shortage.available_bytes) + " of " + shortage.pool;
    throw Infeasible(text, std::move(shortage));
  }
  // If several devices have unlike memories, the budget is the bytes of all of them, and the shortage is that of one.
  if (request.chain.devices == 1 && shortage.available_bytes.value_or(budget) >= budget) {
    // The budget leaves out the tensors that stay on the device, and the shortage contains them.
    const std::int64_t stay = shortage.available_bytes && request.budget
                                  ? *shortage.available_bytes - *request.budget
                                  : 0;
    shortage.needed_bytes = least + stay;
    shortage.available_bytes = budget + stay;
  }
  const bool fits = fits_in_host(request.chain, found.tape);
  throw Infeasible(why_too_small(request, {least, bound, budget, fits}), std::move(shortage));
}

/// The result of a search. `with_more` is the seconds of the fastest tape if the device had 1 GB more memory.
struct FateResult {
  Tape tape = {};
  std::optional<std::int64_t> bytes = {};  ///< the bytes of the device that may be used
  /// The seconds of the whole run. If no tape fits, the number is infinite.
  double seconds = never;
  double bound = never, with_more = never;
  double micro_batch_bound = never;
  SmallestTape least = {};
  bool selective = false, least_selective = false;
};

FateResult nothing_fits(SmallestTape least) {
  FateResult found;
  found.least = std::move(least);
  return found;
}

void report(const FateResult& found, const FateRequest& request, FateChoice& choice) {
  choice.facts.push_back(bound_fact(found.micro_batch_bound, request.chain.side_by_side > 1));
  choice.facts.push_back(gap_fact(found.seconds, found.bound));
  if (request.takes_turns()) return;
  const double saved = found.seconds - found.with_more;
  const bool some = saved > 1e-9 * found.seconds;
  choice.facts.emplace_back("one_more_GB_saves_s", some ? saved / request.steps : 0.0, "s");
}

std::int64_t one_more_gb(std::int64_t budget) {
  return budget > unlimited - 1'000'000'000 ? unlimited : budget + 1'000'000'000;
}

/// Chooses fates for devices on which copies and computation take turns. If weights stay on the device, the seconds and
/// the bound of the result contain only the seconds of the micro-batches, and not the other seconds of the run.
FateResult choose_in_turn(const FateRequest& request, std::int64_t budget) {
  InTurnSearch search(request);
  FateResult found;
  found.tape = search.within(budget);
  if (found.tape.empty()) return nothing_fits(search.least());
  const double count = request.run.micro_batches;
  found.micro_batch_bound = search.bound(budget);
  if (request.takes_turns()) {
    found.bytes = budget;
    found.seconds = request.score(found.tape, budget).seconds;
    found.bound = count * found.micro_batch_bound + request.run.batches * request.run.update_s +
                  request.run.idle_s();
    return found.seconds == never ? nothing_fits(search.least()) : found;
  }
  found.seconds = count * serial_seconds(request.chain, found.tape);
  found.bound = count * found.micro_batch_bound;
  found.with_more = count * search.seconds(one_more_gb(budget));
  return found;
}

FateResult choose_overlapped(const FateRequest& request, std::int64_t budget) {
  FateSearch search(request.chain, request.score, request.run, request.one_of_several);
  FateSearch::Answer answer = search.within(budget, request.worth);
  if (answer.seconds == never && request.worth < never) return nothing_fits({search.least()});
  // The frontiers of this search are approximate. So if it finds no tape that fits, a search with more precise
  // frontiers follows.
  if (answer.seconds == never) {
    InTurnSearch closer(request);
    answer = {closer.within(budget), budget, 0};
    if (answer.tape.empty()) return nothing_fits(closer.least());
    answer.seconds = request.score(answer.tape, budget).seconds;
    if (answer.seconds == never && request.takes_turns()) return nothing_fits(closer.least());
  }
  FateResult found{answer.tape, answer.bytes, answer.seconds};
  const OverlappedBounds bounds = overlapped_bounds(request.chain, request.run, budget);
  found.micro_batch_bound = bounds.micro_batch;
  found.bound = bounds.run;
  found.with_more = answer.seconds;
  if (!request.takes_turns() && found.bound < answer.seconds * (1 - 1e-12))
    found.with_more = std::min(found.with_more, search.within(one_more_gb(budget)).seconds);
  return found;
}

FateResult choose_of(const FateRequest& request, std::int64_t budget) {
  if (least_bytes_bound(request.chain) > budget) return nothing_fits(InTurnSearch(request).least());
  return request.overlap ? choose_overlapped(request, budget) : choose_in_turn(request, budget);
}

/// Returns the first tape that is found to fit, without its seconds. If choose_of() finds one, this search usually
/// does, too.
FateResult choose_fitting(const FateRequest& request, std::int64_t budget) {
  const auto fits = [&](const Tape& tape) {
    return !tape.empty() && memory_of(request.chain, tape).peak <= budget &&
           fits_in_host(request.chain, tape);
  };
  const auto result = [&](const Tape& tape) {
    FateResult found{.tape = tape, .seconds = 0};
    if (request.overlap || request.takes_turns()) found.bytes = budget;
    return found;
  };
  for (const Tape& tape : alike_tapes(request.chain))
    if (fits(tape)) return result(tape);
  InTurnSearch search(request);
  if (fits(search.least().tape)) return result(search.least().tape);
  if (least_bytes_bound(request.chain) > budget) return nothing_fits(search.least());
  const Tape tape = search.within(budget);
  return fits(tape) ? result(tape) : nothing_fits(search.least());
}

/// `plain` is a result without selective recomputation, and `selective` is a result with it. Returns the faster of the
/// two, with the lower of the two bounds. So this bound holds in both cases.
FateResult better(const FateResult& plain, const FateResult& selective) {
  FateResult found = selective.seconds < plain.seconds * (1 - 1e-12) ? selective : plain;
  found.selective = found.seconds < plain.seconds;
  found.least_selective = selective.least.bytes < plain.least.bytes;
  found.least = found.least_selective ? selective.least : plain.least;
  found.bound = std::min(plain.bound, selective.bound);
  found.micro_batch_bound = std::min(plain.micro_batch_bound, selective.micro_batch_bound);
  found.with_more = std::min(plain.with_more, selective.with_more);
  return found;
}

/// Returns the answer of the integer programme, with the bound of this programme. The programme starts with the answer
/// of the solver `frontier`. So the answer of the programme is never slower than that of `frontier`.
FateChoice choose_by_milp(const FateRequest& request, const Reader& parameters,
                          std::int64_t budget) {
  if (request.overlap)
    parameters.fail("solver",
                    "'milp' for 'solver': its programme lets copies and computation take turns, so "
                    "'policy.overlap' must be false");
  if (request.takes_turns())
    parameters.fail(
        "solver",
        "'milp' for 'solver': its programme cannot express weights that take turns; use frontier");
  if (request.chain.stages.size() > most_milp_stages)
    parameters.fail("solver", "'milp' for 'solver': its programme is for up to " +
                                  std::to_string(most_milp_stages) + " stages, but there are " +
                                  std::to_string(request.chain.stages.size()) + "; use frontier");
  InTurnSearch search(request);
  const Tape known = search.within(budget);
  if (known.empty()) refuse(request, search.least(), least_bytes_bound(request.chain), budget);
  if (request.chain.host_room)
    parameters.fail(
        "solver",
        "'milp' for 'solver': its programme cannot express limited host memory; use frontier");
  const MilpAnswer answer =
      solve_milp(request.chain, budget, parameters.quantity("time_limit"), known);
  FateChoice choice{answer.tape, {}};
  choice.facts.push_back(budget_fact(budget));
  choice.facts.push_back(bound_fact(answer.bound, /*side_by_side=*/false));
  choice.facts.push_back(gap_fact(answer.seconds, answer.bound));
  choice.facts.push_back(proven_fact(answer.proven));
  explain(request.chain, choice);
  return choice;
}

std::int64_t budget_of(const FateRequest& request, const Reader& parameters) {
  const std::int64_t budget = request.budget.value_or(unlimited);
  return parameters.has("budget") ? std::min(budget, parameters.bytes("budget")) : budget;
}

/// Returns the better result of `search` for the request and for its selective request. If no tape fits, throws
/// Infeasible.
FateResult found_by(FateResult (*search)(const FateRequest&, std::int64_t),
                    const FateRequest& request, std::int64_t budget) {
  FateResult found = search(request, budget);
  if (request.selective) found = better(found, search(*request.selective, budget));
  if (!found.tape.empty()) return found;
  std::int64_t bound = least_bytes_bound(request.chain);
  if (request.selective) bound = std::min(bound, least_bytes_bound(request.selective->chain));
  refuse(found.least_selective ? *request.selective : request, found.least, bound, budget);
}

FateChoice choose_any(const FateRequest& request, const Reader& parameters) {
  const FateResult found = found_by(choose_fitting, request, budget_of(request, parameters));
  return {.tape = found.tape, .bytes = found.bytes, .selective = found.selective};
}

FateChoice choose(const FateRequest& request, const Reader& parameters) {
  const std::int64_t budget = budget_of(request, parameters);
  if (parameters.text("solver") == "milp") return choose_by_milp(request, parameters, budget);
  if (parameters.has("time_limit"))
    parameters.fail("time_limit", "'time_limit' is only for the solver milp; remove this key");
  const FateResult found = found_by(choose_of, request, budget);
  FateChoice choice{found.tape, {}, found.bytes};
  choice.selective = found.selective;
  choice.seconds = found.seconds;
  choice.bound = found.bound;
  choice.facts.push_back(budget_fact(budget));
  if (found.selective)
    choice.facts.emplace_back("selective",
                              "large tensors that are cheap to compute are computed again");
  report(found, request, choice);
  explain(found.selective ? request.selective->chain : request.chain, choice);
  return choice;
}

}  // namespace

extern const FateStrategy optimal_fates = {
    .name = "optimal",
    .summary =
        "Searches for the fates with the least time within the device's memory. Activations may be "
        "kept, offloaded, or recomputed once or several times.",
    .details =
        "Use this strategy to know how fast a run can be, or when no simpler strategy fits. It "
        "searches over all fates of all stages. The solver is a dynamic programme over the chain "
        "(frontier) or a mixed-integer linear programme (milp). The search takes from "
        "milliseconds to minutes, and longer for more stages. It estimates the seconds "
        "of a chain of stages. If transfers share links, the simulated run may take longer "
        "than this estimate.",
    .source =
        "Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova, Optimal checkpointing for "
        "heterogeneous chains (2019); Beaumont, Eyraud-Dubois and Shilova, Efficient "
        "combination of rematerialization and offloading (2021)",
    .example =
        "sluice run alexnet_resident workload.mode=training policy=resident stages=per_layer fates=optimal",
    .parameters =
        {Key::quantity(
             "budget", Dimension::bytes,
             "the bytes for a micro-batch's activations, their gradients and workspace; by "
             "default all bytes of the device that other tensors leave free")
             .or_absent(),
         Key::choice(
             "solver", {"frontier", "milp"},
             "the method: frontier is a dynamic programme over the chain, and milp is a mixed-integer linear "
             "programme (Jain et al. 2020, Checkmate) for runs without overlap, with up to 64 stages")
             .by_default("frontier"),
         Key::quantity(
             "time_limit", Dimension::seconds,
             "the limit of the wall-clock time of the solver milp; with such a limit, the result "
             "depends on the speed of the computer")
             .by_default("10s")},
    .searches = true,
    .choose = choose,
};

const FateStrategy fitting_fates = {
    .name = optimal_fates.name, .summary = {}, .searches = true, .choose = choose_any};

}  // namespace sluice
