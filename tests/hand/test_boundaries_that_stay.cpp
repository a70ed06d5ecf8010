// Tests streamed inference in which small boundaries stay on the device while large boundaries go through host memory. The
// times are calculated by hand. With 1 GFLOP/s and 1 GB/s, 1 MB takes 1 ms.
#include "planning/streaming/residency.hpp"
#include "support/training_case.hpp"

namespace sluice {
namespace {

using namespace training_case;

/// Three layers compute for 1 ms each, and have 1 MB of weights each. The first boundary has 1 MB, the second boundary
/// and the input have 10 kB, and the answer has 1 kB.
const std::vector<Row> rows = {
    {1, 1'000'000, 1'000'000}, {1, 1'000'000, 10'000}, {1, 1'000'000, 1'000}};

Plan plan_within(const std::string& capacity, const std::string& more = {}) {
  return make_plan(small_scenario(10'000, rows,
                                  "workload: {batches_per_step: 4}\n" + cut + more +
                                      "policy: {name: streamed, overlap: false, in_flight: 4}\n",
                                  {"platform.devices.gpu.memory.capacity=" + capacity}));
}

TEST_CASE("streamed inference: a small boundary stays while a large boundary is offloaded") {
  // Weights are loaded in 3 ms, the inputs in 0.04 ms, and the answers are saved in 0.004 ms. The layers compute for 12 ms.
  const double besides = 3 + 0.04 + 0.004 + 12;
  // This memory has room for the second layer's weights, for one of its inputs of 1 MB, and for its four results of 10 kB.
  // So the second boundary stays. The first boundary is saved and loaded in 8 ms.
  const Plan mixed = plan_within("2040kB");
  CHECK(makespan_of(mixed) == ms(besides + 8));
  CHECK(find_fact(mixed.facts, "chosen")->text()->find("1 of 2 boundaries stay") !=
        std::string::npos);
  CHECK(replay(mixed).peaks.front() == 2'040'000);
  // With 4 bytes less, only one of the results fits, so both boundaries are offloaded. The second takes 0.08 ms.
  CHECK(makespan_of(plan_within("2039996B")) == ms(besides + 8.08));
  // A scenario that says so has both boundaries offloaded.
  CHECK(makespan_of(plan_within("2040kB", "fates: offload_all\n")) == ms(besides + 8.08));
  // The second layer's weights, four inputs and a result fit into this memory, so both boundaries stay.
  CHECK(makespan_of(plan_within("5010kB")) == ms(besides));
}

TEST_CASE("sets of boundaries that stay have the smallest boundaries, and never all of them") {
  const auto sets_of = [](const std::vector<std::int64_t>& outputs) {
    StreamedCase streamed;
    for (const std::int64_t output : outputs) streamed.groups.push_back({{0, 0, output, 0}, 0});
    return boundaries_that_stay(streamed);
  };
  using Sets = std::vector<std::vector<bool>>;
  // The last group's output is the answer, and not a boundary.
  CHECK(sets_of({80, 40, 20, 10, 1000}) == Sets{{},
                                                {false, true, true, true, false},
                                                {false, false, true, true, false},
                                                {false, false, false, true, false}});
  CHECK(sets_of({80, 9, 9, 5}) == Sets{{}, {false, true, true, false}});
  CHECK(sets_of({50, 50, 50, 5}) == Sets{{}});
}

TEST_CASE("a boundary that a shortcut crosses does not stay") {
  // The shortcut from the first to the third group is also behind the second group.
  const auto layers = [](const std::string& inputs) {
    return "format: sluice-scenario/1\nmodel: {definition: {format: sluice-model/1, name: m, layers: ["
           "{type: input, name: x, shape: [400]}, {type: dense, name: a, features: 8}, "
           "{type: dense, name: b, features: 8}, {type: add, name: c, inputs: [" +
           inputs +
           "]}, "
           "{type: dense, name: d, features: 400}, {type: dense, name: e, features: 2}]}}\n";
  };
  const auto sets_of = [&](const std::string& inputs) {
    const Scenario scenario = read_scenario(parse_text(layers(inputs) + R"(platform:
  format: sluice-platform/1
  name: p
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 1MB}}}
  memories: {host: {capacity: 1GB}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}
workload: {batch: 1}
stages: per_layer
policy: streamed
)",
                                                       "s.yaml"),
                                            "s");
    const CutModel cut = cut_model(scenario);
    const PolicyRequest request = {{scenario.model, cut.stages, scenario.platform, *scenario.cost,
                                    scenario.workload.dtype, nullptr},
                                   scenario.workload};
    const Device& device = scenario.platform.devices.front();
    return boundaries_that_stay(
        streamed_case(request, {device, "host", true, 2, true}, /*offload=*/true));
  };
  const auto first = [](const std::vector<std::vector<bool>>& sets) {
    std::vector<bool> any(sets.back().size(), false);
    for (const std::vector<bool>& set : sets)
      for (std::size_t g = 0; g < set.size(); ++g) any[g] = any[g] || set[g];
    return any;
  };
  CHECK(first(sets_of("b, b")) == std::vector<bool>{true, true, true, false, false});
  CHECK(first(sets_of("a, b")) == std::vector<bool>{false, false, true, false, false});
}

TEST_CASE("streamed inference: more memory is never slower with boundaries of different sizes") {
  const std::vector<Row> layers = {{0.2, 40'000, 64'000}, {0.3, 60'000, 20'000},
                                   {0.1, 90'000, 32'000}, {0.2, 50'000, 6'000},
                                   {0.3, 20'000, 2'000},  {0.1, 80'000, 400}};
  for (const char* keys : {", in_flight: 12", ", in_flight: 12, overlap: false"}) {
    double before = 1;
    int mixed = 0;
    for (std::int64_t capacity = 180'000; capacity <= 900'000; capacity += 20'000) {
      const Plan plan = make_plan(small_scenario(
          4'000, layers,
          "workload: {batches_per_step: 12}\n" + cut + "policy: {name: streamed" + keys + "}\n",
          {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B",
           "platform.links.host.bandwidth=30MB/s"}));
      const double now = makespan_of(plan);
      CAPTURE(keys, capacity);
      CHECK(now <= before * (1 + 1e-9));
      before = now;
      const Fact* chosen = find_fact(plan.facts, "chosen");
      mixed += chosen && chosen->text()->find("boundaries stay") != std::string::npos;
    }
    CHECK(mixed > 2);
  }
}

}  // namespace
}  // namespace sluice
