// Tests which device owns each pool of a plan. Also tests a run in which a device owns a memory of the platform.
#include "planning/builder.hpp"

#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/lower.hpp"
#include "planning/placed_price.hpp"

namespace sluice {
namespace {

/// Returns a platform with `count` processors. Their first memory is `dram`, which has 10 B and is a memory of the
/// platform instead of a memory of one processor. The link between `host` and `dram` moves 4 B in 1 s, and the data
/// arrive 1 s later.
Platform sockets(int count) {
  return read_platform(parse_text(
      "format: sluice-platform/1\nname: sockets\ndevices:\n  cpu: {count: " +
          std::to_string(count) +
          ", rate: {float32: 1FLOP/s}, memory: [dram, host]}\nmemories:\n"
          "  dram: {capacity: 10B, bandwidth: 1GB/s}\n  host: {capacity: 1000B, bandwidth: 1GB/s}\n"
          "links: {host: {joins: [host, dram], bandwidth: 4B/s, latency: 1s}}\n",
      "sockets.yaml"));
}

std::string owner_of(const Platform& platform, const std::string& name) {
  const Plan plan = PlanBuilder(platform, "by hand", /*capacity_enforced=*/true).finish(0);
  for (const Pool& pool : plan.pools)
    if (pool.name == name) return pool.owner;
  return "there is no such pool";
}

TEST_CASE("a device owns a memory of the platform in which no other device has tensors") {
  CHECK(owner_of(sockets(1), "dram") == "cpu");
  CHECK(owner_of(sockets(1), "host") == "");
  CHECK(owner_of(sockets(2), "dram") == "");
}

TEST_CASE(
    "in a memory of the platform, a load that may come early leaves room for earlier actions") {
  // The 4 B of input a are loaded from 0 to 1 s and arrive at 2 s. Kernel A needs input a and 6 B more, and frees these
  // 10 B at its end. Kernel B does the same with input b. The copy engine could load b from 1 s on. But then the two
  // inputs would hold 8 of the 10 B at 2 s. Kernel A would wait for ever for its 6 B, and no input would ever be freed.
  // So the load of b has to wait until kernel A has ended at 3 s. Then input b is loaded until 4 s and arrives at 5 s,
  // and kernel B ends at 6 s.
  const Platform platform = sockets(1);
  PlanBuilder builder(platform, "by hand", /*capacity_enforced=*/true);
  PlanBuilder::Ref last = {};
  for (std::int32_t i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i);
    const std::uint32_t input = builder.tensor("input" + number, TensorClass::input, 4, "host");
    const std::uint32_t inner = builder.tensor("inner" + number, TensorClass::workspace, 6, "");
    const PlanBuilder::Ref load = builder.transfer(
        ActionKind::load, input, {.from = "host", .to = "cpu", .release = false}, 0, i);
    last = builder.compute(ActionKind::forward, "cpu", 0, i, 1);
    builder.at(last).seconds = 1;
    const std::uint32_t pool = builder.pool("cpu");
    builder.at(last).allocates.push_back({inner, pool});
    builder.at(last).uses.push_back({inner, pool, false, true});
    builder.at(last).uses.push_back({input, pool});
    builder.wait(last, load);
  }
  Plan plan = builder.finish(0);
  const ChosenCost cost = plain_cost("peak");
  lower(plan, {Model(), std::vector<Stage>(), platform, *cost, DType::float32});
  const ReplayResult result = replay(plan);
  REQUIRE_FALSE(result.blocking);
  CHECK(result.makespan == Approx(6).epsilon(1e-12));
}

}  // namespace
}  // namespace sluice
