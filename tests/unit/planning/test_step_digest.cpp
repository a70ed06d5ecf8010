// Tests how Sluice finds out that two strategies for fates lead to the same training step.
#include <catch2/catch.hpp>
#include <map>

#include "base/number_list.hpp"
#include "planning/training/step_digest.hpp"
#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

TEST_CASE("two strategies share their ways exactly if they lead to the same step", "[unit]") {
  const Scenario scenario = test::small_scenario(
      1'000, {{1, 4'000, 2'000}, {2, 8'000, 1'000}, {1, 4'000, 2'000}},
      "workload: {batch: 2, micro_batch: 1, mode: training}\nstages: {cut: per_layer}\npolicy: {name: streamed}\n");
  const CutModel cut = cut_models(scenario).front();
  const auto ways_of = [&](const std::string& strategy, std::int64_t in_flight) {
    PolicyRequest request = request_of(scenario, cut, plain_fates(fate_catalog().find(strategy)));
    request.fates_open = true;
    TrainingOrder order{.policy = "tested", .weights_stay = false};
    order.in_flight = in_flight;
    order.devices = {"gpu"};
    const std::vector<Candidate> bounded = training_candidates(request, order).front().open();
    REQUIRE(bounded.size() == 1);
    const std::vector<Candidate> opened = bounded.front().open();
    REQUIRE(opened.size() == 1);
    return opened.front().same_ways;
  };
  // The model has no attention. So selective recomputation computes nothing again, and keeps all tensors.
  CHECK(ways_of("keep_all", 1) == ways_of("selective", 1));
  CHECK(ways_of("keep_all", 1) != ways_of("keep_all", 2));
  CHECK(ways_of("keep_all", 1) != ways_of("offload_all", 1));
  CHECK(ways_of("keep_all", 1) != ways_of("recompute_all", 1));
}

TEST_CASE("a step with another byte or another second has another digest", "[unit]") {
  Program step;
  step.operations.resize(2);
  step.instances.resize(1);
  const std::string digest = step_digest(step);
  CHECK(digest == step_digest(step));
  step.instances[0].bytes = 1;
  CHECK(digest != step_digest(step));
  step.instances[0].bytes = 0;
  step.operations[1].seconds = 1;
  CHECK(digest != step_digest(step));
  step.operations[1].seconds = 0;
  step.operations[1].uses = {0};
  CHECK(digest != step_digest(step));
}

TEST_CASE("different lists of numbers have different texts", "[unit]") {
  test::Dice dice(31);
  std::map<std::string, std::vector<std::int64_t>> lists;
  for (int k = 0; k < 20'000; ++k) {
    std::vector<std::int64_t> list(dice.below(4));
    for (std::int64_t& number : list) {
      // A power of two, or one of its neighbours: the text of a number grows at some of them.
      number = static_cast<std::int64_t>((std::uint64_t{1} << dice.below(64)) + dice.below(3) - 1);
      if (dice.one_in(2)) number = -(number / 2);
    }
    NumberList numbers;
    for (const std::int64_t number : list) numbers.add(number);
    CHECK(lists.try_emplace(numbers.text(), list).first->second == list);
  }
  CHECK(lists.size() > 5'000);
}

}  // namespace
}  // namespace sluice
