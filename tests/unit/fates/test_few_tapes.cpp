// Tests the search for fates of plans that are only made to be changed afterwards.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "fates/optimal/few_tapes.hpp"
#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Training of six layers on a device behind a link of 1 GB/s. A copy of a tensor takes about as long as a layer.
struct SixLayers {
  Scenario scenario =
      test::small_scenario(8'000,
                           {{0.01, 0, 12'000},
                            {0.004, 0, 4'000},
                            {0.012, 0, 9'000},
                            {0.02, 0, 11'000},
                            {0.003, 0, 6'000},
                            {0.008, 0, 2'000}},
                           "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: none}\n"
                           "stages: {cut: per_layer}\npolicy: {name: resident}\n");
  CutModel cut = cut_model(scenario);
  Chosen<FateStrategy> optimal = plain_fates(fate_catalog().find("optimal"));
  PolicyRequest request = request_of(scenario, cut, optimal);
  Chain chain = chain_of(request, scenario.platform.devices.front(), {});
  TrainingOrder order{"resident", true, 1, {scenario.platform.devices.front().name}};
  int replays = 0;

  Scored scored(const Tape& tape, std::int64_t bytes) {
    ++replays;
    const std::vector<StageState> none(chain.stages.size());
    return score({request, {chain, tape, none, 2}, order, bytes});
  }
  FateRequest within(std::int64_t budget, bool overlap = true) {
    FateRequest asked{chain, budget, overlap};
    asked.score = [this](const Tape& tape, std::int64_t bytes) { return scored(tape, bytes); };
    asked.shortage = [](const Tape&) { return Shortage(); };
    asked.run = {.micro_batches = 2};
    return asked;
  }
  std::int64_t peak(const Tape& tape) const { return memory_of(chain, tape).peak; }
};

TEST_CASE("a search among few tapes replays at most three tapes, and takes one that fits") {
  SixLayers six;
  const std::int64_t most = six.peak(alike_tapes(six.chain).front()),
                     least = Frontier(six.chain).points().front().peak;
  REQUIRE(least < most);
  for (const double share : {0.0, 0.3, 0.6, 1.0}) {
    const auto budget =
        least + static_cast<std::int64_t>(share * static_cast<double>(most - least));
    INFO("budget " << budget);
    six.replays = 0;
    const FateRequest asked = six.within(budget);
    const FateChoice few = choose_among_few(six.optimal, asked);
    CHECK(six.replays <= 3);
    CHECK(six.peak(few.tape) <= budget);
    CHECK(few.bytes == budget);
    CHECK(*few.seconds == six.scored(few.tape, budget).seconds);
    // The strategy's own search tries far more tapes. It is not slower, and here it is at most 10 % faster.
    const FateChoice own = six.optimal->choose(asked, six.optimal.keys.reader());
    CHECK(*own.seconds <= *few.seconds * (1 + 1e-12));
    CHECK(*few.seconds <= 1.1 * *own.seconds);
  }
}

TEST_CASE(
    "without overlap, and if no tape fits, the strategy itself chooses instead of few tapes") {
  SixLayers six;
  const std::int64_t budget = six.peak(alike_tapes(six.chain).front()) / 2;
  const FateRequest in_turn = six.within(budget, false);
  CHECK(choose_among_few(six.optimal, in_turn).tape ==
        six.optimal->choose(in_turn, six.optimal.keys.reader()).tape);
  CHECK_THROWS_AS(choose_among_few(six.optimal, six.within(100)), Infeasible);
}

}  // namespace
}  // namespace sluice
