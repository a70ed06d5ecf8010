// Tests kernels on a processor with two memories, with both executors. In one case, a copy engine copies between the
// memories while kernels run. In the other case, the compute units copy, and no kernel runs during a copy.
#include <catch2/catch.hpp>

#include <map>

#include "cost/operands.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/builder.hpp"
#include "planning/lower.hpp"
#include "planning/placed_price.hpp"
#include "run/isolated.hpp"

namespace sluice {
namespace {

/// The engine copies from PMEM to DRAM at 2 byte/s and from DRAM to PMEM at 2.5 byte/s. The compute units copy at 29
/// byte/s to DRAM and at 12 byte/s to PMEM. All four rates are AutoTM's numbers, in byte/s instead of GB/s.
Platform server() {
  return read_platform(parse_text(R"(format: sluice-platform/1
name: server
devices:
  cpu: {rate: {float32: 1TFLOP/s}, memory: [dram, pmem]}
memories:
  dram: {capacity: 400B, bandwidth: 100GB/s}
  pmem: {capacity: 4000B, bandwidth: 10GB/s}
links:
  copy:
    joins: [dram, pmem]
    bandwidth: 2B/s
    down: {bandwidth: 2.5B/s}
    synchronous: {bandwidth: 29B/s, down: {bandwidth: 12B/s}}
)",
                                  "server.yaml"));
}

using Ends = std::map<std::string, std::vector<double>>;

/// Returns the ends of each action's executions, by the action's name. Checks that both executors give the same times.
Ends ends_of(const Plan& plan) {
  check(plan);
  const auto by_name = [&](const std::vector<Span>& spans) {
    Ends ends;
    for (const Span& span : spans) ends[name_of(plan.actions[span.action])].push_back(span.end);
    return ends;
  };
  std::vector<Span> spans;
  REQUIRE_FALSE(replay(plan, [&](const Span& span) { spans.push_back(span); }).blocking);
  const Ends ends = by_name(spans);
  const Ends simulated = by_name(execute_isolated(plan, {}).spans);
  REQUIRE(simulated.size() == ends.size());
  for (const auto& [name, times] : ends) {
    INFO(name);
    REQUIRE(simulated.at(name).size() == times.size());
    for (std::size_t i = 0; i < times.size(); ++i)
      CHECK(simulated.at(name)[i] == Approx(times[i]).epsilon(1e-9));
  }
  return ends;
}

/// Returns a plan of three kernels of 1 s each. After kernel 0, the plan lists a move of tensor x
/// (58 byte) from PMEM to DRAM. Kernel 2 reads x.
Plan plan_with(bool synchronous) {
  const Platform platform = server();
  PlanBuilder builder(platform, "by hand", /*capacity_enforced=*/true);
  const std::uint32_t x = builder.tensor("x", TensorClass::weight, 58, "pmem");
  const auto kernel = [&](std::int32_t number) {
    const PlanBuilder::Ref ref = builder.compute(ActionKind::forward, "cpu", number, 0, 1);
    builder.at(ref).seconds = 1;
    return ref;
  };
  kernel(0);
  const PlanBuilder::Ref move = builder.transfer(
      ActionKind::move, x,
      {.from = "pmem", .to = "dram", .release = false, .synchronous = synchronous}, 2, 0);
  kernel(1);
  const PlanBuilder::Ref last = kernel(2);
  builder.at(last).uses.push_back({x, builder.pool("dram")});
  builder.wait(last, move);
  Plan plan = builder.finish(0);
  const Model model;
  const std::vector<Stage> stages;
  const ChosenCost cost = plain_cost("peak");
  lower(plan, {model, stages, platform, *cost, DType::float32});
  return plan;
}

Approx s(double seconds) {
  return Approx(seconds).epsilon(1e-12);
}

TEST_CASE("an engine copies during kernels, and compute units copy between kernels") {
  // The engine copies 58 B at 2 B/s, from 0 s to 29 s. Kernels 0 and 1 run until 2 s, and kernel 2 from 29 s.
  Ends ends = ends_of(plan_with(false));
  CHECK(ends.at("1F0") == std::vector<double>{2});
  CHECK(ends.at("2MOVE0").front() == s(29));
  CHECK(ends.at("2F0").front() == s(30));
  // With copies by the compute units, kernel 0 runs until 1 s. Then 58 B are copied at 29 B/s until 3 s. Kernels 1 and
  // 2 run until 5 s.
  ends = ends_of(plan_with(true));
  CHECK(ends.at("2MOVE0").front() == s(3));
  CHECK(ends.at("1F0").front() == s(4));
  CHECK(ends.at("2F0").front() == s(5));
}

TEST_CASE("compute units run only one action at a time, also in the body of a plan") {
  // In each iteration, x moves to DRAM in 58/29 = 2 s, and a kernel takes 1 s. Then y (36 B) moves to PMEM in 36/12 = 3
  // s.
  const Platform platform = server();
  PlanBuilder builder(platform, "loop", /*capacity_enforced=*/true);
  builder.enter(Section::body);
  const std::uint32_t x = builder.tensor("x", TensorClass::weight, 58, "pmem");
  const std::uint32_t y = builder.tensor("y", TensorClass::activation, 36);
  builder.transfer(ActionKind::move, x,
                   {.from = "pmem", .to = "dram", .release = false, .synchronous = true}, 0, 0);
  const PlanBuilder::Ref kernel = builder.compute(ActionKind::forward, "cpu", 0, 0, 1);
  builder.at(kernel).seconds = 1;
  builder.at(kernel).uses.push_back({x, builder.pool("dram")});
  builder.at(kernel).allocates.push_back({y, builder.pool("dram")});
  const PlanBuilder::Ref out = builder.transfer(
      ActionKind::move, y, {.from = "dram", .to = "pmem", .synchronous = true}, 0, 1);
  builder.at(out).uses.push_back({y, builder.pool("pmem")});
  const Plan plan = builder.finish(3);
  const Ends ends = ends_of(plan);
  for (int i = 0; i < 3; ++i) {
    CHECK(ends.at("0MOVE0")[i] == s(6 * i + 2));
    CHECK(ends.at("0F0")[i] == s(6 * i + 3));
    CHECK(ends.at("0MOVE1")[i] == s(6 * i + 6));
  }
}

/// Returns a card of 1 GFLOP/s. The card's own memory has 1 kB/s, and a link of 100 byte/s leads to host memory.
Platform card() {
  return read_platform(parse_text(R"(format: sluice-platform/1
name: card
devices:
  gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 10kB, bandwidth: 1kB/s}}
memories: {host: {capacity: unlimited}}
links: {pcie: {joins: [host, gpu], bandwidth: 100B/s}}
)",
                                  "card.yaml"));
}

TEST_CASE(
    "a kernel reads an operand over the link while it computes, and shares the link with a "
    "load") {
  // The kernel is a relu of 75 samples of one float32 element. The kernel reads 300 B and writes 300 B.
  const Platform platform = card();
  const Model model = read_model(parse_text(
      "{definition: {format: sluice-model/1, name: m, layers: [{type: input, name: x, shape: [1]}, "
      "{type: relu, name: r}]}}",
      "m.yaml"));
  const ChosenCost cost = plain_cost("roofline");
  const Query asked =
      query_of(model, model.layers[1], Pass::forward, 75, DType::float32, platform.devices.front());
  CHECK(cost->of(asked).seconds == s(0.6));
  const auto ends_with = [&](const std::string& home, bool load) {
    PlanBuilder builder(platform, "zero copy", /*capacity_enforced=*/true);
    const std::uint32_t x = builder.tensor("x", TensorClass::input, 300, home);
    const std::uint32_t r = builder.tensor("r", TensorClass::output, 300, "gpu");
    const std::uint32_t w = builder.tensor("w", TensorClass::weight, 200, "host");
    const PlacedPrice placed = placed_price(platform, *cost, placed_query(asked, {home, "gpu"}));
    const PlanBuilder::Ref kernel = builder.compute(ActionKind::forward, "gpu", 0, 0, 75);
    take_placed_price(builder, kernel, platform.devices.front(), placed, {x, r});
    if (load)
      builder.transfer(ActionKind::load, w,
                       {.from = "host", .to = "gpu", .release = false, .allocate = false}, 0, 0);
    Plan plan = builder.finish(0);
    lower(plan, {model, {}, platform, *cost, DType::float32});
    return ends_of(plan);
  };
  CHECK(ends_with("gpu", false).at("0F0").front() == s(0.6));
  // The kernel reads 300 B over the link in 3 s, at 100 B/s. It writes 300 B to the card's memory in only 0.3 s.
  CHECK(ends_with("host", false).at("0F0").front() == s(3));
  // A load of 200 B now shares the link with the kernel. The load and the kernel get 50 B/s each until the load ends at
  // 4 s. Then the remaining 100 B of the kernel come at 100 B/s.
  const Ends both = ends_with("host", true);
  CHECK(both.at("0LOAD0").front() == s(4));
  CHECK(both.at("0F0").front() == s(5));
}

}  // namespace
}  // namespace sluice
