// Tests the choices that a program makes for open settings. With more memory no run is slower or refused, explicit
// settings are hardly faster, and runs on a faster machine are hardly slower.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <map>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/run_seconds.hpp"
#include "support/campaign.hpp"
#include "support/random_case.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::plan_within;
using test::random_case;
using test::RandomCase;

constexpr double never = std::numeric_limits<double>::infinity();

/// Returns the number of cases for each policy and mode.
int cases() {
  return test::cases_of(3);
}

double seconds_of(const std::optional<Plan>& plan) {
  if (!plan) return never;
  const ReplayResult result = replay(*plan);
  return result.blocking ? never : result.makespan;
}

bool begins(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

/// Choices for replicas assume that each replica has the links to itself. So with shared links, more memory may be
/// slightly slower.
bool shares_a_link(const RandomCase& made) {
  for (const std::string& line : made.machine)
    if (line == "platform.links.host.sharing=shared") return begins(made.policy, "data_parallel");
  return false;
}

constexpr double hardly = 0.01;

/// Calls `study` with cases of every policy and mode. SLUICE_SEEDS=N adds N to every seed, and SLUICE_ONLY names
/// the only policy to study, as in "phased training".
template <class Study>
void each_case(std::uint64_t seed, const Study& study) {
  if (const char* more = std::getenv("SLUICE_SEEDS")) seed += std::strtoull(more, nullptr, 10);
  const char* const only = std::getenv("SLUICE_ONLY");
  for (const std::string& policy : test::policies_with_choices())
    for (const bool training : {false, true}) {
      const bool trains = policy == "streamed" || policy == "resident" || policy == "phased" ||
                          policy == "data_parallel resident";
      if (training && !trains) continue;
      Dice dice(seed++);
      if (only && only != policy + (training ? " training" : "")) continue;
      for (int c = 0; c < cases(); ++c) {
        const RandomCase made = random_case(dice, policy, training);
        std::string machine;
        for (const std::string& line : made.machine) machine += line + "\n";
        std::string rows = std::to_string(made.input) + ":";
        for (const test::Row& row : made.rows)
          rows += " {" + std::to_string(row.compute_ms) + ", " + std::to_string(row.weight_bytes) +
                  ", " + std::to_string(row.output_bytes) + "}";
        INFO(policy << " case " << c << " of seed " << seed - 1 << ": " << rows << "\n"
                    << made.text() << machine);
        study(dice, made);
      }
    }
}

/// The worst cases by policy, which a campaign prints.
class Worst {
 public:
  explicit Worst(const char* what) : what_(what) {}
  ~Worst() {
    if (test::campaign_factor() == 1) return;
    for (const auto& [policy, worst] : worst_)
      std::cout << what_ << ", " << policy << ": " << worst << "\n";
  }
  void see(const RandomCase& made, double value) {
    double& worst = worst_[made.policy + (made.training ? " training" : "")];
    worst = std::max(worst, value);
  }

 private:
  const char* what_;
  std::map<std::string, double> worst_;
};

TEST_CASE("for every policy, more memory is never slower and never refused", "[property]") {
  Worst worst("more memory slower by");
  int compared = 0;
  each_case(11, [&](Dice&, const RandomCase& made) {
    double before = never;
    for (int part = 1; part <= 8; ++part) {
      const std::int64_t bytes = made.all_bytes * part / 8 + 64;
      INFO(bytes << " B");
      const double now = seconds_of(plan_within(made, made.text(), bytes));
      CHECK(now <= before * (1 + (shares_a_link(made) ? hardly : 1e-9)));
      if (before < never) {
        worst.see(made, now / before - 1);
        ++compared;
      }
      before = now;
    }
  });
  CHECK(compared > 30);
}

TEST_CASE("thirty explicit settings are hardly faster than the chosen one", "[property]") {
  Worst worst("explicit settings faster by");
  int compared = 0;
  each_case(22, [&](Dice& dice, const RandomCase& made) {
    const std::int64_t bytes = made.all_bytes * static_cast<int>(2 + dice.below(7)) / 8 + 64;
    const double chosen = seconds_of(plan_within(made, made.text(), bytes));
    for (int s = 0; s < 30; ++s) {
      const std::string settings = test::random_settings(dice, made);
      INFO(bytes << " B\n" << settings);
      const double by_hand = seconds_of(plan_within(made, settings, bytes));
      if (by_hand == never) continue;
      CHECK(chosen <= by_hand * (1 + hardly));
      worst.see(made, chosen / by_hand - 1);
      ++compared;
    }
  });
  CHECK(compared > 100);
}

TEST_CASE("if the choices are open, a faster machine is hardly slower", "[property]") {
  Worst worst("faster machine slower by");
  each_case(33, [&](Dice& dice, const RandomCase& made) {
    const std::int64_t bytes = made.all_bytes * static_cast<int>(2 + dice.below(7)) / 8 + 64;
    for (const std::string what :
         {"platform.links.host.bandwidth=", "platform.devices.gpu.rate="}) {
      double before = never;
      for (int value = 100; value <= 800; value += 100) {
        const std::string rate = what.find("rate=") == std::string::npos
                                     ? std::to_string(value) + "MB/s"
                                     : "{float32: " + std::to_string(value * 5) + "MFLOP/s}";
        INFO(bytes << " B, " << what << rate);
        const double now = seconds_of(plan_within(made, made.text(), bytes, {what + rate}));
        CHECK(now <= before * (1 + hardly));
        if (before < never) worst.see(made, now / before - 1);
        before = now;
      }
    }
  });
}

// The inputs of the last group are large. If the device keeps room for one of them while the group before runs, some
// weights of the last group come late.
Plan with_large_inputs(const std::string& text) {
  return make_plan(test::small_scenario(
      4684, {{0.225, 24672, 1604}, {0.225, 179204, 15724}, {0.425, 121172, 3560}},
      "workload: {batches_per_step: 5, steps: 1}\nstages: {cut: per_layer}\n" + text,
      {"platform.links.host.bandwidth=200MB/s", "platform.devices.gpu.memory.capacity=339745B"}));
}

TEST_CASE("weights may come before the large inputs of their group") {
  const double by_hand = run_seconds(with_large_inputs(
      "fates: {strategy: offload_all}\n"
      "policy: {name: streamed, in_flight: 5, prefetch: 1, pieces: 20kB, buffers: 6}\n"));
  CHECK(run_seconds(with_large_inputs("policy: {name: streamed}\n")) <= by_hand * 1.001);
}

// No key says that only the first input of a group is loaded before the group begins. A scenario that gives the number
// of buffers leaves this choice open.
TEST_CASE("a scenario with the number of buffers that was chosen is as fast as the choice") {
  const Plan chosen = with_large_inputs("policy: {name: streamed}\n");
  const std::string text = std::get<std::string>(find_fact(chosen.facts, "chosen")->value);
  INFO(text);
  CHECK_THAT(text, Catch::Contains("buffers: 2, pieces"));
  CHECK_THAT(text, Catch::Contains("; before a group begins, only the first of its inputs is"));
  const Plan given = with_large_inputs("policy: {name: streamed, buffers: 2}\n");
  CHECK(run_seconds(given) == run_seconds(chosen));
}

// A link with a high latency needs many inputs on their way, and the device has room for fewer than eight.
TEST_CASE("more than three buffers are tried where eight do not fit") {
  const auto seconds = [](const std::string& keys) {
    return run_seconds(make_plan(test::small_scenario(
        11484, {{0.1, 104172, 10808}},
        "workload: {batches_per_step: 8, steps: 4}\nstages: {cut: per_layer}\n"
        "policy: {name: streamed, outputs: discard" +
            keys + "}\n",
        {"platform.links.host.bandwidth=200MB/s", "platform.links.host.latency=300us",
         "platform.devices.gpu.memory.capacity=176631B"})));
  };
  CHECK(seconds("") <= seconds(", buffers: 4"));
  CHECK(seconds("") <= seconds(", buffers: 6"));
}

// The best listing here is made for loads that take 1.4 times as long as the computation. This listing is also the best
// on machines with other speeds, so that it must be tried on every machine.
TEST_CASE("a faster device uses a listing of loads that is timed for a slower one") {
  const auto seconds = [](const char* rate) {
    return run_seconds(make_plan(test::small_scenario(
        896, {{0.775, 194864, 3316}, {0.625, 153536, 2080}},
        "workload: {mode: training, batch: 5, micro_batch: 1, steps: 4, optimizer: adam}\n"
        "stages: {cut: per_layer}\nfates: {strategy: sqrt}\npolicy: {name: phased}\n",
        {"platform.links.host.bandwidth=50MB/s", "platform.links.host.setup=3us",
         "platform.devices.gpu.count=2", "platform.links.host.sharing=private",
         "platform.devices.gpu.memory.capacity=1089094B",
         std::string("platform.devices.gpu.rate.float32=") + rate})));
  };
  double before = seconds("1GFLOP/s");
  for (const char* rate : {"1.5GFLOP/s", "2GFLOP/s", "2.5GFLOP/s", "3GFLOP/s", "4GFLOP/s"}) {
    INFO(rate);
    const double now = seconds(rate);
    CHECK(now <= before * (1 + hardly));
    before = now;
  }
}

}  // namespace
}  // namespace sluice
