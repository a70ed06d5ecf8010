// Compares the strategy `optimal` with all 3^n assignments of fates. For every assignment, a plan is made and replayed.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "base/error.hpp"
#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/search.hpp"
#include "planning/training/training.hpp"
#include "run/isolated.hpp"
#include "support/campaign.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Row;

/// A random chain with inner tensors and workspaces, and a scenario that trains it on a device behind a link of 1 GB/s.
struct Case {
  Scenario scenario;
  CutModel cut;
  PolicyRequest request;
  Chain chain;
  TrainingOrder order;

  Case(std::mt19937& random, std::size_t stages, bool overlap)
      : scenario(make(random, stages)),
        cut(cut_model(scenario)),
        request{{scenario.model, cut.stages, scenario.platform, *scenario.cost,
                 scenario.workload.dtype, &*scenario.workload.training},
                scenario.workload,
                plain_fates(fate_catalog().find("optimal"))},
        chain(chain_of(request, scenario.platform.devices.front(), {.overlap = overlap})),
        order{"resident", true, 1, {scenario.platform.devices.front().name}, overlap} {
    for (ChainStage& stage : chain.stages) {
      const auto bytes = [&] {
        return 4 * std::uniform_int_distribution<std::int64_t>(0, 900)(random);
      };
      stage.inner.bytes = random() % 2 ? bytes() : 0;
      stage.inner.save_s = stage.inner.load_s = static_cast<double>(stage.inner.bytes) / 1e9;
      stage.pass_workspace = stage.keep_workspace = random() % 3 ? 0 : bytes();
      stage.reads_output = random() % 4 == 0;
    }
    chain.stages.back().reads_output = true;
  }

  /// Returns a scenario whose layers compute for 1 to 20 us. Their tensors have up to 12 kB, and a copy of 12 kB takes
  /// 12 us. So a copy takes about as long as a computation.
  static Scenario make(std::mt19937& random, std::size_t stages) {
    std::vector<Row> rows;
    for (std::size_t s = 0; s < stages; ++s)
      rows.push_back({std::uniform_int_distribution<int>(1, 20)(random) * 1e-3, 0,
                      4 * std::uniform_int_distribution<std::int64_t>(25, 3000)(random)});
    return test::small_scenario(4 * std::uniform_int_distribution<std::int64_t>(25, 3000)(random),
                                rows,
                                "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: "
                                "none}\nstages: {cut: per_layer}\npolicy: {name: resident}\n");
  }

  double seconds(const Tape& tape, std::int64_t bytes) const { return scored(tape, bytes).seconds; }

  Scored scored(const Tape& tape, std::int64_t bytes) const {
    const std::vector<StageState> none(chain.stages.size());
    return score({request, {chain, tape, none, 2}, order, bytes});
  }

  FateSearch search() const {
    return {chain,
            [this](const Tape& tape, std::int64_t bytes) { return scored(tape, bytes); },
            {.micro_batches = 2}};
  }
};

/// Calls use(fates) for each of the 3^n assignments of fates.
template <class Use>
void each_assignment(std::size_t stages, Use&& use) {
  std::vector<Fate> fates(stages, Fate::keep);
  for (;;) {
    use(fates);
    std::size_t s = 0;
    while (s < stages && fates[s] == Fate::offload) fates[s++] = Fate::keep;
    if (s == stages) return;
    fates[s] = fates[s] == Fate::keep ? Fate::recompute : Fate::offload;
  }
}

std::int64_t keep_all_peak(const Chain& chain) {
  return memory_of(chain, tape_of(chain, std::vector<Fate>(chain.stages.size(), Fate::keep))).peak;
}

struct Tally {
  int cases = 0, feasible = 0, faster = 0, enumerated = 0;
  double worst = 0;  ///< the greatest (seconds of `optimal`) / (least seconds) - 1
};

/// Compares `optimal` with the fastest assignment of fates, for random chains. Each chain is tried within two budgets.
Tally compare(bool overlap, int chains, unsigned seed) {
  Tally tally;
  std::mt19937 random(seed);
  for (int k = 0; k < chains; ++k) {
    const Case one(random, 2 + static_cast<std::size_t>(k) % 6, overlap);
    FateSearch search = one.search();
    const Frontier serial(one.chain);
    const std::int64_t most = keep_all_peak(one.chain);
    for (const double share : {0.2, 0.7}) {
      const auto budget = search.least() + static_cast<std::int64_t>(
                                               share * static_cast<double>(most - search.least()));
      double best = never;
      each_assignment(one.chain.stages.size(), [&](const std::vector<Fate>& fates) {
        best = std::min(best, one.seconds(tape_of(one.chain, fates), budget));
        ++tally.enumerated;
      });
      const double found = overlap ? search.within(budget).seconds
                                   : one.seconds(serial.tape(serial.within(budget)), budget);
      ++tally.cases;
      REQUIRE(found < never);
      if (best == never) continue;
      ++tally.feasible;
      tally.faster += found < best * (1 - 1e-9);
      tally.worst = std::max(tally.worst, found / best - 1);
    }
  }
  return tally;
}

TEST_CASE(
    "serial copies: for random chains, optimal is never slower than the best of all assignments of fates",
    "[property]") {
  const Tally tally = compare(false, test::cases_of(200, 600), 1);
  CAPTURE(tally.enumerated, tally.feasible, tally.faster);
  CHECK(tally.worst <= 1e-9);
  CHECK(tally.faster > 0);  // `optimal` may be faster, because it may recompute a stage twice
  CHECK(tally.feasible > 160);
}

TEST_CASE(
    "overlapped copies: for random chains, optimal is within 1 % of the best of all assignments of fates",
    "[property]") {
  const Tally tally = compare(true, test::cases_of(200, 500), 2);
  CAPTURE(tally.enumerated, tally.feasible, tally.faster);
  CHECK(tally.worst <= 0.01);
  CHECK(tally.feasible > 350);
}

TEST_CASE(
    "more memory never makes optimal slower, and the seconds of optimal are never below the bound") {
  std::mt19937 random(3);
  for (int k = 0; k < 16; ++k) {
    const Case one(random, 3 + static_cast<std::size_t>(k) % 8, true);
    FateSearch search = one.search();
    const Frontier serial(one.chain);
    double before = never, serial_before = never;
    const std::int64_t most = 2 * keep_all_peak(one.chain);
    for (std::int64_t budget = search.least(); budget < most; budget += most / 37) {
      const double now = search.within(budget).seconds;
      CHECK(now <= before * (1 + 1e-12));
      CHECK(now >= 2 * fate_bound(one.chain, budget, Copies::overlapped) * (1 - 1e-9));
      before = now;
      const double point = serial.points()[serial.within(budget)].seconds;
      CHECK(point <= serial_before);
      CHECK(point >= fate_bound(one.chain, budget, Copies::serial) * (1 - 1e-9));
      serial_before = point;
    }
    int forwards = 0;
    for (const TapeOp& op : search.within(most).tape) forwards += op.kind == TapeOp::Kind::forward;
    CHECK(forwards == static_cast<int>(one.chain.stages.size()));  // nothing runs again
  }
}

TEST_CASE("engine and replay give equal times for one of every hundred assignments of fates") {
  std::mt19937 random(4);
  int enumerated = 0, executed = 0;
  for (int k = 0; k < 60; ++k) {
    const Case one(random, 2 + static_cast<std::size_t>(k) % 6, k % 2 == 0);
    each_assignment(one.chain.stages.size(), [&](const std::vector<Fate>& fates) {
      if (++enumerated % 100 != 0) return;
      const Tape tape = tape_of(one.chain, fates);
      const std::vector<StageState> states(one.chain.stages.size());
      const StepShape shape{one.chain, tape, states, 2};
      Program step = make_step(shape);
      const Plan plan =
          finish(list_training({one.request, shape, one.order, {}}, step, {}), one.request);
      CHECK(execute_isolated(plan).report.makespan == Approx(replay(plan).makespan).epsilon(1e-9));
      ++executed;
    });
  }
  CHECK(executed > 200);
}

}  // namespace
}  // namespace sluice
