// In the steady state, the replay skips periods and repeats an earlier period instead. The result must equal the result
// of a replay that executes every period.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <tuple>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "metrics/totals.hpp"
#include "plan/text.hpp"
#include "support/campaign.hpp"
#include "support/random_plan.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

/// Counts the spans that arrive one by one. A replay that skips periods reports the skipped periods by repeat(). Of
/// these, notes only the number of repetitions and the number of iterations of a period.
class Walked final : public Sink {
 public:
  void span(const Span&) override { ++spans; }
  void memory(const MemoryEvent&) override {}
  void repeat(const Repetition& r) override {
    times += r.times;
    period = r.iterations;
  }
  std::int64_t spans = 0, times = 0, period = 0;
};

/// Checks that two sums of seconds are equal except for rounding. They may differ by at most 1e-12 of the makespan.
void check_close(double a, double b, double makespan) {
  if (std::isnan(a) && std::isnan(b)) return;
  CHECK(a == Approx(b).epsilon(1e-12).margin(1e-12 * makespan));
}

void check_same_metrics(const Totals& jumped, const Totals& walked) {
  const double makespan = walked.makespan();
  check_close(jumped.makespan(), makespan, makespan);
  CHECK(jumped.complete());
  CHECK(jumped.middle_complete().has_value() == walked.middle_complete().has_value());
  for (const Metric* metric : metric_catalog().entries()) {
    INFO(metric->name);
    const SummaryValue a = metric->value(jumped), b = metric->value(walked);
    if (a.kind == SummaryValue::Kind::number) check_close(a.number, b.number, makespan);
    CHECK(a.text == b.text);
    REQUIRE(a.keyed.size() == b.keyed.size());
    for (std::size_t i = 0; i < a.keyed.size(); ++i)
      check_close(a.keyed[i].number, b.keyed[i].number, makespan);
  }
}

/// Checks three things: the spans are in the order of their ends, the spans of one stream do not overlap, and the
/// memory events are in the order of their times.
void check_order(const Plan& plan, const MemorySink& sink) {
  std::vector<double> free_at(plan.streams.size(), 0);
  double last = 0;
  bool ordered = true, apart = true;
  for (const Span& span : sink.spans) {
    double& free = free_at[plan.actions[span.action].stream];
    ordered = ordered && span.end >= last;
    apart = apart && span.start >= free && span.end >= span.start && span.available >= span.end;
    last = free = span.end;
  }
  CHECK(ordered);
  CHECK(apart);
  CHECK(std::is_sorted(sink.events.begin(), sink.events.end(),
                       [](const auto& a, const auto& b) { return a.time < b.time; }));
}

/// Sorts the spans by action and iteration, and drops the memory events. Rounding may give different times to what
/// happens at one moment. So two traces may list the spans and events of one moment in different orders.
void sort(MemorySink& sink) {
  const auto key = [](const Span& s) { return std::tie(s.action, s.iteration); };
  std::sort(sink.spans.begin(), sink.spans.end(),
            [&](const Span& a, const Span& b) { return key(a) < key(b); });
  sink.events.clear();
}

/// Compares a replay that skips periods with a replay that executes every action. Their spans, memory events, metrics
/// and peaks must be equal. Returns the number of iterations of the period, or 0 if no period was found. The caller
/// sets `exact` if all times are sums of binary fractions, which are not rounded. Then both replays must also list
/// spans and events in the same order.
std::int64_t compare(const Plan& plan, bool exact = false) {
  MemorySink jumped, walked;
  Totals jumped_totals(plan), walked_totals(plan);
  const ReplayResult a = replay(plan, jumped), b = replay(plan, walked, {.jumps = false});
  REQUIRE(a.blocking.has_value() == b.blocking.has_value());
  if (a.blocking) return 0;
  CHECK(a.peaks == b.peaks);
  CHECK(a.reserved == b.reserved);
  check_close(replay(plan).makespan, b.makespan, b.makespan);
  REQUIRE(jumped.spans.size() == walked.spans.size());
  check_order(plan, jumped);
  if (!exact)
    for (MemorySink* sink : {&jumped, &walked}) sort(*sink);
  const double margin = 1e-12 * b.makespan;
  for (std::size_t i = 0; i < walked.spans.size(); ++i) {
    const Span &x = jumped.spans[i], &y = walked.spans[i];
    INFO("span " << i << ", " << name_of(plan.actions[y.action]) << " " << y.iteration);
    REQUIRE(x.action == y.action);
    REQUIRE(x.iteration == y.iteration);
    REQUIRE(std::abs(x.start - y.start) <= margin);
    REQUIRE(std::abs(x.end - y.end) <= margin);
    if (!exact) continue;
    REQUIRE(x.cause == y.cause);
    REQUIRE(x.reason == y.reason);
  }
  REQUIRE(jumped.events.size() == walked.events.size());
  for (std::size_t i = 0; i < walked.events.size(); ++i) {
    REQUIRE(std::abs(jumped.events[i].time - walked.events[i].time) <= margin);
    REQUIRE(jumped.events[i].level == walked.events[i].level);
  }
  replay(plan, jumped_totals);
  replay(plan, walked_totals, {.jumps = false});
  check_same_metrics(jumped_totals, walked_totals);
  Walked counted;
  replay(plan, counted);
  return counted.period;
}

const char* const head = R"(format: sluice-plan/1
name "steady"
iterations 2000
pool gpu capacity=100B
pool host capacity=unlimited shared
link down bandwidth=8B/s
route host>gpu links=down setup=0.25s latency=0.125s
stream gpu.compute kind=compute device=gpu
stream gpu.down kind=copy device=gpu
tensor w class=weight bytes=7 home=host
tensor x class=input bytes=40
stage s
)";

TEST_CASE("a load and a computation that repeat in each iteration have a period of one iteration") {
  // A load takes 0.25 s of setup and 5 s on the link. A computation takes 6 s. The memory of 100 B has room for two
  // inputs of 40 B, so one input is loaded while the device computes on the other.
  const Plan plan = plan_from_text(std::string(head) + R"(prologue:
body:
L on=gpu.down kind=load stage=0 micro_batch=0 moves=x route=host>gpu bytes=40 allocates=x@gpu
F on=gpu.compute kind=forward stage=0 micro_batch=0 samples=1 samples_done=1 seconds=6 waits=L uses=x@gpu
epilogue:
)",
                                   "steady");
  check(plan);
  CHECK(compare(plan, true) == 1);
  // The first load takes 5.25 s, and its data arrive 0.125 s later. From then on, the computations follow each other
  // without a pause.
  CHECK(replay(plan).makespan == Approx(5.25 + 0.125 + 2000 * 6).epsilon(1e-13));
}

/// Returns a plan with the actions A, B and C. In each iteration, B waits for A, and C waits for B. A waits for the C
/// of `distance` iterations ago. If the path A, B, C takes longer than `distance` runs of A, then A runs `distance`
/// times without a pause, waits for the path, and so on.
std::string grouped(int distance) {
  std::ostringstream text;
  text << head << "stream other kind=compute device=gpu\nprologue:\nbody:\n"
       << "A on=gpu.compute kind=forward stage=0 micro_batch=0 samples=1 seconds=1 waits=C~"
       << distance << "\nB on=gpu.down kind=load stage=0 micro_batch=0 moves=w route=host>gpu "
       << "bytes=1 waits=A\nC on=other kind=forward stage=0 micro_batch=0 samples=1 seconds=0.0625 "
       << "waits=B\nepilogue:\n";
  return text.str();
}

TEST_CASE("a period may be several iterations") {
  // A runs `distance` times in `distance` seconds, but the path through B and C takes more than twice as long. So A
  // runs `distance` times without a pause, then waits for the path, and so on. A period is one such group of `distance`
  // iterations.
  for (const int distance : {2, 7}) {
    INFO("distance " << distance);
    Plan plan = plan_from_text(grouped(distance), "grouped");
    plan.routes[0].latency_s = 2.0 * distance;
    check(plan);
    CHECK(compare(plan, true) == distance);
  }
}

TEST_CASE("a plan whose times never repeat is executed action by action") {
  // The two streams do not wait for each other. An iteration takes 1 s on the first stream and sqrt(2) s on the second.
  // The ratio of these seconds is irrational, so the times never repeat.
  const Plan plan = plan_from_text(std::string(head) + R"(stream other kind=compute device=gpu
prologue:
body:
A on=gpu.compute kind=forward stage=0 micro_batch=0 samples=1 seconds=1
B on=other kind=forward stage=0 micro_batch=0 samples=1 seconds=1.4142135623730951
epilogue:
)",
                                   "apart");
  CHECK(compare(plan) == 0);
  Walked counted;
  replay(plan, counted);
  CHECK(counted.spans == 4000);
}

/// Returns a plan whose body has `actions` actions on two streams. Each action takes a different time, and waits for
/// the action before it.
std::string long_body(int actions) {
  std::ostringstream text;
  text << head << "stream other kind=compute device=gpu\nprologue:\nbody:\n";
  text.precision(17);
  for (int a = 0; a < actions; ++a) {
    text << "A" << a << " on=" << (a % 3 ? "gpu.compute" : "other")
         << " kind=forward stage=0 micro_batch=0 samples=1 seconds=" << 1e-6 * std::sqrt(2.0 + a);
    text << " waits=A" << (a > 0 ? a - 1 : actions - 1) << (a > 0 ? "" : "~1") << "\n";
  }
  text << "epilogue:\n";
  return text.str();
}

TEST_CASE("the rounding of times in a long iteration does not hide that the iteration repeats") {
  constexpr int actions = 3000;
  const Plan plan = plan_from_text(long_body(actions), "long");
  double seconds = 0;
  for (const Action& action : plan.actions) seconds += action.seconds;
  MemorySink sink;
  const ReplayResult result = replay(plan, sink, {.until_period = true});
  REQUIRE(result.period);
  CHECK(result.period->iterations == 1);
  CHECK(result.period->seconds == Approx(seconds).epsilon(1e-11));
  // No wait reaches back more than one iteration. So the state after each iteration is the same from iteration 1 on.
  // The replay stops when it sees this state for the third time. At this moment, the stream of A0 has finished its
  // actions of the third iteration. The last two actions of this iteration are on the other stream and have not yet
  // run.
  CHECK(sink.spans.size() == 3 * actions - 2);
  CHECK(compare(plan) == 1);
}

TEST_CASE("a caller that asks only for the period gets spans, but no memory events") {
  const Plan plan = plan_from_text(std::string(head) + R"(prologue:
body:
L on=gpu.down kind=load stage=0 micro_batch=0 moves=x route=host>gpu bytes=40 allocates=x@gpu
F on=gpu.compute kind=forward stage=0 micro_batch=0 samples=1 samples_done=1 seconds=6 waits=L uses=x@gpu
epilogue:
)",
                                   "spans");
  MemorySink whole, spans;
  replay(plan, whole, {.jumps = false});
  replay(plan, spans, {.jumps = false, .until_period = true});
  // There is one event for the weights, which are in their home from the start. For each of 2000 inputs, there are two
  // events: the input is loaded, and it is freed.
  CHECK(whole.events.size() == 1 + 2 * 2000);
  CHECK(spans.events.empty());
  REQUIRE(spans.spans.size() == whole.spans.size());
  for (std::size_t i = 0; i < whole.spans.size(); ++i)
    REQUIRE(spans.spans[i].end == whole.spans[i].end);
}

TEST_CASE(
    "skipping periods and executing all periods give equal results for random plans of 200 iterations, also with "
    "shared links",
    "[property]") {
  int jumped = 0;
  for (unsigned seed = 1; seed <= test::cases_of(400u); ++seed) {
    INFO("seed " << seed);
    Plan plan = test::random_plan(seed, {.ties = seed % 2 == 0, .shared_links = seed % 4 < 2});
    plan.iterations = 200;
    jumped += compare(plan, seed % 4 == 2) > 0;
  }
  CHECK(jumped > 100);
}

}  // namespace
}  // namespace sluice
