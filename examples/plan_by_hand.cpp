// Makes a plan without a policy. In the plan, three inputs go over a link of 16 GB/s, each in 1 ms. The device computes
// on each input for 2 ms, while the next input arrives. Computed by hand, the run takes 1 ms + 3 x 2 ms = 7 ms.
#include <cstdio>

#include "planning/builder.hpp"
#include "planning/lower.hpp"
#include "run/run.hpp"

int main() {
  using namespace sluice;
  const Platform platform = load_platform("k40");
  PlanBuilder builder(platform, "by hand", /*enforce_capacity=*/true);
  builder.way("host", "gpu", /*bandwidth=*/16e9, /*setup_s=*/0, /*latency_s=*/0);
  builder.enter(Section::body);
  const auto input = builder.tensor("input", TensorClass::input, 16'000'000, /*home=*/"host");
  const auto load = builder.transfer(ActionKind::load, input, {"host", "gpu", false}, 0, -1);
  const auto compute = builder.compute(ActionKind::forward, "gpu", 0, -1, /*samples=*/1);
  builder.at(compute).seconds = 2e-3;
  builder.at(compute).samples_done = 1;
  builder.at(compute).uses.push_back({input, builder.pool("gpu")});
  builder.wait(compute, load);
  const Plan plan = builder.finish(/*iterations=*/3);
  std::printf("%.3f ms\n", 1e3 * run({.plan = plan}).summary.number("makespan_s"));
}
