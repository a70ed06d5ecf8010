// The choice if no candidate fits without waiting for memory.
#include <catch2/catch.hpp>

#include <limits>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

const std::vector<test::Row> rows = {{1, 100'000, 8000}, {2, 200'000, 4000}, {3, 100'000, 6000}};

/// Eight inputs may be loaded ahead, if there is room for them.
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

TEST_CASE("if every candidate must wait for memory, the fastest of them is chosen") {
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
    CHECK(find_fact(open->facts, "chosen_from")->number()->value == 2);  // per_layer cuts likewise
  }
  CHECK(waited > 3);
}

}  // namespace
}  // namespace sluice
