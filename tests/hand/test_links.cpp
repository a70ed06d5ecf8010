// Tests links, latency, memory and the clock, on plans that are written as text. The times are calculated by hand.
#include <catch2/catch.hpp>

#include <map>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"

namespace sluice {
namespace {

struct Times {
  double start, end, available;
};

/// Executes a plan. Returns the times of each action's last execution, by the name of the action.
std::map<std::string, Times> run_text(const std::string& text) {
  const Plan plan = plan_from_text("format: sluice-plan/1\n" + text, "test.plan");
  check(plan);
  std::map<std::string, Times> times;
  for (const Span& span : execute_isolated(plan).spans)
    times[name_of(plan.actions[span.action])] = {span.start, span.end, span.available};
  return times;
}

Approx s(double seconds) {
  return Approx(seconds).epsilon(1e-9).margin(1e-12);
}

const std::string two_devices = R"(
link host bandwidth=10B/s
route host>a links=host
route host>b links=host
stream a.compute kind=compute device=a
stream a.in kind=copy device=a
stream b.in kind=copy device=b
tensor x class=input bytes=100
prologue:
)";

TEST_CASE(
    "two devices behind one host link get half of the bandwidth each while both devices "
    "transfer") {
  // Two transfers of 100 B share 10 B/s. Each gets 5 B/s and ends at 20 s.
  const auto both = run_text(two_devices + R"(
a on=a.in kind=load moves=x route=host>a bytes=100
b on=b.in kind=load moves=x route=host>b bytes=100
)");
  CHECK(both.at("a").end == s(20));
  CHECK(both.at("b").end == s(20));
}

TEST_CASE("a flow that starts later gets half of the link from then on") {
  // Until 5 s, only transfer a uses the link, and moves 50 B. Then a and b get 5 B/s each, and the
  // last 50 B of a arrive at 15 s. At 15 s, b has 50 B left, and gets the whole link for 5 s.
  const auto times = run_text(two_devices + R"(
wait on=a.compute kind=forward seconds=5
a on=a.in kind=load moves=x route=host>a bytes=100
b on=b.in kind=load moves=x route=host>b bytes=100 waits=wait
)");
  CHECK(times.at("a").end == s(15));
  CHECK(times.at("b").start == s(5));
  CHECK(times.at("b").end == s(20));
}

const std::string both_ways = R"(
stream in kind=copy device=a
stream out kind=copy device=a
tensor x class=input bytes=100
prologue:
a on=in kind=load moves=x route=in bytes=100
b on=out kind=save moves=x route=out bytes=100
)";

TEST_CASE("both directions share a half-duplex link, but do not share a full-duplex link") {
  const auto half = run_text(
      "link host bandwidth=10B/s\nroute in links=host\nroute out links=host\n" + both_ways);
  CHECK(half.at("a").end == s(20));
  CHECK(half.at("b").end == s(20));
  const auto full = run_text(
      "link down bandwidth=10B/s\nlink up bandwidth=10B/s\nroute in links=down\nroute out "
      "links=up\n" +
      both_ways);
  CHECK(full.at("a").end == s(10));
  CHECK(full.at("b").end == s(10));
}

TEST_CASE(
    "links are shared max-min fairly: bandwidth that a flow cannot use goes to the other flow") {
  // Transfer a crosses both links and gets the 4 B/s of the slow link. Transfer b gets the remaining 6 B/s of the fast
  // link. Transfer b takes 90 / 6 = 15 s. Transfer a has 4 B/s all the time, so it takes 100 / 4 = 25 s.
  const auto times = run_text(R"(
link shared bandwidth=10B/s
link slow bandwidth=4B/s
route a links=shared,slow
route b links=shared
stream a kind=copy
stream b kind=copy
tensor x class=input bytes=100
prologue:
a on=a kind=load moves=x route=a bytes=100
b on=b kind=load moves=x route=b bytes=90
)");
  CHECK(times.at("a").end == s(25));
  CHECK(times.at("b").end == s(15));
}

TEST_CASE("latency delays the arrival, but occupies neither the engine nor the link") {
  // Two transfers take 10 s each. The route adds a latency of 3 s. The transfers end at 10 s and 20 s, and their data
  // arrive at 13 s and 23 s. One action uses the first tensor. This action starts at 13 s, while the second transfer is
  // on the link.
  const std::string text = R"(
stream in kind=copy
stream compute kind=compute
tensor x class=input bytes=100
prologue:
first on=in kind=load moves=x route=in bytes=100
second on=in kind=load moves=x route=in bytes=100
use on=compute kind=forward seconds=1 waits=first
last on=compute kind=forward seconds=1 waits=second
)";
  for (const bool shared : {false, true}) {
    std::string links = "link down bandwidth=10B/s\nroute in links=down latency=3s\n";
    if (shared) links += "stream other kind=copy\nroute other links=down\n";
    const auto times = run_text(
        links + text + (shared ? "z on=other kind=load moves=x route=other bytes=0\n" : ""));
    CHECK(times.at("first").end == s(10));
    CHECK(times.at("first").available == s(13));
    CHECK(times.at("second").end == s(20));
    CHECK(times.at("use").start == s(13));
    CHECK(times.at("last").start == s(23));
  }
}

TEST_CASE("setup occupies the copy engine, but not the link") {
  // Two engines share one link of 10 B/s. Transfer a has 4 s of setup and 100 B. Transfer b has 30 B and no setup.
  // Transfer b has the link to itself until 3 s. The bytes of transfer a are on the link from 4 s to 14 s. The transfer
  // `again` follows transfer a on the same engine. Its bytes are on the link from 18 s to 28 s.
  const auto times = run_text(R"(
link host bandwidth=10B/s
route a links=host setup=4s
route b links=host
stream a kind=copy
stream b kind=copy
tensor x class=input bytes=100
prologue:
a on=a kind=load moves=x route=a bytes=100
again on=a kind=load moves=x route=a bytes=100
b on=b kind=load moves=x route=b bytes=30
)");
  CHECK(times.at("b").end == s(3));
  CHECK(times.at("a").start == s(0));
  CHECK(times.at("a").end == s(14));
  CHECK(times.at("again").end == s(28));
}

/// Executes a plan with two streams. After `start` seconds, each stream runs a chain of a million kernels.
std::map<std::string, Times> chains(const std::string& start) {
  return run_text(
      "iterations 1000000\nstream a kind=compute\nstream b kind=compute\nprologue:\n"
      "start_a on=a kind=forward seconds=" +
      start +
      "\n"
      "start_b on=b kind=forward seconds=" +
      start +
      "\nbody:\n"
      "a on=a kind=forward seconds=1e-6\nb on=b kind=forward seconds=1.0001e-6\n");
}

TEST_CASE(
    "two chains of a million kernels of 1 us and 1.0001 us end at the times that arithmetic "
    "gives") {
  const auto times = chains("0");
  CHECK(times.at("a").end == Approx(1.0).epsilon(1e-9));
  CHECK(times.at("b").end == Approx(1.0001).epsilon(1e-9));
}

TEST_CASE(
    "two chains of a million kernels that begin at 1000 s end at the times that arithmetic "
    "gives, to 1e-7 of their length") {
  const auto times = chains("1000");
  CHECK(times.at("a").end - 1000 == Approx(1.0).epsilon(1e-7));
  CHECK(times.at("b").end - 1000 == Approx(1.0001).epsilon(1e-7));
}

TEST_CASE(
    "a pool of one device grants in listing order, and a shared pool grants first come, first "
    "served") {
  // The pool has 10 B. The action 'first' is listed first, but does not request its bytes before 5
  // s. The action 'second' requests its bytes at 0 s, and holds them for 2 s.
  const std::string text = R"(
stream a kind=compute
stream b kind=compute
tensor t class=activation bytes=10
tensor u class=activation bytes=10
prologue:
delay on=a kind=forward seconds=5
first on=a kind=forward seconds=1 allocates=t@pool uses=t@pool
second on=b kind=forward seconds=2 allocates=u@pool uses=u@pool
)";
  const auto owned = run_text("pool pool capacity=10B\n" + text);
  CHECK(owned.at("first").start == s(5));
  CHECK(owned.at("second").start == s(6));
  const auto shared = run_text("pool pool capacity=10B shared\n" + text);
  CHECK(shared.at("second").start == s(0));
  CHECK(shared.at("first").start == s(5));
}

TEST_CASE(
    "a blocked plan reports the pool, the time, the actions that wait, and the tensors that "
    "occupy the memory") {
  const std::string text = R"(format: sluice-plan/1
pool gpu capacity=100B
stream compute kind=compute
tensor kept class=weight bytes=70
tensor wanted class=activation bytes=40
prologue:
hold on=compute kind=forward seconds=2 allocates=kept@gpu
ask on=compute kind=forward seconds=1 allocates=wanted@gpu uses=wanted@gpu,kept@gpu
)";
  const Plan plan = plan_from_text(text, "test.plan");
  std::string told;
  try {
    check(plan);
  } catch (const Infeasible& error) {
    told = error.what();
  }
  CHECK_THAT(told, Catch::Contains("out of memory at 2 s"));
  CHECK_THAT(told, Catch::Contains("compute: ask waits for 40 B"));
  CHECK_THAT(told, Catch::Contains("gpu: 70 B"));
  CHECK_THAT(told, Catch::Contains("kept (weight) 70 B"));
  std::string simulated;
  try {
    execute_isolated(plan);
  } catch (const Infeasible& error) {
    simulated = error.what();
  }
  CHECK(simulated == told);
}

}  // namespace
}  // namespace sluice
