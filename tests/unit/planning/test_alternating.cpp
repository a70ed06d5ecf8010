// Tests streamed plans in which two passes alternate (planning/streaming/alternating.hpp).
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/question_bound.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::Row;
using test::small_scenario;

bool alternates(const Plan& plan) {
  const Fact* chosen = find_fact(plan.facts, "chosen");
  return chosen && chosen->text()->find("alternate with the next pass") != std::string::npos;
}

TEST_CASE("if passes alternate, answers are saved while the next pass is computed") {
  // A model has two layers, front and back. For each sample, the front layer takes 2 ms, and the back layer takes 1 ms.
  // Each layer has weights of 1 MB. An answer has 3 MB and takes 3 ms to save. The memory has room for two answers and
  // both weights. A step has 8 samples, and a pass over the model has 4 of them.
  //   1.004 ms  The first input of 4 kB and the weights of the front layer have arrived.
  //   9.004 ms  The front layer has computed the first pass.
  //  10.004 ms  The back layer has made the first answer. From now on, back and front layer take turns. In 3 ms, they
  //             compute one sample each, and the link saves one answer. So the link never waits.
  //  34.004 ms  The link has saved 8 answers, in 24 ms.
  // If the passes did not alternate, the front layer would compute for 8 ms, and no answer would be made in this time.
  // In these 8 ms, the link would save at most two answers, because the memory has room for only two.
  const std::vector<Row> rows = {{2, 1'000'000, 4000}, {1, 1'000'000, 3'000'000}};
  const auto plan = [&](const std::string& policy) {
    return make_plan(small_scenario(4000, rows,
                                    "workload: {batches_per_step: 8}\nstages: {cut: per_layer}\n"
                                    "fates: {strategy: keep_all}\n"
                                    "policy: {name: streamed, in_flight: 4" +
                                        policy + "}\n",
                                    {"platform.devices.gpu.memory.capacity=8100kB"}));
  };
  const Plan alternating = plan("");
  CHECK(alternates(alternating));
  CHECK(replay(alternating).makespan == Approx(34.004e-3).epsilon(1e-12));
  // With `prefetch: 1`, the passes cannot alternate. A pass takes 4 x 2 + 1 ms until its first answer is made. Then its
  // 4 answers take 12 ms to save. Only two of them can be saved while the front layer computes the second pass.
  const Plan one_by_one = plan(", prefetch: 1");
  CHECK_FALSE(alternates(one_by_one));
  CHECK(replay(one_by_one).makespan > 36e-3);
}

/// Returns a random model for a slow link. The last layer of the model is large and makes large answers.
std::vector<Row> random_rows(Dice& dice) {
  const auto number = [&](std::uint64_t most) {
    return static_cast<std::int64_t>(dice.below(most));
  };
  std::vector<Row> rows;
  const std::int64_t layers = 1 + number(5);
  for (std::int64_t l = 0; l < layers; ++l)
    rows.push_back(
        {static_cast<double>(1 + number(40)) * 0.025, 4 * number(40'000), 4 * (1 + number(2'000))});
  rows.push_back({static_cast<double>(number(20)) * 0.025, 4 * (1 + number(60'000)),
                  4 * (1 + number(60'000))});
  return rows;
}

TEST_CASE(
    "a plan with alternating passes takes the seconds of its simulation, is not faster than the bound of the question, "
    "and is never slower with more memory",
    "[property]") {
  Dice dice(20261128);
  int chosen = 0;
  for (int c = 0; c < test::cases_of(12); ++c) {
    const std::vector<Row> rows = random_rows(dice);
    const std::string samples = std::to_string(2 + dice.below(14));
    const std::string text = "workload: {batches_per_step: " + samples +
                             ", steps: " + (dice.one_in(3) ? "3" : "1") + "}\n" +
                             (dice.one_in(2) ? "stages: {cut: by_weight, groups: 6}\n"
                                             : "stages: {cut: by_weight, groups: 12}\n") +
                             "policy: {name: streamed}\n";
    const std::string bandwidth = dice.one_in(2) ? "platform.links.host.bandwidth=1GB/s"
                                                 : "platform.links.host.bandwidth=300MB/s";
    const std::string duplex =
        dice.one_in(4) ? "platform.links.host.duplex=half" : "platform.links.host.duplex=full";
    INFO("case " << c << ": " << text);
    double before = std::numeric_limits<double>::infinity();
    for (int part = 2; part <= 8; part += 2) {
      const std::string capacity =
          "platform.devices.gpu.memory.capacity=" + std::to_string(part * 80) + "kB";
      const Scenario scenario = small_scenario(4000, rows, text, {bandwidth, duplex, capacity});
      INFO(capacity);
      std::optional<Plan> plan;
      try {
        plan = make_plan(scenario);
      } catch (const Infeasible&) {
        CHECK(before == std::numeric_limits<double>::infinity());
        continue;
      }
      const ReplayResult result = replay(*plan);
      REQUIRE_FALSE(result.blocking);
      CHECK(result.makespan <= before * (1 + 1e-9));
      CHECK(question_bound(scenario).seconds <= result.makespan * (1 + 1e-9));
      before = result.makespan;
      if (!alternates(*plan)) continue;
      ++chosen;
      CHECK(result.makespan ==
            Approx(find_fact(plan->facts, "chosen_s")->number()->value).epsilon(1e-9));
    }
  }
  CHECK(chosen > test::cases_of(2));
}

}  // namespace
}  // namespace sluice
