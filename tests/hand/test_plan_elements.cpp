// Tests those elements of plans that only the format sluice-plan/2 has. Both executors run plans that are written by
// hand. The elements are collectives, several memories of one device, computations that read over links, `not_before`,
// the earliest time at which an action may start, and operands that were made in the iteration before.
#include <catch2/catch.hpp>

#include <map>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/totals.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"

namespace sluice {
namespace {

Plan plan_of(const std::string& text) {
  Plan plan = plan_from_text("format: sluice-plan/2\n" + text, "test.plan");
  check(plan);
  return plan;
}

Approx s(double seconds) {
  return Approx(seconds).epsilon(1e-9).margin(1e-12);
}

struct Expected {
  double start, end, available;
};
using Times = std::map<std::string, Expected>;

void check_spans(const Plan& plan, const std::vector<Span>& spans, const Times& expected) {
  CHECK(spans.size() == expected.size());
  for (const Span& span : spans) {
    const std::string name = name_of(plan.actions[span.action]);
    INFO(name);
    REQUIRE(expected.count(name) == 1);
    CHECK(span.start == s(expected.at(name).start));
    CHECK(span.end == s(expected.at(name).end));
    CHECK(span.available == s(expected.at(name).available));
  }
}

/// Checks with both executors that each action runs once, at the expected times.
void runs_as(const Plan& plan, const Times& expected) {
  {
    INFO("replay");
    std::vector<Span> spans;
    CHECK_FALSE(replay(plan, [&](const Span& span) { spans.push_back(span); }).blocking);
    check_spans(plan, spans, expected);
  }
  for (const bool direct : {true, false}) {
    INFO("SimGrid, every flow a communication: " << !direct);
    check_spans(plan, execute_isolated(plan, {.direct_links = direct}).spans, expected);
  }
}

const std::string machine = R"(
link host bandwidth=100B/s
route host>gpu links=host
route slow_start links=host setup=1s
route far links=host setup=0.5s latency=0.25s
stream gpu.compute kind=compute device=gpu
stream gpu.in kind=copy device=gpu
tensor x class=input bytes=300
tensor y class=input bytes=200
prologue:
)";

TEST_CASE(
    "a computation that reads over a link ends when its seconds have passed and its bytes "
    "have arrived",
    "[elements]") {
  // The setup takes 0.5 s, and 300 B at 100 B/s take until 3.5 s. After 0.25 s of latency, the data have arrived, and
  // waiting actions may start. In the second plan, the computation takes 4 s and hides the transfer of its bytes.
  const std::string then = "then on=gpu.in kind=load moves=y route=host>gpu waits=read\n";
  runs_as(plan_of(machine + "read on=gpu.compute kind=forward seconds=2 flows=x@far\n" + then),
          {{"read", {0, 3.5, 3.75}}, {"then", {3.75, 5.75, 5.75}}});
  runs_as(plan_of(machine + "read on=gpu.compute kind=forward seconds=4 flows=x@far\n" + then),
          {{"read", {0, 4, 4.25}}, {"then", {4.25, 6.25, 6.25}}});
}

TEST_CASE("the bytes that a computation reads share the link with a load", "[elements]") {
  // The read and the load begin at 0 s with 50 B/s each. The load of 200 B ends at 4 s. Then the read has 100 B left,
  // which come at the full rate until 5 s. In the second plan, a computation of 6 s hides the read.
  const std::string load = "load on=gpu.in kind=load moves=y route=host>gpu\n";
  runs_as(plan_of(machine + "read on=gpu.compute kind=forward seconds=2 flows=x@host>gpu\n" + load),
          {{"read", {0, 5, 5}}, {"load", {0, 4, 4}}});
  runs_as(plan_of(machine + "read on=gpu.compute kind=forward seconds=6 flows=x@host>gpu\n" + load),
          {{"read", {0, 6, 6}}, {"load", {0, 4, 4}}});
}

TEST_CASE("two flows of one computation share their link", "[elements]") {
  // The flows of 100 B and 300 B begin with 50 B/s each. The first flow ends at 2 s. Then the second flow has 200 B
  // left, which take until 4 s at 100 B/s.
  runs_as(plan_of(machine + "read on=gpu.compute kind=forward seconds=1 "
                            "flows=x@host>gpu,@host>gpu:100\n"),
          {{"read", {0, 4, 4}}});
  // The second flow begins after its setup of 1 s. The first flow is alone until 1 s, and transfers 100 B. Then both
  // flows get 50 B/s. The 100 B of the second flow take until 3 s. The last 100 B of the first flow take 1 s.
  runs_as(plan_of(machine + "read on=gpu.compute kind=forward seconds=1 "
                            "flows=x@host>gpu,@slow_start:100\n"),
          {{"read", {0, 4, 4}}});
  // An action without `seconds` sends two pieces at the same time, as in a collective.
  runs_as(plan_of(machine + "both on=gpu.in kind=send flows=x@host>gpu,y@host>gpu\n"),
          {{"both", {0, 5, 5}}});
}

TEST_CASE("in a body, computations and loads share the link in each iteration", "[elements]") {
  // The load of iteration k waits for the read of iteration k - 1. The read of iteration k begins when that read
  // ends, too, because all reads are on one stream. So the load and the read of iteration k begin together. An
  // iteration takes 5 s, as in the test above with one read and one load.
  const Plan plan = plan_from_text(
      "format: sluice-plan/2\niterations 40\n" + machine.substr(0, machine.find("prologue")) +
          "body:\nread on=gpu.compute kind=forward seconds=2 flows=x@host>gpu\n"
          "load on=gpu.in kind=load moves=y route=host>gpu waits=read~1\n",
      "test.plan");
  check(plan);
  const ReplayResult jumped = replay(plan), walked = replay(plan, ReplayOptions{.jumps = false});
  CHECK(jumped.makespan == s(40 * 5));
  CHECK(walked.makespan == s(40 * 5));
  CHECK(execute_isolated(plan).report.makespan == s(40 * 5));
}

TEST_CASE("metrics count the bytes that computations read over links", "[elements]") {
  const Plan plan = plan_of(machine +
                            "read on=gpu.compute kind=forward seconds=2 flows=x@far,@far:50\n"
                            "load on=gpu.in kind=load moves=y route=host>gpu waits=read\n");
  // The computation reads the 300 B of x and 50 B more over the route `far`. After its setup of 0.5 s, these 350 B take
  // until 4 s at 100 B/s. Then 0.25 s of latency and the load of 2 s follow.
  Totals totals(plan);
  replay(plan, totals);
  CHECK(totals.makespan() == s(6.25));
  CHECK(totals.sums().transferred_bytes == 550);
  CHECK(totals.sums().link_bytes.at(0) == 550);
  // The load is a transfer, but the read of the computation is not.
  CHECK(totals.sums().transfer_s == s(2));
  // Alone on the link, the load takes 2 s. The two flows of the read take 3 s and 0.5 s, each after a setup of 0.5 s.
  CHECK(totals.sums().link_transfer_s.at(0) == s(2 + 3.5 + 1));
  CHECK(totals.sums().compute_s == s(4));
  // The bound of the plan is at most the makespan. It is at least the bound of the link: 0.5 s before the first byte,
  // and 5.5 s for 550 B at 100 B/s.
  CHECK(totals.bound().seconds <= 6.25 + 1e-9);
  CHECK(totals.bound().seconds >= 0.5 + 5.5 - 1e-9);
}

const std::string two_memories = R"(
pool hbm capacity=100B owner=gpu
pool ddr capacity=150B owner=gpu
pool host capacity=unlimited
link host bandwidth=10B/s
link inside bandwidth=20B/s
route host>ddr links=host
route ddr>hbm links=inside
stream gpu.compute kind=compute device=gpu
stream gpu.in kind=copy device=gpu
stream gpu.inside kind=copy device=gpu
tensor a class=weight bytes=80 home=host
tensor b class=weight bytes=60 home=host
tensor c class=weight bytes=40 home=host
prologue:
)";

TEST_CASE("two memories of one device grant bytes independently", "[elements]") {
  // Loads run at 10 B/s: tensor a takes until 8 s, and tensor b takes until 14 s. Tensors a and b occupy 140 of the 150
  // B of ddr. So tensor c (40 B) waits until tensor a has moved to hbm. Moves run at 20 B/s. Tensor a moves from 8 s to
  // 12 s and frees 80 B. So tensor c is loaded after tensor b, from 14 s to 18 s. Tensor a is used from 12 s to 17 s.
  // Then hbm has room for tensor b, which moves from 17 s to 20 s. Then tensor c moves, since hbm has room for 60 + 40
  // B.
  runs_as(plan_of(two_memories + R"(
0LOAD on=gpu.in moves=a route=host>ddr allocates=a@ddr
1LOAD on=gpu.in moves=b route=host>ddr allocates=b@ddr
2LOAD on=gpu.in moves=c route=host>ddr allocates=c@ddr
0MOVE on=gpu.inside moves=a route=ddr>hbm waits=0LOAD allocates=a@hbm uses=a@ddr
0F on=gpu.compute seconds=5 waits=0MOVE uses=a@hbm
1MOVE on=gpu.inside moves=b route=ddr>hbm waits=1LOAD allocates=b@hbm uses=b@ddr
2MOVE on=gpu.inside moves=c route=ddr>hbm waits=2LOAD allocates=c@hbm uses=c@ddr
1F on=gpu.compute seconds=1 waits=1MOVE,2MOVE uses=b@hbm,c@hbm:rw
)"),
          {{"0LOAD", {0, 8, 8}},
           {"1LOAD", {8, 14, 14}},
           {"2LOAD", {14, 18, 18}},
           {"0MOVE", {8, 12, 12}},
           {"0F", {12, 17, 17}},
           {"1MOVE", {17, 20, 20}},
           {"2MOVE", {20, 22, 22}},
           {"1F", {22, 23, 23}}});
}

TEST_CASE("the name of a pool does not determine its owner", "[elements]") {
  // In the first plan, the pool "gpu" has no owner. So this pool grants bytes in the order of the requests. The first
  // request (at 0 s) is from the action that is listed last.
  const std::string text = R"(
pool gpu capacity=100B OWNER
stream one kind=compute device=gpu
stream two kind=compute device=gpu
tensor a class=activation bytes=60
tensor b class=activation bytes=60
prologue:
0UPDATE on=one seconds=1
0F on=one seconds=2 allocates=a@gpu uses=a@gpu
1F on=two seconds=2 allocates=b@gpu uses=b@gpu
)";
  const auto with = [&](const std::string& owner) {
    std::string made = text;
    return made.replace(made.find("OWNER"), 5, owner);
  };
  runs_as(plan_of(with("")), {{"0UPDATE", {0, 1, 1}}, {"1F", {0, 2, 2}}, {"0F", {2, 4, 4}}});
  runs_as(plan_of(with("owner=another")),
          {{"0UPDATE", {0, 1, 1}}, {"0F", {1, 3, 3}}, {"1F", {3, 5, 5}}});
}

/// Returns a plan as text. A ring of three devices sums 300 B in 2 (3 - 1) = 4 steps of 100 B per device.
std::string ring_of_three() {
  std::string text =
      "collective gradients kind=all_reduce devices=a,b,c algorithm=ring bytes=300\n";
  const std::string devices = "abc";
  for (const char device : devices) {
    const std::string name(1, device);
    text += "link " + name + " bandwidth=100B/s\nroute " + name + " links=" + name +
            " latency=0.5s\nstream " + name + " kind=copy device=" + name + "\n";
  }
  text += "tensor g class=gradient bytes=300\nprologue:\n";
  for (std::size_t d = 0; d < 3; ++d)
    for (int step = 0; step < 4; ++step) {
      const std::string name(1, devices[d]);
      text += std::to_string(d) + "ALL_REDUCE" + std::to_string(step) + " on=" + name +
              " moves=g route=" + name + " bytes=100 collective=gradients";
      if (step > 0)
        text += " waits=" + std::to_string((d + 2) % 3) + "ALL_REDUCE" + std::to_string(step - 1);
      text += "\n";
    }
  return text;
}

TEST_CASE(
    "a ring of n devices sums g bytes in 2 (n - 1) (g / (n B) + latency) seconds at B bytes per "
    "second",
    "[elements]") {
  // Each of the four steps takes 1 s for 100 B and 0.5 s of latency. So the last piece arrives at 6 s.
  const Plan plan = plan_of(ring_of_three());
  REQUIRE(plan.collectives.size() == 1);
  CHECK(plan.collectives[0].devices == std::vector<std::string>{"a", "b", "c"});
  Times expected;
  for (int d = 0; d < 3; ++d)
    for (int step = 0; step < 4; ++step)
      expected[std::to_string(d) + "ALL_REDUCE" + std::to_string(step)] = {
          1.5 * step, 1.5 * step + 1, 1.5 * (step + 1)};
  runs_as(plan, expected);
  CHECK(replay(plan).makespan == s(4 * (300.0 / (3 * 100) + 0.5)));
  for (const Action& action : plan.actions) CHECK(action.collective == 0);
}

TEST_CASE(
    "not_before delays an action until the given time, unless this time has "
    "passed",
    "[elements]") {
  // Action 0F ends at 2 s. Action 1F must wait until 5 s and ends at 6 s. At 6 s, the `not_before` of action 2F has
  // already passed. The two iterations of the body run from 7 s to 11 s. The epilogue is ready at 11 s, but it starts
  // at 20 s.
  const Plan plan = plan_from_text(R"(format: sluice-plan/2
iterations 2
stream gpu.compute kind=compute device=gpu
prologue:
0F on=gpu.compute seconds=2
1F on=gpu.compute seconds=1 not_before=5s
2F on=gpu.compute seconds=1 not_before=5500ms
body:
3F on=gpu.compute seconds=2
epilogue:
4F on=gpu.compute seconds=1 not_before=20s waits=body:3F
)",
                                   "test.plan");
  check(plan);
  const std::vector<std::pair<double, double>> expected = {{0, 2}, {5, 6},  {6, 7},
                                                           {7, 9}, {9, 11}, {20, 21}};
  const auto right = [&](const std::vector<Span>& spans) {
    REQUIRE(spans.size() == expected.size());
    for (std::size_t i = 0; i < spans.size(); ++i) {
      CHECK(spans[i].start == s(expected[i].first));
      CHECK(spans[i].end == s(expected[i].second));
    }
    CHECK(spans[1].waited == s(3));
    // Action 1F waited neither for another action nor for memory.
    CHECK(spans[1].reason == WaitReason::none);
    CHECK(spans[5].waited == s(9));
  };
  std::vector<Span> spans;
  replay(plan, [&](const Span& span) { spans.push_back(span); });
  right(spans);
  right(execute_isolated(plan).spans);
  Totals totals(plan);
  replay(plan, totals);
  CHECK(totals.bound().seconds == s(21));
}

TEST_CASE("with not_before and a long body, the replay still skips periods", "[elements]") {
  // The body takes 1000 x 1 s on one stream. At 500.25 s, another stream requests memory that the body holds.
  const Plan plan = plan_from_text(R"(format: sluice-plan/2
iterations 1000
pool gpu capacity=100B owner=gpu
stream gpu.compute kind=compute device=gpu
stream other kind=compute device=gpu
tensor a class=activation bytes=60
prologue:
0F on=other seconds=1 not_before=500.25s
body:
1F on=gpu.compute seconds=1 allocates=a@gpu uses=a@gpu
epilogue:
2F on=other seconds=1 not_before=1234.5s
)",
                                   "test.plan");
  check(plan);
  const auto times_of = [&](const ReplayOptions& options) {
    struct Keep final : Sink {
      void span(const Span& span) override { spans.push_back(span); }
      void memory(const MemoryEvent&) override {}
      std::vector<Span> spans;
    } keep;
    replay(plan, keep, options);
    return keep.spans;
  };
  const std::vector<Span> jumped = times_of({}), walked = times_of({.jumps = false});
  REQUIRE(jumped.size() == 1002);
  REQUIRE(walked.size() == 1002);
  for (std::size_t i = 0; i < walked.size(); ++i) {
    CHECK(jumped[i].action == walked[i].action);
    CHECK(jumped[i].start == s(walked[i].start));
  }
  CHECK(walked.back().start == s(1234.5));
}

/// Returns a plan in which each iteration adds to the sum of the iteration before, for 2 s. The device holds both.
std::string sums(const std::string& capacity, const std::string& operand = "sum~1") {
  return R"(format: sluice-plan/2
iterations 3
pool gpu capacity=)" +
         capacity + R"( owner=gpu
stream gpu.compute kind=compute device=gpu
tensor sum class=gradient bytes=60
tensor x class=input bytes=10 home=gpu
prologue:
0F on=gpu.compute seconds=1 ahead=-1 allocates=sum@gpu
body:
1F on=gpu.compute seconds=2 waits=prologue:0F,1F~1 allocates=sum@gpu uses=)" +
         operand + R"(@gpu
epilogue:
2F on=gpu.compute seconds=4 waits=body:1F uses=sum~1@gpu
)";
}

TEST_CASE("an action may use the tensor that the iteration before has made", "[elements]") {
  const Plan plan = plan_from_text(sums("130B"), "test.plan");
  check(plan);
  CHECK(replay(plan).makespan == s(1 + 3 * 2 + 4));
  CHECK(replay(plan).peaks[0] == 10 + 2 * 60);
  CHECK(execute_isolated(plan).report.makespan == s(1 + 3 * 2 + 4));
  Plan longer = plan;
  longer.iterations = 1'000'000;
  check(longer);
  CHECK(replay(longer).makespan == s(1 + 2e6 + 4));
  CHECK_THROWS_AS(check(plan_from_text(sums("129B"), "test.plan")), Infeasible);
  CHECK_THROWS_WITH(check(plan_from_text(sums("130B", "sum~1@gpu,x~1"), "test.plan")),
                    Catch::Contains("no action of the body allocates the tensor"));
  CHECK_THROWS_WITH(plan_from_text(sums("130B", "sum~70000"), "test.plan"),
                    Catch::Contains("a number of iterations from 0 to 65535"));
}

// In a run of three iterations, no action uses the sum of the middle one. Before, this was taken for a sum that the
// body never releases.
TEST_CASE("a short run may have no iteration that uses the tensor of two iterations before",
          "[elements]") {
  std::string text = sums("250B", "sum~2");
  text.insert(text.find("body:"),
              "0F1 on=gpu.compute seconds=1 ahead=-2 waits=0F allocates=sum@gpu\n");
  const Plan plan = plan_from_text(text, "test.plan");
  check(plan);
  CHECK(replay(plan).makespan == s(2 + 3 * 2 + 4));
  CHECK(execute_isolated(plan).report.makespan == s(2 + 3 * 2 + 4));
  CHECK_THROWS_WITH(check(plan_from_text(sums("250B", "x"), "test.plan")),
                    Catch::Contains("never releases it: list the tensor in 'uses'"));
  std::string elsewhere = sums("250B", "sum~2@host,x");
  elsewhere.insert(elsewhere.find("stream gpu.compute"), "pool host capacity=1kB\n");
  CHECK_THROWS_WITH(check(plan_from_text(elsewhere, "test.plan")),
                    Catch::Contains("uses it in host, and not in gpu"));
  // Without the action 0F1, the tensor of two iterations before the first one is missing.
  const Plan without = plan_from_text(sums("250B", "sum~2"), "test.plan");
  CHECK_THROWS_WITH(replay(without), Catch::Contains("of the prologue with a negative 'ahead'"));
}

}  // namespace
}  // namespace sluice
