// Tests how Sluice chooses the settings that a scenario leaves open. With more memory, no run may become slower or be
// refused. If a scenario gives settings, its run must not be much faster than with the settings that Sluice chooses. A
// faster machine may make no run much slower.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <map>

#include "base/error.hpp"
#include "base/never.hpp"
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

/// Returns how many cases are tried for each policy in each mode, inference or training.
int cases(int few) {
  return test::cases_of(few, 3);
}

/// Returns how many further cases are tried in a longer run. Their networks have up to `most_layers` layers.
int larger_cases() {
  return test::campaign_factor() == 1 ? 0 : test::cases_of(3) / 5;
}
constexpr int most_layers = 16;

double seconds_of(const std::optional<Plan>& plan) {
  if (!plan) return never;
  const ReplayResult result = replay(*plan);
  return result.blocking ? never : result.makespan;
}

constexpr double hardly = 0.01;

/// Returns the number in an environment variable, or nothing if the variable is not set.
std::optional<std::uint64_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (!text) return {};
  return std::strtoull(text, nullptr, 10);
}

/// Describes a case, so that a failure can be repeated by hand.
std::string described(const RandomCase& made) {
  std::string text = std::to_string(made.input) + ":";
  for (const test::Row& row : made.rows)
    text += " {" + std::to_string(row.compute_ms) + ", " + std::to_string(row.weight_bytes) + ", " +
            std::to_string(row.output_bytes) + "}";
  text += "\n" + made.text();
  for (const std::string& line : made.machine) text += line + "\n";
  return text;
}

/// Returns every policy with every mode that is tried: false for inference, and true for training. The position of a
/// pair decides its seed, so new pairs come last.
std::vector<std::pair<std::string, bool>> policies_and_modes() {
  std::vector<std::pair<std::string, bool>> all;
  for (const std::string& policy : test::policies_with_choices()) {
    all.emplace_back(policy, false);
    if (policy == "streamed" || policy == "resident" || policy == "phased" ||
        policy == "data_parallel resident")
      all.emplace_back(policy, true);
  }
  all.emplace_back("data_parallel streamed", true);
  all.emplace_back("data_parallel phased", true);
  return all;
}

/// Returns training by replicas on devices with different rates and memories.
std::vector<std::pair<std::string, bool>> training_on_unlike_devices() {
  std::vector<std::pair<std::string, bool>> all;
  for (const std::string replica : {"streamed", "resident", "phased"})
    all.emplace_back("data_parallel " + replica + test::on_unlike_devices, true);
  return all;
}

/// Calls `study` with random cases of these policies and modes. `draw` draws what a study needs
/// besides the case, and the study gets its result. The environment variable SLUICE_SEEDS=N adds N to every seed. The
/// variable SLUICE_ONLY restricts the cases to one policy and mode, such as "phased training", and SLUICE_CASE=N to the
/// case with the number N of each seed. If `only_training` is given, only the cases of this mode are tried. A run of all
/// tests tries `few` cases of each policy and mode.
template <class Draw, class Study>
void each_case(std::uint64_t seed, int few, const Draw& draw, const Study& study,
               const std::vector<std::pair<std::string, bool>>& tried = policies_and_modes(),
               std::optional<bool> only_training = {}) {
  seed += number_in("SLUICE_SEEDS").value_or(0);
  const char* const only = std::getenv("SLUICE_ONLY");
  const std::optional<std::uint64_t> only_case = number_in("SLUICE_CASE");
  for (const auto& [policy, training] : tried) {
    Dice dice(seed++);
    if (only && only != policy + (training ? " training" : "")) continue;
    if (only_training && *only_training != training) continue;
    for (int c = 0; c < cases(few) + larger_cases(); ++c) {
      const RandomCase made = c < cases(few) ? random_case(dice, policy, training)
                                             : random_case(dice, policy, training, most_layers);
      const auto drawn = draw(dice, made);
      if (only_case && *only_case != static_cast<std::uint64_t>(c)) continue;
      INFO(policy << " case " << c << " of seed " << seed - 1 << ": " << described(made));
      study(made, drawn);
    }
  }
}

/// Returns a random number of bytes for the memory of a device. Most plans for the case fit into it.
std::int64_t random_bytes(Dice& dice, const RandomCase& made) {
  return made.all_bytes * static_cast<int>(2 + dice.below(7)) / 8 + 64;
}

std::vector<std::string> several_settings(Dice& dice, const RandomCase& made, int count) {
  std::vector<std::string> settings;
  for (int s = 0; s < count; ++s) settings.push_back(test::random_settings(dice, made));
  return settings;
}

/// Keeps the greatest value that was seen for each policy and mode. `./dev properties` prints these values.
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

/// Compares runs with this many rising sizes of memory, or with 8 of them in a longer run. Returns how many pairs of
/// runs were compared.
int compare_rising_memory(std::uint64_t seed, int few, bool training,
                          const std::vector<std::pair<std::string, bool>>& tried, int sizes = 8) {
  if (test::campaign_factor() != 1) sizes = 8;
  Worst worst("more memory slower by");
  int compared = 0;
  const auto nothing = [](Dice&, const RandomCase&) { return 0; };
  const auto with_more_memory = [&](const RandomCase& made, int) {
    double before = never;
    for (int part = 1; part <= sizes; ++part) {
      const std::int64_t bytes = made.all_bytes * part / sizes + 64;
      INFO(bytes << " B");
      const double now = seconds_of(plan_within(made, made.text(), bytes));
      CHECK(now <= before * (1 + 1e-9));
      if (before < never) {
        worst.see(made, now / before - 1);
        ++compared;
      }
      before = now;
    }
  };
  each_case(seed, few, nothing, with_more_memory, tried, training);
  return compared;
}

TEST_CASE(
    "for every policy, inference with more memory is never slower, and is never refused if it fits into less memory",
    "[property]") {
  CHECK(compare_rising_memory(11, 2, /*training=*/false, policies_and_modes()) > 15);
}

TEST_CASE(
    "for every policy, training with more memory is never slower, and is never refused if it fits into less memory",
    "[property]") {
  CHECK(compare_rising_memory(11, 2, /*training=*/true, policies_and_modes()) > 15);
}

TEST_CASE(
    "training on unlike devices with more memory is never slower, and is never refused if it fits into less memory",
    "[property]") {
  CHECK(compare_rising_memory(55, 1, /*training=*/true, training_on_unlike_devices(), 4) > 5);
}

TEST_CASE("none of thirty explicit settings is much faster than the chosen setting", "[property]") {
  Worst worst("explicit settings faster by");
  int compared = 0;
  struct Drawn {
    std::int64_t bytes;
    std::vector<std::string> settings;
  };
  const auto draw = [](Dice& dice, const RandomCase& made) {
    const std::int64_t bytes = random_bytes(dice, made);
    return Drawn{bytes, several_settings(dice, made, 30)};
  };
  each_case(22, 2, draw, [&](const RandomCase& made, const Drawn& drawn) {
    const std::int64_t bytes = drawn.bytes;
    const double chosen = seconds_of(plan_within(made, made.text(), bytes));
    for (const std::string& settings : drawn.settings) {
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

/// Returns the least capacity in which a plan with these settings fits. In one byte less, it does not fit. Returns 0 if
/// it does not even fit in `most` bytes.
std::int64_t least_bytes(const RandomCase& made, const std::string& settings, std::int64_t most) {
  const auto fits = [&](std::int64_t bytes) {
    return seconds_of(plan_within(made, settings, bytes)) < never;
  };
  if (!fits(most)) return 0;
  std::int64_t too_few = 0;
  while (most - too_few > 1) {
    const std::int64_t bytes = too_few + (most - too_few) / 2;
    (fits(bytes) ? most : too_few) = bytes;
  }
  return most;
}

TEST_CASE("if explicit settings fit into a memory, the same memory is enough for open choices",
          "[property]") {
  int compared = 0;
  const auto draw = [](Dice& dice, const RandomCase& made) {
    return several_settings(dice, made, 4);
  };
  each_case(44, 2, draw, [&](const RandomCase& made, const std::vector<std::string>& some) {
    std::int64_t least = made.all_bytes + 64;
    std::string narrowest;
    for (const std::string& settings : some) {
      const std::int64_t bytes = least_bytes(made, settings, least);
      if (bytes == 0) continue;
      least = bytes;
      narrowest = settings;
    }
    if (narrowest.empty()) return;
    INFO(least << " B\n" << narrowest);
    CHECK(seconds_of(plan_within(made, made.text(), least)) < never);
    ++compared;
  });
  CHECK(compared > 20);
}

/// Returns the overrides of eight machines, each of them faster than the one before it: with more bandwidth to host
/// memory, with more FLOP/s, or with less latency on all links.
std::vector<std::vector<std::string>> faster_machines(const std::string& what,
                                                      const RandomCase& made) {
  std::vector<std::vector<std::string>> machines;
  for (int value = 100; value <= 800; value += 100) {
    if (what == "bandwidth")
      machines.push_back({"platform.links.host.bandwidth=" + std::to_string(value) + "MB/s"});
    if (what == "rate")
      machines.push_back(
          {"platform.devices.gpu.rate={float32: " + std::to_string(value * 5) + "MFLOP/s}"});
  }
  if (what != "latency") return machines;
  const bool pair = std::ranges::any_of(made.machine, [](const std::string& line) {
    return line.find("platform.links.pair=") != std::string::npos;
  });
  for (const std::string latency :
       {"1ms", "500us", "200us", "100us", "50us", "20us", "5us", "0us"}) {
    machines.push_back({"platform.links.host.latency=" + latency});
    if (pair) machines.back().push_back("platform.links.pair.latency=" + latency);
  }
  return machines;
}

void compare_machines(bool training) {
  Worst bandwidth("more bandwidth slower by"), rate("more FLOP/s slower by"),
      latency("less latency slower by");
  const std::vector<std::pair<std::string, Worst*>> tried = {
      {"bandwidth", &bandwidth}, {"rate", &rate}, {"latency", &latency}};
  int compared = 0;
  const auto compare = [&](const RandomCase& made, std::int64_t bytes) {
    for (const auto& [what, worst] : tried) {
      double before = never;
      for (const std::vector<std::string>& machine : faster_machines(what, made)) {
        INFO(bytes << " B, " << machine.front());
        const double now = seconds_of(plan_within(made, made.text(), bytes, machine));
        CHECK(now <= before * (1 + hardly));
        if (before < never) worst->see(made, now / before - 1);
        compared += before < never ? 1 : 0;
        before = now;
      }
    }
  };
  each_case(33, 1, random_bytes, compare, policies_and_modes(), training);
  CHECK(compared > 40);
}

TEST_CASE(
    "if the choices are open, inference on a faster machine is hardly slower than on a slower machine",
    "[property]") {
  compare_machines(/*training=*/false);
}

TEST_CASE(
    "if the choices are open, training on a faster machine is hardly slower than on a slower machine",
    "[property]") {
  compare_machines(/*training=*/true);
}

}  // namespace
}  // namespace sluice
