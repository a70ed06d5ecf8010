// Compares the energy of runs with hand calculations. The energy comes from the joules of a profile, or from watts.
// With watts, it matters whether computation or memory limits an operator. Also tests the integral of the power, and
// the sums for each operator.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "document/load.hpp"
#include "run/run.hpp"
#include "study/operators/operators.hpp"

using namespace sluice;

namespace {

namespace fs = std::filesystem;

/// A folder with a profile, which is removed when the test ends.
struct Bench {
  fs::path folder = fs::temp_directory_path() / ("sluice_operators_" + std::to_string(getpid()));
  Bench() {
    fs::create_directories(folder);
    std::ofstream(folder / "p.csv")
        << "# format: sluice-profile/1\n# idle: 10W\n"
           "operator,config,inputs,batch,dtype,pass,seconds_median,joules_mean\n"
           "dense,dense bias=false features=50 sparsity=0,4x30,4,float32,forward,0.002,0.5\n"
           "dense,dense bias=false features=50 sparsity=0,4x30,4,float32,backward,0.004,0.9\n"
           "relu,relu,4x50,4,float32,forward,0.001,0.03\n"
           "relu,relu,4x50,4,float32,backward,0.003,0.02\n";
  }
  ~Bench() { fs::remove_all(folder); }

  struct Done {
    Scenario scenario;
    PlannedScenario planned;
    RunResult result;
    OperatorSums sums;
    double number(const char* name) const { return result.summary.find(name)->value.number; }
  };

  /// Runs a model on a device of 1 GFLOP/s with a memory of 1 MB/s. The device takes 20 W when idle and 100 W when
  /// busy. The link has 1 GB/s. In each direction, it takes 2 W when idle and 12 W when busy.
  Done run_with(const std::string& cost, const std::string& workload) const {
    const std::string text =
        "format: sluice-scenario/1\n"
        "model:\n  definition:\n    format: sluice-model/1\n    name: m\n    layers:\n"
        "    - {type: input, name: x, shape: [30]}\n"
        "    - {type: dense, name: full, features: 50, bias: false}\n"
        "    - {type: relu, name: last}\n"
        "platform:\n  format: sluice-platform/1\n"
        "  devices: {gpu: {rate: {float32: 1GFLOP/s}, idle: 20W, busy: 100W, memory: {capacity: "
        "1GB, bandwidth: 1MB/s}}}\n"
        "  memories: {host: {capacity: unlimited}}\n"
        "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, idle: 2W, busy: 12W}}\n"
        "workload: " +
        workload + "\nstages: whole\npolicy: resident\ncost: " + cost + "\n";
    Done done{.scenario = scenario_from(parse_text(text, (folder / "s.yaml").string()),
                                        (folder / "s.yaml").string(), {})};
    done.planned = plan_scenario(done.scenario);
    // The run uses the replay, because a process can run SimGrid only once.
    done.result = run({.plan = done.planned.plan,
                       .trace_path = (folder / "t.h5").string(),
                       .executor = Executor::replay});
    done.sums = operator_sums(done.scenario, done.planned.cut, done.planned.plan);
    return done;
  }
};

double integral(const SeriesTable& table) {
  for (const SeriesTable::Series& series : table.series) {
    if (series.name != "power_w") continue;
    double joules = 0, before = 0;
    for (std::size_t bin = 0; bin < table.time.size(); ++bin) {
      joules += series.values[bin] * (table.time[bin] - before);
      before = table.time[bin];
    }
    return joules;
  }
  return -1;
}

/// Returns the joules that the device and the link would take if they were idle during the whole run, plus the
/// additional joules for the bytes on the link.
double beside_computation(const Bench::Done& done, double bytes_down, double bytes_up) {
  return done.number("makespan_s") * (20 + 2 + 2) + 10 * (bytes_down + bytes_up) / 1e9;
}

}  // namespace

TEST_CASE("the joules of a profile's rows are the joules of the run and of its operators") {
  const Bench bench;
  const auto done = bench.run_with("{model: measured, profile: p.csv}", "{batch: 4}");
  // In the profile, the two forward passes take 0.5 J in 2 ms and 0.03 J in 1 ms. An idle device of 10 W would take
  // 0.02 J and 0.01 J in these times. So 0.48 J and 0.02 J are left. The link carries 6000 B of weights and 480 B of
  // inputs to the device, and 800 B of outputs back.
  CHECK(done.sums.total.joules == Approx(0.48 + 0.02).epsilon(1e-12));
  CHECK(done.number("energy_j") == Approx(0.5 + beside_computation(done, 6480, 800)).epsilon(1e-9));
  CHECK(integral(done.result.series) == Approx(done.number("energy_j")).epsilon(1e-9));
  REQUIRE(done.sums.classes.size() == 2);
  CHECK(done.sums.classes[0].name == "dense");
  CHECK(done.sums.classes[0].seconds == Approx(0.002));
  CHECK(done.sums.classes[0].joules == Approx(0.48));
  CHECK(done.sums.layers[1].name == "last");
  CHECK(done.sums.total.measured_j == Approx(0.5).epsilon(1e-12));
  CHECK(done.sums.total.measured_s == Approx(0.003).epsilon(1e-12));
}

TEST_CASE(
    "training takes the measured joules of both passes, and computes the joules of an update from the device's watts") {
  const Bench bench;
  const auto done =
      bench.run_with("{model: measured, profile: p.csv}",
                     "{mode: training, batch: 4, backward: per_layer, optimizer: sgd}");
  // The idle power of 10 W is subtracted from the joules of the profile. So the backward pass of `full` takes 0.9 -
  // 0.04 J. The backward pass of `last` would take 0.02 - 0.03 J, which is below 0, so it counts as 0 J. The update has
  // 2 FLOP for each of 1500 parameters, at 1 GFLOP/s. Meanwhile, the device takes 80 W above its idle power.
  const double update_s = 1500 * 2 / 1e9;
  CHECK(done.sums.total.measured_j == Approx(0.48 + 0.02 + 0.86).epsilon(1e-9));
  CHECK(done.sums.total.joules == Approx(1.36 + 80 * update_s).epsilon(1e-9));
  CHECK(done.sums.total.seconds == Approx(0.010 + update_s).epsilon(1e-9));
  CHECK(integral(done.result.series) == Approx(done.number("energy_j")).epsilon(1e-9));
  CHECK(done.sums.layers.back().name == "update");
}

TEST_CASE(
    "without measured joules, busy watts give the energy, or less power if memory limits an "
    "operator and memory_power is given") {
  const Bench bench;
  // The first layer reads and writes 4 x (4 x 80 + 1500) B, and the second layer 4 x 400 B. At 1 MB/s, these bytes take
  // longer than the FLOP.
  const double full = 4 * (4 * 80 + 1500) / 1e6, last = 4 * 400 / 1e6;
  const auto usual = bench.run_with("roofline", "{batch: 4}");
  CHECK(usual.sums.total.joules == Approx(80 * (full + last)).epsilon(1e-12));
  CHECK(usual.sums.total.measured_j == 0);
  const auto less = bench.run_with("{model: roofline, memory_power: 0.6}", "{batch: 4}");
  CHECK(less.sums.total.joules == Approx(0.6 * 80 * (full + last)).epsilon(1e-12));
  CHECK(less.number("energy_j") ==
        Approx(0.6 * 80 * (full + last) + beside_computation(less, 6480, 800)).epsilon(1e-9));
  CHECK(integral(less.result.series) == Approx(less.number("energy_j")).epsilon(1e-9));
  CHECK(less.sums.total.measured_j == 0);
  // With `compute_efficiency: 0.0001`, the 2 x 4 x 1500 FLOP of the layer `full` take longer than its bytes. So
  // `memory_power` does not apply to this layer.
  const auto bound = bench.run_with(
      "{model: roofline, memory_power: 0.6, compute_efficiency: 0.0001}", "{batch: 4}");
  const double computing = 2 * 4 * 1500 / 1e9 / 1e-4;
  REQUIRE(computing > full);
  CHECK(bound.sums.layers[0].joules == Approx(80 * computing).epsilon(1e-12));
}

TEST_CASE("for any cut and any fates, the sums over all operators equal the sums of the plan") {
  const Bench bench;
  const auto done = bench.run_with("roofline", "{mode: training, batch: 8, micro_batch: 2}");
  double seconds = 0, joules = 0;
  const Plan& plan = done.planned.plan;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    if (plan.actions[a].is_transfer()) continue;
    const auto times = static_cast<double>(plan.executions_of(a));
    seconds += times * plan.actions[a].seconds;
    joules += times * plan.actions[a].joules;
  }
  CHECK(done.sums.total.seconds == Approx(seconds).epsilon(1e-12));
  CHECK(done.sums.total.joules == Approx(joules).epsilon(1e-12));
  CHECK(done.sums.layers.back().name == "update");  // the update is an operator, too
}
