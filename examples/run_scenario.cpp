// Runs a bundled scenario with eight samples per batch, instead of the number that the file of the scenario
// gives.
#include <cstdio>

#include "document/bundled.hpp"
#include "run/run.hpp"
#include "scenario/scenario.hpp"

int main() {
  const std::string file = sluice::find_document("alexnet_resident", "scenarios");
  const sluice::Scenario scenario = sluice::load_scenario(file, {"workload.batch=8"});
  const sluice::Plan plan = sluice::make_plan(scenario);
  const sluice::RunResult result = sluice::run({.plan = plan});
  std::printf("%.0f samples in %.3f ms\n", result.summary.number("samples"),
              1e3 * result.summary.number("makespan_s"));
  std::printf("at most %.1f MB on the device\n",
              1e-6 * result.summary.number("peak_bytes", {"gpu"}));
}
