// Tests of steps whose batches cannot be divided into turns of `in_flight` batches under policy `phased`.
// On each device, the weights of a stage take 1 s to load, and the computation of a stage takes 1 s. An activation takes
// 10 s to the other device. Three stages are computed. No input is loaded from the host, and no answer is saved there.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

const std::vector<test::Row> three = {
    {1000, 1'000'000, 1000}, {1000, 1'000'000, 1000}, {1000, 1'000'000, 1000}};

Plan planned(const std::vector<std::string>& overrides) {
  std::vector<std::string> all = {"platform.devices.gpu.count=2",
                                  "platform.links.host.bandwidth=1MB/s",
                                  "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 100B/s}"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  Plan plan = make_plan(test::small_scenario(1000, three,
                                             "workload: {batches_per_step: 1}\n"
                                             "stages: {cut: per_layer}\nfates: keep_all\n"
                                             "phases: {activations: pair_link}\n"
                                             "policy: {name: phased, host_data: synthetic}\n",
                                             all));
  check(plan);
  return plan;
}

double seconds(const std::vector<std::string>& overrides) {
  return replay(planned(overrides)).makespan;
}

const char* const one = "workload.batches_per_step=1";
const char* const two = "workload.batches_per_step=2";
const char* const both = "policy.in_flight=2";

TEST_CASE("phased: one batch stays on its device if the other device is idle in its phases") {
  // Two batches in flight: each batch stays on one device, and no activation moves. The first weights take 1 s. Then the
  // devices compute in turn, 1 s per phase: 1 + 6 s.
  CHECK(seconds({two, both}) == Approx(7));
  // If one batch has one phase per stage, each phase is on the other device. Each activation takes 10 s, and the weights
  // arrive during these 10 s: 1 + 3 + 2 * 10 s. An older version of Sluice computed one batch only in this way, in 24
  // s, although it computed two batches in 7 s.
  CHECK(seconds({one, both, "policy.last_turn=1"}) == Approx(24));
  // With `last_turn=2`, each stage has a second phase, on the other device. This device has no batch, so the phase is
  // idle, and the batch stays on the first device. A phase begins when its weights have been loaded, and they are
  // loaded in the idle phase before it: 3 * (1 + 1) s.
  CHECK(seconds({one, both, "policy.last_turn=2"}) == Approx(6));
  CHECK(execute_isolated(planned({one, both, "policy.last_turn=2"})).report.makespan == Approx(6));
  CHECK(seconds({one, both}) == Approx(6));
  CHECK(seconds({one}) == Approx(6));
}

TEST_CASE("phased: idle phases keep the last batches of each step on their devices") {
  // A step has a turn of two batches, and then a turn of one batch. After the weights of 1 s, the six phases of the
  // first turn take 1 s each. The weights of the third batch were loaded in the phase before it, so it begins at 7 s.
  // It computes for 1 s and loads weights for 1 s, three times, without the last load: 7 + 3 + 2 s.
  const char* const count = "workload.batches_per_step=3";
  CHECK(seconds({count, both, "policy.last_turn=2"}) == Approx(12));
  CHECK(seconds({count, both, "policy.last_turn=1"}) == Approx(7 + 3 + 2 * 10));
  // The first device computes the last phase of a step. It loads the first weights of the next step only after this
  // phase. So the second step takes as long as the first step.
  const Plan plan = planned({count, both, "policy.last_turn=2", "workload.steps=2"});
  CHECK(plan.iterations == 2);
  CHECK(replay(plan).makespan == Approx(12 + 12));
}

TEST_CASE("phased: on one device, idle phases let the last result be saved earlier") {
  const auto seconds_of_one = [](const std::vector<std::string>& overrides) {
    std::vector<std::string> all = {"platform.links.host.bandwidth=1MB/s"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return replay(make_plan(test::small_scenario(
                      1000, {{1000, 1'000'000, 3'000'000}, {1000, 1'000'000, 1000}},
                      "workload: {batches_per_step: 2}\n"
                      "stages: {cut: per_layer}\nphases: {activations: streaming}\n"
                      "policy: {name: phased, weights: on_demand, host_data: synthetic}\n",
                      all)))
        .makespan;
  };
  const std::string three_in_flight = "policy.in_flight=3";
  // The phases compute from 1 to 2 and from 3 to 4 s, each after the load of its weights. The results of the first
  // batch are saved from 3 to 6 s, and loaded from 6 to 9 s. The second stage computes them from 9 to 10 s. The results
  // of the second batch are saved in this phase, from 9 to 12 s, and loaded from 12 to 15 s.
  CHECK(seconds_of_one({three_in_flight, "policy.last_turn=2"}) == Approx(16));
  // After an idle phase, the results of the second batch are saved at once, from 6 to 9 s. Their load follows that of
  // the weights, from 11 to 14 s.
  CHECK(seconds_of_one({three_in_flight, "policy.last_turn=3"}) == Approx(15));
  CHECK(seconds_of_one({three_in_flight}) == Approx(15));
  CHECK(seconds_of_one({"policy.in_flight=2"}) == Approx(16));
  CHECK(seconds_of_one({}) == Approx(15));
}

TEST_CASE("phased: a step is not slower than the same step with one more batch") {
  for (const char* in_flight : {"auto", "1", "2", "3", "4"})
    for (const char* activations : {"pair_link", "streaming", "on_chip"}) {
      double before = 0;
      for (int batches = 1; batches <= 5; ++batches) {
        INFO(in_flight << " " << activations << " " << batches);
        const double now =
            seconds({"workload.batches_per_step=" + std::to_string(batches), "workload.steps=2",
                     "platform.devices.gpu.count=3", std::string("policy.in_flight=") + in_flight,
                     std::string("phases.activations=") + activations});
        CHECK(before <= now * (1 + 1e-9));
        before = now;
      }
    }
}

TEST_CASE("phased: a number of phases of the last turn that is not possible is refused") {
  const std::vector<std::string> five = {"workload.batches_per_step=5", "policy.in_flight=3"};
  const auto asked = [&](const std::string& turn) {
    std::vector<std::string> all = five;
    all.push_back("policy.last_turn=" + turn);
    return all;
  };
  CHECK_THROWS_WITH(planned(asked("1")), Catch::Contains("give a number from 2 to 3"));
  CHECK_THROWS_WITH(planned(asked("4")), Catch::Contains("give a number from 2 to 3"));
  CHECK_NOTHROW(planned(asked("3")));
  // If each turn has as many batches as are in flight, no turn is shorter, and `last_turn` changes nothing.
  CHECK(seconds({two, both, "policy.last_turn=2"}) == Approx(7));
  CHECK(seconds({one, "policy.in_flight=1", "workload.steps=3", "policy.last_turn=1"}) ==
        seconds({one, "policy.in_flight=1", "workload.steps=3"}));
  CHECK_THROWS_WITH(planned({"policy.weights_per=step", "policy.last_turn=1"}),
                    Catch::Contains("use 'last_turn: auto'"));
}

TEST_CASE("phased: more phases than any tried number of batches in flight allows are refused") {
  CHECK_NOTHROW(planned({one, "policy.last_turn=8"}));
  CHECK_THROWS_WITH(planned({one, "policy.last_turn=9"}),
                    Catch::Contains("at most 8 batches are tried") &&
                        Catch::Contains("give 'in_flight', or a smaller number"));
  CHECK(find_fact(planned({one, "policy.in_flight=9", "policy.last_turn=9"}).facts, "in_flight")
            ->number()
            ->value == 9);
}

TEST_CASE(
    "phased: a number of phases that fits no compared turn changes nothing if in_flight is open") {
  // A step has one batch. Sluice tries several numbers of batches in flight, but the larger ones allow neither 3 nor 5
  // phases per stage. So one batch is in flight, and no turn is short: 1 + 3 + 2 * 10 s.
  for (const std::string turn : {"3", "5"}) {
    const Plan plan = planned({one, "policy.last_turn=" + turn});
    CHECK(replay(plan).makespan == Approx(24));
    CHECK(find_fact(plan.facts, "in_flight")->number()->value == 1);
    CHECK(to_text(plan) == to_text(planned({one, "policy.in_flight=1"})));
  }
  // The same holds if one device computes all phases.
  std::vector<std::string> said = {one, "policy.device=gpu0", "phases.activations=streaming",
                                   "policy.last_turn=5"};
  const std::string plan = to_text(planned(said));
  said.back() = "policy.in_flight=1";
  CHECK(plan == to_text(planned(said)));
}

TEST_CASE("phased: only phases of turns that exist count towards the limit of a plan") {
  // `last_turn` is only for turns with fewer batches than `in_flight`. Here each turn has `in_flight` batches, so none
  // has a million phases per stage.
  const std::string million = "policy.last_turn=1000000";
  CHECK(seconds({two, both, million}) == Approx(7));
  CHECK(seconds({one, "policy.in_flight=1", "workload.steps=3", million}) ==
        seconds({one, "policy.in_flight=1", "workload.steps=3"}));
  // Here a step has 999 999 phases for each of the three stages. The phases of the second step are not on the same
  // devices as the phases of the first step, so a plan needs the actions of two steps.
  CHECK_THROWS_WITH(
      planned({one, "policy.in_flight=1000000", "policy.last_turn=999999", "workload.steps=2"}),
      Catch::Contains("more than 4000000 actions"));
}

}  // namespace
}  // namespace sluice
