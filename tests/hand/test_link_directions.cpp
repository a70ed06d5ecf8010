// Tests links whose two directions differ. Both executors must give the seconds that are computed by hand. With 1
// GFLOP/s and 1 GB/s, a sample takes 1 ms to load, 0.5 ms to compute and 1 ms to save. There are no weights.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/run_seconds.hpp"
#include "run/isolated.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

double makespan(const std::string& link, int samples) {
  const Plan plan = make_plan(test::small_scenario(
      1'000'000, {{0.5, 0, 1'000'000}},
      "workload: {batches_per_step: " + std::to_string(samples) +
          "}\npolicy: {name: resident, buffers: 2}\n",
      {"platform.links={host: {joins: [host, gpu], bandwidth: 1GB/s" + link + "}}"}));
  check(plan);
  const double seconds = execute_isolated(plan).report.makespan;
  CHECK(run_seconds(plan) == Approx(seconds).epsilon(1e-9));
  return seconds;
}

Approx ms(double value) {
  return Approx(value * 1e-3).epsilon(1e-9);
}

TEST_CASE("equal directions: inputs, computation and answers overlap") {
  // The first input takes 1 ms. Each of the other samples adds the longest of its three times: 1
  // ms, 0.5 ms and 1 ms. The last computation and the last answer follow at the end.
  CHECK(makespan("", 2) == ms(1 + 1 + 0.5 + 1));
  CHECK(makespan("", 10) == ms(1 + 9 + 0.5 + 1));
}

TEST_CASE("with half the rate upwards, answers bind and take 2 ms each") {
  CHECK(makespan(", up: {bandwidth: 0.5GB/s}", 2) == ms(1 + 2 + 0.5 + 2));
  CHECK(makespan(", up: {bandwidth: 0.5GB/s}", 10) == ms(1 + 18 + 0.5 + 2));
  // In the first of the next two runs, inputs are slow. In the second run, only answers have a set-up.
  CHECK(makespan(", down: {bandwidth: 0.5GB/s}", 10) == ms(2 + 18 + 0.5 + 1));
  CHECK(makespan(", up: {setup: 0.5ms}", 10) == ms(1 + 9 * 1.5 + 0.5 + 1.5));
}

TEST_CASE(
    "with 1.5 GB/s in total, each direction gets 0.75 GB/s while both directions are used, "
    "and otherwise 1 GB/s") {
  // The first input arrives at 1 ms, and its computation ends at 1.5 ms. At 1.5 ms, half of the second input has
  // arrived. The other half of this input shares the link with the first answer. So this half takes 2/3 ms, until 13/6
  // ms. At 13/6 ms, half of the first answer has arrived. The other half of this answer has the link to itself until
  // 8/3 ms. The second computation also ends at 8/3 ms. The second answer takes 1 ms.
  CHECK(makespan(", together: 1.5", 2) == ms(11.0 / 3));
}

TEST_CASE("pageable copies use the bandwidth that the link gives for pageable memory") {
  CHECK(makespan(", pageable: {bandwidth: 0.5GB/s}", 10) == ms(1 + 9 + 0.5 + 1));
  CHECK(makespan(", pageable: {bandwidth: 0.5GB/s}, copies: pageable", 10) == ms(2 + 18 + 0.5 + 2));
  CHECK(makespan(", pageable: {up: {bandwidth: 0.5GB/s}}, copies: pageable", 10) ==
        ms(1 + 18 + 0.5 + 2));
}

}  // namespace
}  // namespace sluice
