// Tests streamed training of a model with a single stage. The weights never leave the device. Several micro-batches may
// be in flight: while the device computes one micro-batch, the input of another micro-batch is copied.
#include <catch2/catch.hpp>

#include <algorithm>

#include "base/error.hpp"
#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// The input, the output and the weights have 1 kB each. A transfer takes 1 us at 1 GB/s, plus a latency of 30 us. A
/// forward pass takes 1 us, and a backward pass takes 2 us.
Plan plan_of(const std::string& strategy, const std::string& in_flight, std::int64_t capacity) {
  return make_plan(test::small_scenario(
      1000, {{1e-3, 1000, 1000}},
      "workload: {mode: training, batch: 4, micro_batch: 1, optimizer: none}\n"
      "stages: {cut: whole}\npolicy: {name: streamed, in_flight: " +
          in_flight + "}\nfates: {strategy: " + strategy + "}\n",
      {"platform.links.host.latency=30us",
       "platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"}));
}

/// Returns the seconds of the run, or infinity if the plan does not fit.
double seconds_of(const std::string& strategy, const std::string& in_flight,
                  std::int64_t capacity) {
  try {
    const Plan plan = plan_of(strategy, in_flight, capacity);
    check(plan);
    return replay(plan).makespan;
  } catch (const Infeasible&) {
    return never;
  }
}

const std::vector<std::string> alike = {"keep_all", "recompute_all", "offload_all", "checkpoint",
                                        "sqrt"};

TEST_CASE("for a model of one stage, the fastest number of micro-batches in flight is chosen") {
  int differ = 0, fits = 0;
  for (std::int64_t capacity = 3000; capacity <= 16'000; capacity += 1000)
    for (const std::string& strategy : alike) {
      INFO(strategy << " within " << capacity << " B");
      double best = never, worst = 0;
      for (const char* count : {"1", "2", "3", "4"}) {
        const double seconds = seconds_of(strategy, count, capacity);
        best = std::min(best, seconds);
        worst = std::max(worst, seconds);
      }
      const double open = seconds_of(strategy, "auto", capacity);
      CHECK((open == best || open <= best * (1 + 1e-9)));
      fits += best < never;
      differ += best < worst * (1 - 1e-6);
    }
  CAPTURE(differ, fits);
  CHECK(fits > 20);
  CHECK(differ > 0);
}

TEST_CASE("the latency delays only the start") {
  // Weights and the first input have arrived at 2 + 30 us. Then four micro-batches take 3 us each. With one micro-batch in
  // flight, the inputs of the others are loaded a latency ahead.
  CHECK(seconds_of("keep_all", "auto", 9000) == Approx(44e-6).epsilon(1e-12));
  CHECK(seconds_of("optimal", "auto", 9000) == Approx(44e-6).epsilon(1e-12));
  CHECK(seconds_of("keep_all", "1", 9000) == Approx(44e-6).epsilon(1e-12));
}

TEST_CASE(
    "for a model of one stage and any number of micro-batches in flight, optimal does not refuse a "
    "scenario that fits") {
  int fits = 0;
  for (std::int64_t capacity = 3000; capacity <= 16'000; capacity += 1000)
    for (const char* count : {"1", "2", "3", "4", "auto"}) {
      INFO(count << " in flight within " << capacity << " B");
      double best = never;
      for (const std::string& strategy : alike)
        best = std::min(best, seconds_of(strategy, count, capacity));
      const double optimal = seconds_of("optimal", count, capacity);
      CHECK((optimal == best || optimal <= best * (1 + 1e-9)));
      fits += best < never;
    }
  CHECK(fits > 20);
}

}  // namespace
}  // namespace sluice
