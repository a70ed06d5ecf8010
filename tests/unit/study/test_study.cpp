// Tests processes that run in parallel, the measurements that are made in them, and the comparison of two policies.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/processes.hpp"
#include "command/check/report.hpp"
#include "document/load.hpp"
#include "support/bad_input.hpp"
#include "support/check_case.hpp"
#include "support/small_case.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("Answers of processes are in the order of their numbers, whichever process ends first") {
  const auto work = [](std::size_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 3 == 0 ? 30 : 0));
    // The longest answers have more bytes than a pipe can hold.
    return std::to_string(i) + std::string(i * 20'000, 'x');
  };
  for (const std::size_t jobs : {1, 3, 16}) {
    std::size_t told = 0;
    const auto answers = run_in_processes(10, jobs, work, [&](std::size_t done) { told = done; });
    REQUIRE(answers.size() == 10);
    CHECK(told == 10);
    for (std::size_t i = 0; i < 10; ++i) {
      CHECK(answers[i].fault == "");
      CHECK(answers[i].text == work(i));
    }
  }
  CHECK(run_in_processes(0, 4, work).empty());
}

TEST_CASE("A process that dies or throws is one error among the answers") {
  const auto answers = run_in_processes(4, 2, [](std::size_t i) -> std::string {
    if (i == 1) ::raise(SIGKILL);
    if (i == 2) throw InternalError("not so");
    return "fine";
  });
  CHECK(answers[0].text == "fine");
  CHECK_THAT(answers[1].fault, Contains("its process died: Killed"));
  CHECK(answers[2].fault == "not so");
  CHECK(answers[3].text == "fine");
}

TEST_CASE(
    "A process that uses up its own memory limit does not report that the computer has no memory") {
  const auto without_memory = []() -> std::string { ::_exit(ended_without_memory); };
  CHECK_THROWS_WITH(run_isolated(without_memory), StartsWith(out_of_memory));
  CHECK_THROWS_AS(run_isolated(without_memory, {.more_bytes = std::int64_t{1} << 30}), ChildDied);
  CHECK_THROWS_WITH(run_isolated(without_memory, {.more_bytes = std::int64_t{1} << 30}),
                    "its process ran out of memory");
}

TEST_CASE("A measurement is passed between processes unchanged") {
  Measurement measurement = same();
  CHECK(packed(unpacked(packed(measurement))) == packed(measurement));
  measurement = measure([]() -> Subject { throw InputError("a\nb"); });
  CHECK(measurement.error_code == 3);
  CHECK(unpacked(packed(measurement)).error == "a\nb");
  measurement = measure([] {
    return Subject{"s", Baseline::Input::scenario, "x: 1\n",
                   []() -> Plan { throw Infeasible("out of memory at 3 s:\n  details"); }};
  });
  CHECK(measurement.error_code == 0);
  CHECK(measurement.baseline.outcome == Baseline::Outcome::infeasible);
  CHECK(measurement.baseline.message == "out of memory at 3 s");
  CHECK(measurement.plan.empty());
}

namespace {

std::string policy_of(const std::string& choice, const std::string& scenario) {
  const Value document = PolicyChoice(choice).applied_to(parse_text(scenario, "s.yaml"));
  return to_yaml(document);
}

}  // namespace

TEST_CASE(
    "A policy given only by its name takes the parameters of the scenario's policy that it has, too") {
  const std::string scenario =
      "policy: {name: streamed, overlap: false, prefetch: 3}\nphases: {activations: on_chip}\n";
  CHECK(policy_of("resident", scenario) == "policy:\n  name: resident\n  overlap: false\n");
  CHECK(policy_of("streamed", scenario) ==
        "policy:\n  name: streamed\n  overlap: false\n  prefetch: 3\n");
  CHECK(policy_of("{name: streamed, prefetch: 0}", scenario) ==
        "policy:\n  name: streamed\n  prefetch: 0\n");
  CHECK_THAT(policy_of("phased", scenario), Contains("activations: on_chip"));
  CHECK_THAT(policy_of("{name: data_parallel, replica: phased}", scenario),
             Contains("activations: on_chip"));
}

TEST_CASE(
    "An unknown policy, and an unknown parameter of a policy, are refused at their position") {
  CHECK_THAT(error_of([] { PolicyChoice("streamd"); }), Contains("did you mean 'streamed'"));
  CHECK_THAT(error_of([] { PolicyChoice("{name: streamed, prefetsch: 0}"); }),
             Contains("did you mean 'prefetch'"));
  CHECK_THAT(error_of([] { PolicyChoice("3"); }), Contains("expected a policy's name"));
}

TEST_CASE(
    "In a comparison of two policies, a policy that does not fit does not affect the other policy") {
  // Three layers have 1 MB of weights each. A device of 2.5 MB has no room for all three of them together, but it has
  // room for each of them alone.
  const std::vector<test::Row> rows(3, {1, 1'000'000, 4'000});
  const std::string extra =
      "stages: {cut: per_layer}\npolicy: {name: streamed, in_flight: 1, prefetch: 0}\n";
  const auto read = [&](const std::string&) {
    return test::small_scenario(4'000, rows, extra,
                                {"platform.devices.gpu.memory.capacity=2500kB"});
  };
  const auto results = side_by_side(
      {{"x/small.yaml"}, PolicyChoice("streamed"), PolicyChoice("resident"), 2, read, {}});
  REQUIRE(results.size() == 1);
  CHECK(results[0].name == "small");
  CHECK(results[0].a.baseline.outcome == Baseline::Outcome::complete);
  // Each of the three layers computes for 1 ms.
  CHECK(*results[0].a.baseline.entries.at({"compute_s_by_stage", "2-L"}).number ==
        Approx(1e-3).epsilon(1e-9));
  CHECK(results[0].b.baseline.outcome == Baseline::Outcome::infeasible);
  const SideBySideReport report{"streamed", "resident", results};
  CHECK(report.exit_code() == 0);
  CHECK_THAT(side_by_side_text(report), Contains("infeasible"));
}

TEST_CASE(
    "For an explicit cut, the seconds of each stage and the least seconds of the link equal a hand calculation") {
  // For each of 5 batches, the two stages compute for 1 ms and 3 ms. Their weights of 1 MB and 2 MB are loaded once,
  // which takes 3 ms at 1 GB/s. The 5 inputs of 4 kB take 0.02 ms.
  const std::vector<test::Row> rows = {{1, 1'000'000, 4'000}, {3, 2'000'000, 4'000}};
  const Scenario scenario =
      test::small_scenario(4'000, rows,
                           "stages: {cut: per_layer}\nworkload: {batches_per_step: 5}\n"
                           "policy: {name: resident, outputs: discard}\n");
  const auto measurements = measure_all(1, 1, [&](std::size_t) {
    return Subject{"s", Baseline::Input::scenario, "", [&] { return make_plan(scenario); }};
  });
  const Entries& entries = measurements[0].baseline.entries;
  REQUIRE(measurements[0].error == "");
  CHECK(*entries.at({"compute_s_by_stage", "2-L"}).number == Approx(5e-3).epsilon(1e-9));
  CHECK(*entries.at({"compute_s_by_stage", "3-L"}).number == Approx(15e-3).epsilon(1e-9));
  CHECK(*entries.at({"full_rate_s_by_link", "host.down"}).number == Approx(3.02e-3).epsilon(1e-12));
}
