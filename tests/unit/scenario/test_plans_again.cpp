// Tests that a plan which is priced again equals a newly made plan, to the last bit.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "document/load.hpp"
#include "execute/feasibility.hpp"
#include "plan/text.hpp"
#include "scenario/plans_again.hpp"
#include "study/sweep/evaluate.hpp"
#include "support/campaign.hpp"
#include "support/source_folder.hpp"

using namespace sluice;
using Words = std::vector<std::string>;

namespace {

const std::string path = test::source_folder() + "/scenarios/test.yaml";

/// A platform with two devices, and with links that have every key of a link.
const std::string machine = R"(
platform:
  format: sluice-platform/1
  name: pair
  devices:
    gpu:
      count: 2
      rate: {float32: 1TFLOP/s, float16: 2TFLOP/s}
      memory: {capacity: 24GB, bandwidth: 300GB/s}
      roofline: {compute: 0.7, memory: 0.8}
      launch_overhead: 1us
      idle: 20W
      busy: 250W
  memories:
    host: {capacity: 256GB, bandwidth: 60GB/s}
  links:
    pcie: {joins: [host, gpu], bandwidth: 8GB/s, up: {share: 0.9}, latency: 3us, setup: 1us,
           together: 1.5, sharing: private, idle: 1W, busy: 6W}
    bridge: {joins: [gpu0, gpu1], bandwidth: 20GB/s, duplex: half, latency: 1us}
)";

struct Question {
  std::string name, text;
  bool again = true;  ///< whether a change of prices keeps its plan
};

std::string scenario(const std::string& workload, const std::string& policy,
                     const std::string& more = "") {
  return "format: sluice-scenario/1\nmodel: {file: ../models/cnn_mnist.yaml}\n" + machine +
         "workload: {dtype: float32, " + workload + "}\nstages: {cut: per_layer}\npolicy: {" +
         policy + "}\n" + more;
}

std::vector<Question> questions() {
  const std::string inference = "mode: inference, batch: 8, micro_batch: 2, steps: 3";
  const std::string training =
      "mode: training, optimizer: adam, batch: 8, micro_batch: 2, steps: 2";
  const std::string resident = "name: resident, buffers: 2, overlap: ";
  std::vector<Question> all = {
      {"resident", scenario(inference, resident + "true")},
      {"resident, one thing at a time", scenario(inference, resident + "false")},
      {"sharded", scenario(inference, "name: sharded")},
      {"basic", scenario(inference, "name: basic"), false},
      {"streamed", scenario(inference, "name: streamed, in_flight: 2"), false},
      {"phased", scenario("mode: inference, batch: 8, steps: 3", "name: phased"), false},
      {"data_parallel",
       scenario(training, "name: data_parallel, replica: resident",
                "fates: {strategy: keep_all}\n"),
       false},
      {"optimal", scenario(training, "name: resident", "fates: {strategy: optimal}\n"), false},
      {"a choice of fates", scenario(training, "name: resident"), false}};
  for (const char* fates :
       {"keep_all", "recompute_all", "offload_all", "sqrt", "checkpoint", "selective"}) {
    const std::string more = "fates: {strategy: " + std::string(fates) + "}\n";
    const std::string name = std::string(" in training, ") + fates;
    // A step may load other tensors besides inputs. Then the seconds of actions decide when these tensors are loaded.
    // So the plan must be made again if the seconds change.
    const bool loads_inputs_only = std::string(fates) != "offload_all";
    all.push_back(
        {"resident" + name, scenario(training, "name: resident", more), loads_inputs_only});
    all.push_back(
        {"streamed" + name, scenario(training, "name: streamed, in_flight: 2", more), false});
    all.push_back({"streamed, one at a time" + name,
                   scenario(training, "name: streamed, in_flight: 2, overlap: false", more)});
    all.push_back({"phased" + name, scenario(training, "name: phased, in_flight: 2", more), false});
  }
  return all;
}

/// Returns overrides that change one to three prices at random.
Words prices(std::mt19937& random) {
  const auto between = [&](double least, double most) {
    const double part = static_cast<double>(random()) / 4294967296.0;
    return std::to_string(least * std::pow(most / least, part));
  };
  const Words all = {"platform.links.pcie.bandwidth=" + between(0.2, 100) + "GB/s",
                     "platform.links.pcie.latency=" + between(0.1, 3000) + "us",
                     "platform.links.pcie.setup=" + between(0.1, 1000) + "us",
                     "platform.links.pcie.up.share=" + between(0.2, 1),
                     "platform.links.pcie.together=" + between(1.01, 1.9),
                     "platform.links.bridge.bandwidth=" + between(1, 100) + "GB/s",
                     "platform.links.pcie.busy=" + between(2, 50) + "W",
                     "platform.devices.gpu.rate.float32=" + between(0.01, 100) + "TFLOP/s",
                     "platform.devices.gpu.memory.bandwidth=" + between(10, 3000) + "GB/s",
                     "platform.devices.gpu.roofline.compute=" + between(0.1, 1),
                     "platform.devices.gpu.launch_overhead=" + between(0.1, 500) + "us",
                     "platform.devices.gpu.idle=" + between(1, 100) + "W",
                     "platform.devices.gpu.busy=" + between(100, 500) + "W",
                     "platform.memories.host.bandwidth=" + between(10, 100) + "GB/s",
                     "cost.compute_efficiency=" + between(0.1, 1)};
  Words some;
  for (std::size_t count = 1 + random() % 3; some.size() < count;) {
    const std::string& one = all[random() % all.size()];
    const std::string key = one.substr(0, one.find('=') + 1);
    if (std::none_of(some.begin(), some.end(),
                     [&](const std::string& other) { return other.starts_with(key); }))
      some.push_back(one);
  }
  return some;
}

/// Returns a random override of a key that changes more than prices. With this override, the plan must be made again.
Words other(std::mt19937& random) {
  const Words all = {"platform.devices.gpu.memory.capacity=20GB", "workload.batch=16",
                     "platform.devices.gpu.count=4", "workload.steps=5",
                     "platform.links.pcie.sharing=shared"};
  return {all[random() % all.size()]};
}

PointResult anew(const Variants& variants, const Words& overrides) {
  return evaluate(variants, overrides, measure_on_replay);
}

}  // namespace

TEST_CASE("A plan that is priced again equals a newly made plan", "[property]") {
  std::mt19937 random(13);
  int found_in_all = 0;
  for (const Question& question : questions()) {
    CAPTURE(question.name);
    const Variants variants(parse_text(question.text, path), path, {});
    PlansAgain plans;
    int again = 0, found = 0;
    const int cases = test::cases_of(12);
    for (int i = 0; i < cases; ++i) {
      const Words overrides = i % 6 == 5 ? other(random) : prices(random);
      CAPTURE(overrides);
      const Scenario scenario = variants.with(overrides);
      PlannedScenario planned = plan_scenario(scenario);
      if (!other_prices_only(variants.base(), scenario)) {
        CHECK(i % 6 == 5);
        continue;
      }
      const bool kept_some = again > 0;
      if (PlansAgain::KeptPlan* made = plans.find(scenario)) {
        CHECK(to_text(made->plan) == to_text(planned.plan));
        ++found;
      }
      again += planned.price_again.has_value();
      if (kept_some || planned.price_again)
        CHECK(planned.price_again.has_value() == question.again);
      check(planned.plan);
      plans.keep(std::move(planned), scenario);
    }
    CHECK((again > 0) == question.again);
    if (!question.again) CHECK(found == 0);
    found_in_all += found;
  }
  CHECK(found_in_all > 100);
}

TEST_CASE("A point whose plan is priced again gives the result that the point gives alone",
          "[property]") {
  std::mt19937 random(31);
  for (const Question& question : questions()) {
    CAPTURE(question.name);
    const Variants variants(parse_text(question.text, path), path, {});
    for (int i = 0; i < test::cases_of(4, 8); ++i) {
      const Words overrides = i % 4 == 3 ? other(random) : prices(random);
      CAPTURE(overrides);
      const PointResult many = evaluate(variants, overrides), alone = anew(variants, overrides);
      CHECK(many.status == PointResult::Status::complete);
      CHECK(packed(many) == packed(alone));
    }
  }
}

TEST_CASE("After a change of anything but prices, the scenario is read and planned again") {
  const Variants variants(parse_text(questions().front().text, path), path, {});
  const auto only_prices = [&](const std::string& change) {
    return other_prices_only(variants.base(), variants.with({change}));
  };
  CHECK(only_prices("platform.links.pcie.bandwidth=1GB/s"));
  CHECK(only_prices("platform.devices.gpu.rate.float32=2TFLOP/s"));
  CHECK(only_prices("cost.memory_efficiency=0.5"));
  CHECK_FALSE(only_prices("platform.devices.gpu.memory.capacity=1GB"));
  CHECK_FALSE(only_prices("platform.devices.gpu.memory.reserved=1GB"));
  CHECK_FALSE(only_prices("platform.devices.gpu.count=4"));
  CHECK_FALSE(only_prices("platform.devices.gpu.rate.bfloat16=2TFLOP/s"));
  CHECK_FALSE(only_prices("platform.links.bridge.duplex=full"));
  CHECK_FALSE(only_prices("platform.links.bridge.joins=[gpu0, host]"));
  CHECK_FALSE(only_prices("cost.model=peak"));
  CHECK_FALSE(only_prices("workload.steps=4"));
  CHECK_FALSE(only_prices("policy.buffers=3"));
  CHECK_FALSE(only_prices("memory.capacity=unlimited"));
}

TEST_CASE("A point that cannot be evaluated gives the error that it gives without earlier points") {
  const Variants variants(parse_text(questions().front().text, path), path, {});
  (void)evaluate(variants, Words{"platform.links.pcie.bandwidth=1GB/s"});
  for (const char* change :
       {"platform.links.pcie.bandwidth=0GB/s", "platform.links.pcie.bandwidth=fast",
        "platform.links.pcy.bandwidth=1GB/s", "platform.devices.gpu.rate.float32=1e-300FLOP/s",
        "cost.compute_efficiency=2", "platform.devices.gpu.memory.capacity=1kB"}) {
    CAPTURE(change);
    const PointResult many = evaluate(variants, Words{change}),
                      alone = anew(variants, Words{change});
    CHECK(many.status != PointResult::Status::complete);
    CHECK(packed(many) == packed(alone));
    std::string said;
    try {
      const Plan plan =
          make_plan(scenario_from(parse_text(questions().front().text, path), path, {change}));
      check(plan);
    } catch (const std::exception& error) {
      said = error.what();
    }
    CHECK(many.message == said);
  }
}
