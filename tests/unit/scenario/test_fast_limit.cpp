// Tests for the key memory.fast, the limit of fast memory.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/fast_limit.hpp"
#include "support/two_products.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

/// Returns a scenario with the two products. `memory` is the text of the key `memory`. The tensors need
/// 40 + 800 + 80 + 400 = 1320 bytes at one moment.
Scenario limited(const std::string& memory, const std::string& placement = "static",
                 const std::string& capacity = "4000B") {
  return test::on_server("policy: {name: resident, placement: " + placement +
                             "}\nworkload: {batch: 1, steps: 20}\n" + memory,
                         capacity, "20B/s");
}

std::int64_t dram_of(const Scenario& scenario) {
  REQUIRE(scenario.platform.memories[0].name == "dram");
  CHECK(scenario.platform.memories[0].capacity == scenario.platform.devices[0].memory().capacity);
  return scenario.platform.memories[0].capacity.value();
}

TEST_CASE("a limit of fast memory is bytes, a share of the needed bytes, or a ratio",
          "[scenario][placement]") {
  CHECK(dram_of(limited("")) == 4000);
  CHECK(dram_of(limited("memory: {fast: 1kB}\n")) == 1000);
  CHECK(dram_of(limited("memory: {fast: 50%}\n")) == 660);
  CHECK(dram_of(limited("memory: {fast: 1:2}\n")) == 440);
  // A memory that is smaller than the limit stays as it is.
  CHECK(dram_of(limited("memory: {fast: 8kB}\n")) == 4000);
  CHECK(dram_of(limited("memory: {fast: 100%}\n", "static", "900B")) == 900);
  // Host memory has no limit, and neither has the second memory of a device.
  CHECK(limited("memory: {fast: 50%}\n").platform.host().capacity == 40000);
  CHECK(limited("memory: {fast: 50%}\n").platform.devices[0].memories[1].capacity == 40000);
}

TEST_CASE("a run within a limit is the run on a machine whose memory has these bytes",
          "[scenario][placement]") {
  double before = std::numeric_limits<double>::infinity();
  for (const int percent : {10, 20, 35, 50, 70, 85, 100}) {
    const std::string bytes = std::to_string(1320 * percent / 100) + "B";
    for (const char* placement : {"static", "first_touch", "asynchronous", "auto"}) {
      const Plan plan =
          make_plan(limited("memory: {fast: " + std::to_string(percent) + "%}\n", placement));
      const Plan same = make_plan(limited("", placement, bytes));
      CHECK(replay(plan).makespan == replay(same).makespan);
      const Fact* const limit = find_fact(plan.facts, "fast_limit_bytes");
      REQUIRE(limit);
      CHECK(limit->number()->value == 1320 * percent / 100);
      if (placement != std::string("static")) continue;
      CHECK(replay(plan).makespan <= before);
      before = replay(plan).makespan;
    }
  }
  CHECK(find_fact(make_plan(limited("")).facts, "fast_limit_bytes") == nullptr);
}

TEST_CASE("a wrong limit of fast memory is refused at its key", "[scenario][placement]") {
  for (const char* limit :
       {"x", "50", "-1%", "0%", "0B", "101%", "1:0", "0:1", "1:2:3", "10GB/s", "10%..20%", "nan%"})
    CHECK_THROWS_WITH(
        limited(std::string("memory: {fast: ") + limit + "}\n"),
        Contains("two.yaml:22:16: error: '" + std::string(limit) + "' for 'fast' in memory "));
  CHECK_THROWS_WITH(limited("memory: {fast: 50}\n"),
                    Contains("expected bytes (16GB), a share of the needed bytes (40%), or a ratio "
                             "of fast to slow memory (1:8)"));
  CHECK_THROWS_WITH(limited("memory: {fast: 101%}\n"), Contains("expected at most 100%"));
  CHECK_THROWS_WITH(limited("memory: {fast: 0%}\n"), Contains("expected a limit above 0"));
}

}  // namespace
}  // namespace sluice
