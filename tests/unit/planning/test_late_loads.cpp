// Tests for which machines the loads of a round get the same places.
#include <catch2/catch.hpp>

#include "planning/training/late_loads.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

using test::Dice;
using Places = std::vector<std::int64_t>;

/// Returns a round of operations, each of which needs a load. The operations take from 1 to 8 s, and the loads from 1/4
/// to 4 s. All these times are multiples of powers of two, so that times a power of two they are exact.
Program random_round(Dice& dice) {
  Program round;
  const std::uint64_t count = 2 + dice.below(12);
  for (std::uint32_t i = 0; i < count; ++i) {
    Program::Instance instance;
    instance.first = instance.last = i;
    instance.loaded = true;
    instance.load_s = static_cast<double>(1 + dice.below(16)) / 4;
    round.instances.push_back(instance);
    Program::Operation operation;
    operation.seconds = static_cast<double>(1 + dice.below(8));
    operation.loads.push_back(i);
    operation.uses.push_back(i);
    round.operations.push_back(operation);
  }
  return round;
}

/// Returns the round on a machine whose devices and links take so many times as long.
Program on_machine(Program round, double devices, double links) {
  for (Program::Operation& operation : round.operations) operation.seconds *= devices;
  for (Program::Instance& instance : round.instances) instance.load_s *= links;
  return round;
}

Places places(Program round, double latency_s, const std::optional<Pace>& pace = {}) {
  load_late(round, {latency_s}, {pace});
  Places earliest;
  for (const Program::Load& load : round.loads) earliest.push_back(load.earliest);
  return earliest;
}

double seconds_of_operations(const Program& round) {
  double seconds = 0;
  for (const Program::Operation& operation : round.operations) seconds += operation.seconds;
  return seconds;
}

/// Returns the pace of the machine itself.
double own_pace(const Program& round) {
  double loads = 0;
  for (const Program::Instance& instance : round.instances) loads += instance.load_s;
  return loads / seconds_of_operations(round);
}

TEST_CASE("the places of loads at a given pace are the same on all machines", "[property]") {
  Dice dice(91);
  int latency_counts = 0, own_differs = 0;
  for (int c = 0; c < test::cases_of(100); ++c) {
    const Program round = random_round(dice);
    const double latency_s = static_cast<double>(1 + dice.below(12));
    const double loads = dice.one_in(2) ? 1.4 : 0.5;
    const Pace pace{loads, dice.one_in(2) ? 0.25 : 1.0};
    const Places here = places(round, latency_s, pace);
    for (const double factor : {0.25, 0.5, 2.0, 8.0}) {
      INFO("case " << c << ", factor " << factor);
      CHECK(places(on_machine(round, factor, 1), latency_s, pace) == here);
      CHECK(places(on_machine(round, 1, factor), latency_s, pace) == here);
      CHECK(places(round, factor * latency_s, pace) == here);
      if (places(on_machine(round, factor, 1), latency_s) != places(round, latency_s))
        ++own_differs;
    }
    if (here != places(round, latency_s, Pace{loads})) ++latency_counts;
  }
  CHECK(latency_counts > 20);
  CHECK(own_differs > 20);
}

TEST_CASE("at the pace of the machine itself, loads get the places that they have without a pace",
          "[property]") {
  Dice dice(92);
  for (int c = 0; c < test::cases_of(100); ++c) {
    const Program round = random_round(dice);
    const double latency_s = static_cast<double>(dice.below(12)) + 0.1;
    INFO("case " << c);
    const Pace own{own_pace(round), latency_s / seconds_of_operations(round)};
    CHECK(places(round, latency_s, own) == places(round, latency_s));
    CHECK(places(round, latency_s, Pace{own_pace(round)}) == places(round, 0));
  }
}

TEST_CASE("the loads that one operation needs come in one of three orders", "[unit]") {
  // The operation needs an activation of 2 B, weights of 3 B, and an input of 1 B.
  const std::vector<std::pair<std::int64_t, Program::Home>> needed = {
      {2, Program::Home::none}, {3, Program::Home::weights}, {1, Program::Home::input}};
  Program round;
  Program::Operation operation;
  for (const auto& [bytes, home] : needed) {
    operation.loads.push_back(static_cast<std::uint32_t>(round.instances.size()));
    Program::Instance instance;
    instance.bytes = bytes;
    instance.home = home;
    instance.first = instance.last = 0;
    instance.loaded = true;
    round.instances.push_back(instance);
  }
  round.operations.push_back(operation);
  const auto in_order = [&](LoadOrder order) {
    load_late(round, {0}, {{}, order});
    std::vector<std::uint32_t> loads;
    for (const Program::Load& load : round.loads) loads.push_back(load.instance);
    return loads;
  };
  CHECK(in_order(LoadOrder::as_listed) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(in_order(LoadOrder::smallest_first) == std::vector<std::uint32_t>{2, 0, 1});
  CHECK(in_order(LoadOrder::weights_first) == std::vector<std::uint32_t>{1, 0, 2});
}

}  // namespace
}  // namespace sluice
