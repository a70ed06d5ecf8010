// Tests each metric on an execution that is small enough to compute by hand. The spans are written in this file, so no
// executor is tested.
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "metrics/metric.hpp"
#include "metrics/series.hpp"
#include "metrics/steady.hpp"
#include "metrics/totals.hpp"

namespace sluice {
namespace {

SummaryValue value(const Totals& totals, const std::string& name) {
  return metric_catalog().find(name).value(totals);
}

double number(const Totals& totals, const std::string& name) {
  return value(totals, name).number;
}

double keyed(const Totals& totals, const std::string& name, const std::vector<std::string>& key) {
  const SummaryValue found = value(totals, name);
  for (const auto& one : found.keyed)
    if (one.key == key) return one.number;
  FAIL("the key is missing in " << name);
  return 0;
}

/// Returns a plan with one device and one link. Its body runs twice, and loads the 50 B of x and computes on x.
///   link: 100 byte/s, idle 1 W, busy 3 W. Route: setup 0.5 s, latency 0.25 s
///   load: 0.5 s + 50 B / 100 byte/s = 1 s.  forward: 3 s, 600 FLOP, 120 J, completes 4 samples
Plan load_and_compute() {
  Plan plan;
  plan.pools = {{"gpu", 300, "gpu", false}, {"host"}};
  plan.links = {{"host.down", 100, 1, 3}};
  plan.routes = {{"host>gpu", {0}, 0.5, 0.25}};
  plan.streams = {{"gpu.compute", StreamKind::compute, "gpu", 10, 50},
                  {"gpu.host.down", StreamKind::copy, "gpu", 0, 0}};
  plan.tensors.resize(2);
  plan.tensors[0].name = "w";
  plan.tensors[0].tensor_class = TensorClass::weight;
  plan.tensors[0].bytes = 200;
  plan.tensors[1].name = "x";
  plan.tensors[1].tensor_class = TensorClass::input;
  plan.tensors[1].bytes = 50;
  Action load;
  load.name = "0LOAD";
  load.kind = ActionKind::load;
  load.stream = 1;
  load.flows = {{.tensor = 1, .from = 1, .to = 0, .route = 0, .bytes = 50}};
  Action forward;
  forward.name = "0F";
  forward.stream = 0;
  forward.samples = forward.samples_done = 4;
  forward.seconds = 3;
  forward.flop = 600;
  forward.joules = 120;
  forward.waits = {{0, 0}};
  plan.actions = {load, forward};
  plan.body_begin = 0;
  plan.body_end = 2;
  plan.iterations = 2;
  return plan;
}

/// The execution of the plan that load_and_compute() returns:
//   load 0     0 .. 1, available 1.25       load 1     1 .. 2, available 2.25
//   forward 0  1.25 .. 4.25 (waited 1.25)   forward 1  4.25 .. 7.25
const std::vector<Span> executed = {
    {0, 0, 0, 1, 1.25, 0, WaitReason::none, Span::nobody},
    {0, 1, 1, 2, 2.25, 0, WaitReason::none, Span::nobody},
    {1, 0, 1.25, 4.25, 4.25, 1.25, WaitReason::data, 0},
    {1, 1, 4.25, 7.25, 7.25, 0, WaitReason::none, Span::nobody},
};

void feed(Sink& sink) {
  for (const Span& span : executed) sink.span(span);
}

}  // namespace

TEST_CASE("The times of two loads and two forward passes equal the times computed by hand") {
  const Plan plan = load_and_compute();
  Totals totals(plan);
  feed(totals);
  REQUIRE(number(totals, "makespan_s") == 7.25);
  REQUIRE(number(totals, "compute_s") == 6);              // 2 x 3
  REQUIRE(number(totals, "transfer_s") == 2);             // 2 loads x 1 s, with setup
  REQUIRE(number(totals, "exposed_transfer_s") == 1.25);  // the first forward pass waits
  REQUIRE(number(totals, "compute_utilisation") == 6 / 7.25);
  REQUIRE(number(totals, "bubble_fraction") == 0);  // 1 - 6 / (7.25 - 1.25)
  REQUIRE(number(totals, "step_s") == 3);           // (7.25 - 4.25) / (1 - 0) iterations
  REQUIRE(number(totals, "recompute_s") == 0);
  REQUIRE(number(totals, "recompute_overhead") == 0);
  REQUIRE(keyed(totals, "transfer_s_by_link", {"host.down"}) == 2);
  REQUIRE(keyed(totals, "transfer_s_by_class", {"input"}) == 2);
}

TEST_CASE("Samples, bytes, FLOP and joules of four actions equal those computed by hand") {
  const Plan plan = load_and_compute();
  Totals totals(plan);
  feed(totals);
  REQUIRE(number(totals, "samples") == 8);
  REQUIRE(number(totals, "throughput_samples_per_s") == 8 / 7.25);
  REQUIRE(number(totals, "transferred_bytes") == 100);
  REQUIRE(keyed(totals, "transferred_bytes_by_link", {"host.down"}) == 100);
  REQUIRE(keyed(totals, "transferred_bytes_by_class", {"input"}) == 100);
  REQUIRE(number(totals, "flop") == 1200);
  REQUIRE(number(totals, "arithmetic_intensity") == 12);
  // The device takes 10 W x 7.25 s + 2 x 120 J. The link takes 1 W x 7.25 s + (3 - 1) W x 100 B / (100 byte/s).
  REQUIRE(keyed(totals, "energy_j_by_device", {"gpu"}) == 312.5);
  REQUIRE(keyed(totals, "energy_j_by_link", {"host.down"}) == 9.25);
  REQUIRE(number(totals, "energy_j") == 321.75);
  REQUIRE(number(totals, "energy_per_sample_j") == 321.75 / 8);
}

TEST_CASE("If the platform gives no watts, the energy is unknown, and the metric says so") {
  Plan plan = load_and_compute();
  plan.streams[0].idle_w = plan.streams[0].busy_w = 0;
  plan.links[0].idle_w = plan.links[0].busy_w = 0;
  for (Action& action : plan.actions) action.joules = 0;
  Totals totals(plan);
  feed(totals);
  for (const char* name : {"energy_j", "energy_per_sample_j"}) {
    REQUIRE(std::isnan(number(totals, name)));
    REQUIRE(value(totals, name).absent == "the platform gives no watts");
  }
  REQUIRE(value(totals, "energy_j_by_device").keyed.empty());
  REQUIRE(value(totals, "energy_j_by_link").keyed.empty());
  SeriesSink sink(plan, 1);
  feed(sink);
  REQUIRE(sink.table().series.back().name == "recompute_s");  // with watts, power_w is the last series
  plan.actions[1].joules = 120;  // the joules of this action were measured
  Totals measured(plan);
  feed(measured);
  REQUIRE(number(measured, "energy_j") == 240);
  REQUIRE(keyed(measured, "energy_j_by_device", {"gpu"}) == 240);
}

TEST_CASE("Two loads and two forward passes take exactly the seconds of the bound") {
  const Plan plan = load_and_compute();
  Totals totals(plan);
  feed(totals);
  // The first forward pass cannot start before 1.25 s, and the two forward passes take 2 x 3 s.
  REQUIRE(number(totals, "lower_bound_s") == 7.25);
  REQUIRE(number(totals, "bound_ratio") == 1);
  REQUIRE(value(totals, "bound_by").text == "gpu.compute");
}

TEST_CASE("The peak of a pool is reported with the contents of the pool at that moment") {
  const Plan plan = load_and_compute();
  Totals totals(plan);
  // The pool gpu holds the 200 B of w. Then an x of 50 B is added, a second x is added, one x is freed, and a third x
  // is added. So the pool holds 300 B at two times. At the end, w is freed, and 100 B remain.
  totals.memory({0, 0, 0, 200, 200});
  totals.memory({1, 0, 1, 50, 250});
  totals.memory({2, 0, 1, 50, 300});
  totals.memory({3, 0, 1, -50, 250});
  totals.memory({4, 0, 1, 50, 300});
  totals.memory({5, 0, 0, -200, 100});
  REQUIRE(totals.pools()[0].peak_time == 2);  // the first moment of the peak
  REQUIRE(keyed(totals, "peak_bytes", {"gpu"}) == 300);
  REQUIRE(keyed(totals, "peak_bytes", {"host"}) == 0);
  REQUIRE(keyed(totals, "peak_bytes_by_class", {"gpu", "weight"}) == 200);
  REQUIRE(keyed(totals, "peak_bytes_by_class", {"gpu", "input"}) == 100);
  REQUIRE(value(totals, "peak_bytes_by_class").keyed.size() == 2);
}

TEST_CASE("Overflow is the number of bytes beyond a capacity that is not enforced") {
  Plan plan = load_and_compute();
  plan.pools[0].capacity = 120;
  const Totals empty(plan);
  REQUIRE(keyed(empty, "overflow_bytes", {"gpu"}) == 0);
  Totals totals(plan);
  totals.memory({0, 0, 0, 200, 200});
  REQUIRE(keyed(totals, "overflow_bytes", {"gpu"}) == 80);
  REQUIRE(value(totals, "overflow_bytes").keyed.size() == 1);  // host has no limit
  plan.pools[0].enforced = true;
  REQUIRE(value(totals, "overflow_bytes").keyed.empty());
}

TEST_CASE("Bubbles are time beyond the mean computation. Recomputation is a share of other work") {
  Plan plan;
  plan.streams = {{"a", StreamKind::compute, "a", 0, 0}, {"b", StreamKind::compute, "b", 0, 0}};
  plan.actions.resize(3);
  plan.actions[0].kind = ActionKind::forward;
  plan.actions[0].stream = 0;
  plan.actions[0].seconds = 2;
  plan.actions[1].kind = ActionKind::forward;
  plan.actions[1].stream = 1;
  plan.actions[1].seconds = 5;
  plan.actions[2].kind = ActionKind::recompute;
  plan.actions[2].stream = 1;
  plan.actions[2].seconds = 1;
  plan.body_begin = plan.body_end = 3;
  Totals totals(plan);
  totals.span({0, 0, 0, 2, 2, 0, WaitReason::none, Span::nobody});
  totals.span({1, 0, 2, 7, 7, 2, WaitReason::data, 0});
  totals.span({2, 0, 9, 10, 10, 2, WaitReason::memory, 0});
  REQUIRE(number(totals, "compute_s") == 8);
  // The devices compute for 2 s and 6 s, which is 4 s on average. From its first to its last computation, device b
  // takes longer than device a: 8 s, from 2 s to 10 s. So the bubble fraction is 1 - 4 / 8.
  REQUIRE(number(totals, "bubble_fraction") == 0.5);
  REQUIRE(number(totals, "compute_utilisation") == 0.4);  // 8 / (10 x 2)
  REQUIRE(number(totals, "recompute_s") == 1);
  REQUIRE(number(totals, "recompute_overhead") == 1.0 / 7);
  REQUIRE(number(totals, "exposed_transfer_s") == 0);  // no action waited for a transfer
}

TEST_CASE("A step counts from the end of the middle iteration to the end of the last iteration") {
  Plan plan = load_and_compute();
  plan.iterations = 8;
  plan.steps_per_iteration = 2;
  Totals totals(plan);
  // Iterations 0 and 1 are slow. Each later iteration i is complete at 10 i + 5 s. Iteration 3 is the middle one of the
  // 8 iterations, because (8 - 1) / 2 is rounded down to 3.
  for (std::int64_t i = 0; i < 8; ++i) {
    const double end = 10.0 * static_cast<double>(i) + (i < 2 ? 100 : 5);
    totals.span({1, i, end - 3, end, end, 0, WaitReason::none, Span::nobody});
    if (i == 3)
      REQUIRE(std::isnan(number(totals, "step_s")));  // the last iteration is not complete yet
  }
  REQUIRE(number(totals, "step_s") == 5);  // (75 - 35) / (7 - 3) / 2 steps per iteration
}

TEST_CASE("If a step consists of several iterations, whole steps are counted") {
  Plan plan = load_and_compute();
  plan.iterations = 12;
  plan.iterations_per_step = 3;
  Totals totals(plan);
  // 12 iterations are four steps. The middle step is step 1, because (4 - 1) / 2 is rounded down to 1. It ends with
  // iteration 5, complete at 10 x 5 + 5 = 55 s. Step 3 ends with iteration 11, complete at 140 s.
  for (std::int64_t i = 0; i < 12; ++i) {
    const double end = i == 11 ? 140 : 10.0 * static_cast<double>(i) + 5;
    totals.span({1, i, end - 3, end, end, 0, WaitReason::none, Span::nobody});
  }
  REQUIRE(number(totals, "step_s") == 42.5);  // (140 - 55) / 2 steps
}

TEST_CASE("The iterations of a single step are not a steady state") {
  Plan plan = load_and_compute();
  plan.iterations = plan.iterations_per_step = 2;
  Totals totals(plan);
  totals.span({1, 0, 0, 3, 3, 0, WaitReason::none, Span::nobody});
  totals.span({1, 1, 3, 6, 6.5, 0, WaitReason::none, Span::nobody});
  REQUIRE(number(totals, "first_step_s") == 6.5);
  REQUIRE(std::isnan(number(totals, "step_s")));
}

TEST_CASE("A step takes at least the seconds of its work on the busiest stream or link") {
  // Iterations 0, 1 and 2 are complete at 1, 3 and 5 s, as if an iteration took 2 s. But each iteration has a forward
  // pass of 3 s. So a step takes at least 3 s.
  const auto step_of = [](const Plan& plan) {
    Totals totals(plan);
    for (std::int64_t i = 0; i < plan.iterations; ++i) {
      const double end = 1 + 2.0 * static_cast<double>(i);
      totals.span({1, i, end - 1, end, end, 0, WaitReason::none, Span::nobody});
    }
    return number(totals, "step_s");
  };
  Plan plan = load_and_compute();
  plan.iterations = 3;
  REQUIRE(step_of(plan) == 3);
  // With 350 B, the load takes 0.5 s + 350 B / 100 byte/s = 4 s, longer than the forward pass.
  plan.actions[0].flows[0].bytes = 350;
  REQUIRE(step_of(plan) == 4);
  // Now a second copy engine loads 350 B over the same link. So the link moves 700 B per iteration, which take 7 s.
  plan.streams.push_back(plan.streams[1]);
  plan.actions.push_back(plan.actions[0]);
  plan.actions.back().stream = 2;
  plan.body_end = 3;
  REQUIRE(step_of(plan) == 7);
  plan.steps_per_iteration = 2;
  REQUIRE(step_of(plan) == 3.5);
}

TEST_CASE("The bound of the question is compared with the makespan") {
  const Plan plan = load_and_compute();
  Totals totals(plan);
  totals.set_question_bound(5.8);
  feed(totals);
  REQUIRE(number(totals, "question_bound_s") == 5.8);
  REQUIRE(number(totals, "question_ratio") == 5.8 / 7.25);
}

TEST_CASE("A run of one iteration has a steady state only if a further step was timed") {
  Plan plan = load_and_compute();
  plan.iterations = 1;
  Totals totals(plan);
  totals.span(executed[0]);
  totals.span(executed[2]);
  REQUIRE(number(totals, "first_step_s") == 4.25);
  REQUIRE_THAT(value(totals, "step_s").absent, Catch::Contains("no further step"));
  REQUIRE_THAT(value(totals, "steady_throughput_samples_per_s").absent,
               Catch::Contains("no further step"));
  totals.set_further_step(3.5);
  REQUIRE(number(totals, "step_s") == 3.5);
  const double samples = samples_of_step(plan);
  REQUIRE(samples > 0);
  REQUIRE(number(totals, "steady_throughput_samples_per_s") == samples / 3.5);
}

TEST_CASE("A metric without a number says why it has no number") {
  const Plan plan = load_and_compute();
  const Totals totals(plan);  // nothing was executed
  const Summary summary = summarise(totals);
  REQUIRE(summary.metrics.size() == metric_catalog().entries().size());
  std::set<std::string> absent;
  for (const Summary::Metric& metric : summary.metrics) {
    const bool nan =
        metric.value.kind == SummaryValue::Kind::number && std::isnan(metric.value.number);
    INFO(metric.name);
    REQUIRE(nan == !metric.value.absent.empty());
    if (nan) absent.insert(metric.name);
  }
  REQUIRE(absent ==
          std::set<std::string>{"throughput_samples_per_s", "first_step_s", "step_s",
                                "steady_throughput_samples_per_s", "compute_utilisation",
                                "bubble_fraction", "recompute_overhead", "arithmetic_intensity",
                                "energy_per_sample_j", "measured_share", "bound_ratio",
                                "training_over_inference", "question_bound_s", "question_ratio"});
  REQUIRE_THAT(value(totals, "question_bound_s").absent, Catch::Contains("the run was of a plan"));
  // A run that did not reach its end has a bound of the plan, but no ratio of the bound to its makespan.
  Totals half(plan);
  half.span(executed[0]);
  REQUIRE(value(half, "bound_ratio").absent == "the run did not reach its end");
}

TEST_CASE("Every metric has its own name, a summary, a source, and a unit or a word as value") {
  const Plan plan = load_and_compute();
  Totals totals(plan);
  feed(totals);
  std::set<std::string> names;
  for (const Metric* metric : metric_catalog().entries()) {
    INFO(metric->name);
    REQUIRE(names.insert(metric->name).second);
    REQUIRE(metric->summary.back() == '.');
    REQUIRE_FALSE(metric->source.empty());
    const bool word = metric->value(totals).kind == SummaryValue::Kind::text;
    REQUIRE(word == metric->unit.empty());
  }
}

TEST_CASE("The rounding errors of a sum of ten million tenths do not add up") {
  Sum sum;
  for (int i = 0; i < 10'000'000; ++i) sum.add(0.1);
  REQUIRE(sum.value() == 1'000'000);
}

TEST_CASE("The series of two loads and two forward passes equal those computed by hand") {
  const Plan plan = load_and_compute();
  SeriesSink sink(plan, 1);
  feed(sink);
  const SeriesTable table = sink.table();
  REQUIRE(table.width == 1);
  REQUIRE(table.time == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 7.25});
  REQUIRE(table.series.size() == 3);
  const auto bins_of = [&](std::size_t stream) {
    const auto bins = table.utilisation_of(stream);
    return std::vector<double>(bins.begin(), bins.end());
  };
  REQUIRE(plan.streams[0].name == "gpu.compute");
  REQUIRE(bins_of(0) == std::vector<double>{0, 0.75, 1, 1, 1, 1, 1, 1});
  REQUIRE(bins_of(1) == std::vector<double>{1, 1, 0, 0, 0, 0, 0, 0});
  REQUIRE(table.series[0].name == "samples_done");
  REQUIRE(table.series[0].values == std::vector<double>{0, 0, 0, 0, 4, 4, 4, 8});
  REQUIRE(table.series[1].values == std::vector<double>(8, 0));
  // When idle, the device and the link take 10 + 1 W. A load keeps the link busy for 50 B / 100 byte/s = 0.5 s, with 2
  // W more. So a load adds 1 J in 1 s, or 1 W. A forward pass adds 120 J in 3 s, or 40 W.
  REQUIRE(table.series[2].name == "power_w");
  REQUIRE(table.series[2].values[0] == Approx(11 + 1).epsilon(1e-12));
  REQUIRE(table.series[2].values[1] == Approx(11 + 1 + 30).epsilon(1e-12));
  REQUIRE(table.series[2].values[2] == Approx(11 + 40).epsilon(1e-12));
  REQUIRE(table.series[2].values[7] == Approx(11 + 40).epsilon(1e-12));
}

TEST_CASE("The width of bins doubles if a run takes longer than expected, and no values are lost") {
  const Plan plan = load_and_compute();
  SeriesSink sink(plan, 1e-5);  // the run would need 725,000 bins of this width
  feed(sink);
  const SeriesTable table = sink.table();
  REQUIRE(table.time.size() <= 10'000);
  REQUIRE(table.time.size() > 5000);
  REQUIRE(table.width == 1e-5 * 128);  // 7.25 / 64e-5 = 11,328 bins would be too many
  REQUIRE(table.time.back() == 7.25);
  double busy = 0, joules = 0, before = 0;
  for (std::size_t i = 0; i < table.time.size(); ++i) {
    busy += table.utilisation_of(0)[i] * (table.time[i] - before);
    joules += table.series[2].values[i] * (table.time[i] - before);
    before = table.time[i];
  }
  REQUIRE(busy == Approx(6).epsilon(1e-9));
  REQUIRE(joules == Approx(321.75).epsilon(1e-9));  // the same as the metric energy_j
  REQUIRE(table.series[0].values.back() == 8);
}

}  // namespace sluice
