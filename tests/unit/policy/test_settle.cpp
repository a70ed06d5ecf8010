// Tests which candidate is chosen if every candidate must wait for memory.
#include <catch2/catch.hpp>

#include <limits>

#include "base/error.hpp"
#include "document/key.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/settle.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

const std::vector<test::Row> rows = {{1, 100'000, 8000}, {2, 200'000, 4000}, {3, 100'000, 6000}};

/// Returns a plan that loads up to eight inputs early, as many as there is room for. Returns nullopt if the scenario
/// does not fit.
std::optional<Plan> planned(std::int64_t capacity, const std::string& stages) {
  const Scenario scenario = test::small_scenario(
      4000, rows,
      "workload: {batches_per_step: 12, steps: 2}\npolicy: {name: resident, buffers: 8}\n" + stages,
      {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"});
  try {
    Plan plan = make_plan(scenario);
    check(plan);
    return plan;
  } catch (const Infeasible&) {
    return {};
  }
}

TEST_CASE("if every candidate must wait for memory, the fastest candidate is chosen") {
  int waited = 0;
  for (std::int64_t capacity = 400'000; capacity <= 460'000; capacity += 2000) {
    INFO(capacity << " B");
    double best = std::numeric_limits<double>::infinity();
    for (const char* cut : {"whole", "single_tensor", "per_layer"})
      if (const auto plan = planned(capacity, std::string("stages: {cut: ") + cut + "}\n"))
        best = std::min(best, replay(*plan).makespan);
    const std::optional<Plan> open = planned(capacity, "");
    REQUIRE(open.has_value() == (best < std::numeric_limits<double>::infinity()));
    if (!open) continue;
    const double seconds = replay(*open).makespan;
    CHECK(find_fact(open->facts, "chosen_s")->number()->value == Approx(seconds).epsilon(1e-9));
    if (!find_fact(open->facts, "waits_for_memory")) continue;
    ++waited;
    CHECK(seconds == Approx(best).epsilon(1e-12));
    // There are only two candidates, because the cuts single_tensor and per_layer make equal stages.
    CHECK(find_fact(open->facts, "chosen_from")->number()->value == 2);
  }
  CHECK(waited > 3);
}

TEST_CASE(
    "a plan that was chosen fits, runs to its end, and takes the seconds for which it was chosen") {
  // All weights stay, and up to four inputs are loaded early. The plan lists the loads of these inputs early, and so
  // reserves bytes for them. The reserved bytes may be more than a run in unlimited memory ever holds.
  int fitting = 0;
  for (std::int64_t capacity = 800; capacity <= 3000; capacity += 20) {
    INFO(capacity << " B");
    const Scenario scenario = test::small_scenario(
        416, {{0.00026, 8, 416}, {0.00012, 0, 96}, {0.00006, 8, 96}},
        "workload: {batch: 2, micro_batch: 1, steps: 2}\npolicy: {name: resident}\n",
        {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B",
         "platform.links.host.together=1.5"});
    Plan plan;
    try {
      plan = make_plan(scenario);
      check(plan);
    } catch (const Infeasible&) {
      REQUIRE(fitting == 0);  // no run with less memory has fitted
      continue;
    }
    ++fitting;
    CHECK(find_fact(plan.facts, "chosen_s")->number()->value ==
          Approx(replay(plan).makespan).epsilon(1e-9));
  }
  CHECK(fitting > 30);
}

/// Returns the seconds of a run. A model with these `layers` runs on two devices, which have `capacity` bytes each and
/// share the link to host memory.
double on_two(const std::vector<test::Row>& layers, std::int64_t capacity,
              const std::string& text) {
  const std::vector<std::string> machine = {
      "platform.devices.gpu.count=2",
      "platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B",
      "platform.links.host.bandwidth=200MB/s", "platform.links.host.latency=7us",
      "platform.links.host.sharing=shared"};
  Plan plan = make_plan(test::small_scenario(14'068, layers, text, machine));
  check(plan);
  return run_seconds(plan);
}

TEST_CASE("a setting that must wait for memory is compared with settings that need not wait") {
  const std::vector<test::Row> layers = {
      {0.95, 223'340, 3564}, {0.65, 80'468, 1192}, {0.2, 28'408, 7380}};
  const std::string text =
      "workload: {batches_per_step: 5, steps: 2}\nstages: {cut: per_layer}\n"
      "policy: {name: data_parallel, replica: phased";
  const double open = on_two(layers, 289'586, text + "}\n");
  for (int in_flight = 1; in_flight <= 6; ++in_flight) {
    INFO("in_flight: " << in_flight);
    const std::string said = ", in_flight: " + std::to_string(in_flight) + "}\n";
    CHECK(open <= on_two(layers, 289'586, text + said) * (1 + 1e-9));
  }
}

TEST_CASE("for devices that take turns, all cuts of a short model are compared") {
  const std::vector<test::Row> layers = {{0.85, 124'904, 4080},
                                         {0.9, 175'756, 5908},
                                         {0.3, 148'420, 8504},
                                         {0.125, 210'256, 4520},
                                         {0.075, 234'868, 4364}};
  const std::string text = "workload: {batches_per_step: 4}\npolicy: {name: phased}\n";
  const double open = on_two(layers, 900'000, text);
  for (const char* after : {"[2]", "[3]", "[4]", "[5]", "[2, 4]", "[3, 4]", "[2, 3, 4, 5]"}) {
    INFO("cut after " << after);
    const std::string said = std::string("stages: {cut: explicit, after: ") + after + "}\n";
    CHECK(open <= on_two(layers, 900'000, text + said) * (1 + 1e-9));
  }
}

/// Returns the policy `basic` with an added parameter `way`. The policy compares the values of `way` that `compared`
/// lists. It refuses to make a plan for the value 1.
Policy with_ways(std::vector<std::int64_t> compared) {
  const Policy& basic = policy_catalog().find("basic");
  Policy policy = basic;
  policy.parameters = {Key::integer("way", "").by_default("0")};
  policy.plan = [&basic](const PolicyRequest& request, const Reader& parameters) {
    if (parameters.integer("way") == 1) parameters.fail("way", "way 1 is not possible");
    return basic.plan(request, parameters);
  };
  policy.alternatives = [compared](const PolicyRequest&, const Reader& parameters) {
    std::vector<Value> maps;
    for (const std::int64_t way : compared) {
      maps.push_back(parameters.map());
      maps.back().set("way", Value::make(way));
    }
    return maps;
  };
  return policy;
}

TEST_CASE(
    "if the policy refuses one of the values that are compared, only this value is left out") {
  const Scenario scenario = test::small_scenario(
      4000, rows, "workload: {batches_per_step: 2}\nstages: {cut: whole}\npolicy: {name: basic}\n");
  const CutModel cut = cut_model(scenario);
  const PolicyRequest request = request_of(scenario, cut, {});
  const auto plan_of = [&](const Policy& policy, std::int64_t said) {
    Value map = Value::make_map();
    map.set("name", Value::make(std::string("basic")));
    map.set("way", Value::make(said));
    const Keys keys(std::move(map), record_of(policy));
    return settle(policy, request, keys.reader()).plan;
  };
  const Plan plan = plan_of(with_ways({1, 2}), 0);
  CHECK(*find_fact(plan.facts, "chosen")->text() == "way: 2");
  CHECK(find_fact(plan.facts, "chosen_from")->number()->value == 2);
  // Now both candidates have the value 1, which the policy refuses. So no candidate is left.
  CHECK_THROWS_AS(plan_of(with_ways({1, 1}), 1), InputError);
}

TEST_CASE("if one of the cuts has no candidates, the other cuts are still compared") {
  const Scenario scenario = test::small_scenario(
      4000, rows, "workload: {batches_per_step: 2}\nstages: {cut: whole}\npolicy: {name: basic}\n");
  const CutModel cut = cut_model(scenario);
  const PolicyRequest request = request_of(scenario, cut, {});
  Policy policy = policy_catalog().find("basic");
  std::size_t asked = 0, refused = 0;
  policy.candidates = [&](const PolicyRequest&, const Reader&) -> std::vector<Candidate> {
    if (asked++ < refused) throw Infeasible("this cut is too long");
    return {};
  };
  Value map = Value::make_map();
  map.set("name", Value::make(std::string("basic")));
  const Keys keys(std::move(map), record_of(policy));
  const std::vector<CutAttempt> two = {{request, "cut: first"}, {request, "cut: second"}};
  refused = 1;
  CHECK(settle(policy, two, keys.reader()).attempt == 1);
  asked = 0;
  // If no cut has candidates, each cut is planned with the settings that the scenario gives. The two plans are equally
  // fast, so the plan for the first cut is taken.
  refused = 2;
  CHECK(settle(policy, two, keys.reader()).attempt == 0);
  asked = 0;
  refused = 1;  // a scenario that gives the cut allows no other cut
  CHECK_THROWS_AS(settle(policy, {{request, ""}}, keys.reader()), Infeasible);
}

TEST_CASE("a cut whose candidates turn out to be infeasible does not refuse the other cuts") {
  const Scenario scenario = test::small_scenario(
      4000, rows, "workload: {batches_per_step: 2}\nstages: {cut: whole}\npolicy: {name: basic}\n");
  const CutModel cut = cut_model(scenario);
  const PolicyRequest request = request_of(scenario, cut, {});
  const Policy& basic = policy_catalog().find("basic");
  Value map = Value::make_map();
  map.set("name", Value::make(std::string("basic")));
  const Keys keys(std::move(map), record_of(basic));
  const auto simulated = [&](double, const auto& settled) {
    settled(Settled{1, "", [&] { return finish(basic.plan(request, keys.reader()), request); }});
  };
  const auto refused = [](double, const auto&) { throw Infeasible("this cut is too long"); };
  const auto refused_later = [&] { return std::vector<Candidate>{{.simulate = refused}}; };
  const std::vector<CutAttempt> two = {{request, "cut: first"}, {request, "cut: second"}};
  for (const Candidate& bad : {Candidate{.simulate = refused}, Candidate{.open = refused_later}}) {
    std::size_t asked = 0;
    Policy policy = basic;
    policy.candidates = [&](const PolicyRequest&, const Reader&) {
      return std::vector<Candidate>{asked++ == 0 ? bad : Candidate{.simulate = simulated}};
    };
    CHECK(settle(policy, two, keys.reader()).attempt == 1);
    asked = 0;
    policy.candidates = [&](const PolicyRequest&, const Reader&) {
      return std::vector<Candidate>{bad, {.simulate = simulated}};
    };
    // Here, the scenario gives the cut, so there is no other cut. Then the error of the bad candidate reaches the user.
    CHECK_THROWS_AS(settle(policy, {{request, ""}}, keys.reader()), Infeasible);
  }
  Policy policy = basic;
  std::size_t listed = 0;
  policy.alternatives = [&](const PolicyRequest&, const Reader& parameters) -> std::vector<Value> {
    if (listed++ == 0) throw Infeasible("this cut is too long");
    return {parameters.map()};
  };
  CHECK(settle(policy, two, keys.reader()).attempt == 1);
}

/// Plans training under the policy streamed, with open fates and `in_flight` micro-batches in flight. If the plan is
/// refused, returns the reasons that its error gives. If the plan fits, returns nullopt.
std::optional<Shortage> refused_training(std::int64_t capacity, std::int64_t in_flight) {
  const Scenario scenario = test::small_scenario(
      4000, rows,
      "workload: {mode: training, optimizer: none, batch: 8, micro_batch: 1}\n"
      "stages: {cut: per_layer}\npolicy: {name: streamed, in_flight: " +
          std::to_string(in_flight) + "}\n",
      {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"});
  try {
    check(make_plan(scenario));
    return {};
  } catch (const Infeasible& infeasible) {
    return infeasible.shortage;
  }
}

TEST_CASE(
    "the number of micro-batches that fit in flight assumes the fates that need the "
    "fewest bytes") {
  int refused = 0;
  for (std::int64_t capacity = 400'000; capacity <= 500'000; capacity += 1000) {
    const std::optional<Shortage> shortage = refused_training(capacity, 8);
    const std::int64_t most = shortage ? shortage->most_in_flight.value_or(0) : 0;
    if (most == 0) continue;
    INFO(capacity << " B, of which " << most << " in flight are said to fit");
    CHECK(!refused_training(capacity, most));
    CHECK(refused_training(capacity, most + 1));
    ++refused;
  }
  CHECK(refused > 3);
}

/// Plans streamed inference with open cut and open fates, and `in_flight` micro-batches in flight. Host memory has 540
/// kB. Weights take 400 kB of it, and inputs and answers 100 kB. So there is little room for offloaded tensors. If the
/// plan is refused, returns the greatest number in flight that the refusal says to fit. Otherwise, returns nullopt.
std::optional<std::int64_t> most_by_refusal(std::int64_t capacity, std::int64_t in_flight) {
  const Scenario scenario = test::small_scenario(
      4000, rows,
      "workload: {batches_per_step: 10}\npolicy: {name: streamed, in_flight: " +
          std::to_string(in_flight) + "}\n",
      {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B",
       "platform.memories.host.capacity=540kB"});
  try {
    make_plan(scenario);
    return {};
  } catch (const Infeasible& infeasible) {
    const std::int64_t most = infeasible.shortage.most_in_flight.value_or(0);
    CHECK_THAT(infeasible.what(),
               Catch::Contains("the greatest number of micro-batches in flight that fits: " +
                               std::to_string(most)));
    return most;
  }
}

// If activations are kept, only one or two micro-batches fit into these memories. If activations are offloaded, host
// memory limits the number of micro-batches in flight.
TEST_CASE("the number of micro-batches that fit in flight is the greatest for all cuts and fates") {
  for (const std::int64_t capacity : {30'000, 50'000}) {
    const std::int64_t most = most_by_refusal(capacity, 10).value_or(10);
    INFO(capacity << " B, of which " << most << " in flight are said to fit");
    CHECK((most > 2 && most < 10));
    CHECK(!most_by_refusal(capacity, most));
    CHECK(most_by_refusal(capacity, most + 1) == most);
  }
}

/// Returns the policy `basic` with a parameter `in_flight`. A candidate fits with up to 6 micro-batches in flight. Each
/// of the ten candidates adds 1 to `simulated` when it is simulated. The plan of the policy itself fits with one
/// micro-batch in flight, or if `plan_fits` is set, with up to 6.
Policy with_six_in_flight(bool plan_fits, int& simulated) {
  const Policy& basic = policy_catalog().find("basic");
  Policy policy = basic;
  policy.parameters = {Key::integer("in_flight", "").by_default("1")};
  policy.plan = [&basic, plan_fits](const PolicyRequest& request, const Reader& parameters) {
    if (parameters.integer("in_flight") > (plan_fits ? 6 : 1))
      throw Infeasible("too many in flight", Shortage{.pool = "gpu", .most_in_flight = 1});
    return basic.plan(request, parameters);
  };
  policy.candidates = [&simulated](const PolicyRequest&, const Reader& parameters) {
    const bool fits = parameters.integer("in_flight") <= 6;
    const Candidate one{.simulate = [&simulated, fits](double, const auto& settled) {
      ++simulated;
      if (fits) settled(Settled{1, "", [] { return Plan(); }});
    }};
    return std::vector<Candidate>(10, one);
  };
  return policy;
}

// The refused number 12 costs ten simulations. The plan with one micro-batch in flight fits. Then 2 is tried, and the
// bisection between 2 and 12 tries 7, 4, 5 and 6. Of these numbers, 7 costs ten simulations, because nothing fits. For
// 2, 4, 5 and 6, the plan that `policy.plan` returns is tried first. If it fits, nothing is simulated. Otherwise, the
// first candidate is simulated, and fits.
TEST_CASE("the search for the number in flight that fits stops at the first way that fits") {
  const Scenario scenario = test::small_scenario(
      4000, rows, "workload: {batches_per_step: 12}\nstages: {cut: whole}\npolicy: basic\n");
  const CutModel cut = cut_model(scenario);
  const PolicyRequest request = request_of(scenario, cut, {});
  for (const bool plan_fits : {false, true}) {
    int simulated = 0;
    const Policy policy = with_six_in_flight(plan_fits, simulated);
    Value map = Value::make_map();
    map.set("name", Value::make(std::string("basic")));
    map.set("in_flight", Value::make(std::int64_t{12}));
    const Keys keys(std::move(map), record_of(policy));
    std::int64_t most = 0;
    try {
      settle(policy, std::vector<CutAttempt>{{request, ""}}, keys.reader());
    } catch (const Infeasible& infeasible) {
      most = infeasible.shortage.most_in_flight.value_or(0);
    }
    CHECK(most == 6);
    CHECK(simulated == (plan_fits ? 20 : 24));
  }
}

}  // namespace
}  // namespace sluice
