// The placement `cached` with several devices: each first memory is a hardware cache of the device's second memory.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/placement/turns/cached_turns.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/random_devices.hpp"
#include "support/two_memory_card.hpp"
#include "support/two_memory_cards.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::on_cards;
using test::RandomDevices;
using test::Unplaced;

double seconds_of(const Scenario& scenario) {
  return test::seconds_in_both_executors(make_plan(scenario));
}

double bytes_of(const Plan& plan, const std::string& fact, const std::string& memory) {
  return find_fact(plan.facts, "cache_" + fact + "bytes", memory)->number()->value;
}

std::string shards(const std::string& more = "") {
  return "policy: {name: sharded, overlap: false, placement: cached" + more +
         "}\nworkload: {batch: 1, steps: 3}\n";
}

// Under `sharded`, the weights are loaded once, in 120 s. In each step, the input takes 4 s, the tensor between the
// devices 8 s, and the answer 2 s. The products read and write 920 and 500 bytes, in 9.2 + 5 s without misses. Misses
// and write-backs have 10 byte/s. On the first device, the weights have the addresses 0 to 799, the input 800 to 839,
// and the tensor between the devices 840 to 919. On the second device, the weights have the addresses 0 to 399, the
// tensor that has arrived 400 to 479, and the answer 480 to 499.

TEST_CASE("under sharded, what arrives at a device misses the hardware cache of this device",
          "[placement]") {
  // Both caches hold all addresses. In each step, the input misses on the first device, and the tensor between the
  // devices misses on the second device.
  const Scenario scenario = on_cards(920, 2000, shards());
  CHECK(seconds_of(scenario) == Approx(120 + 3 * (14 + 9.2 + 4 + 5 + 8)).epsilon(1e-9));
  const Plan plan = make_plan(scenario);
  CHECK(find_fact(plan.facts, "placement")->shown() == "cached");
  CHECK(bytes_of(plan, "", "gpu0") == 920);
  CHECK(bytes_of(plan, "miss_", "gpu0") == 40);
  CHECK(bytes_of(plan, "hit_", "gpu0") == 800 + 80);
  CHECK(bytes_of(plan, "", "gpu1") == 500);
  CHECK(bytes_of(plan, "miss_", "gpu1") == 80);
  CHECK(bytes_of(plan, "hit_", "gpu1") == 400 + 20);
  CHECK(bytes_of(plan, "written_back_", "gpu1") == 0);
}

TEST_CASE("under sharded, each device has a hardware cache of its own size", "[placement]") {
  // On both devices, a cache of 500 bytes is tried, because the second device has 500 addresses. On the first device,
  // only the addresses 420 to 499 do not share their places: these 80 bytes of the weights hit. The other 840 bytes
  // miss, and the 80 bytes of the output are written back. The cache of the second device holds all addresses.
  CHECK(seconds_of(on_cards(500, 2000, shards())) ==
        Approx(120 + 3 * (14 + 9.2 + 84 + 8 + 5 + 8)).epsilon(1e-9));
  // With one byte less, 15 sixteenths of the 500 addresses fit: 468 bytes. On the first device, the 16 bytes with the
  // addresses 452 to 467 hit. On the second device, the last 12 bytes of the tensor that has arrived have the places of
  // the first 12 bytes of the weights, and the 20 bytes of the answer have the places of the next 20 bytes of the
  // weights. So 80 + 32 + 20 bytes miss, and the 20 bytes of the answer are written back.
  CHECK(seconds_of(on_cards(499, 2000, shards())) ==
        Approx(120 + 3 * (14 + 9.2 + 90.4 + 8 + 5 + 13.2 + 2)).epsilon(1e-9));
}

TEST_CASE("under phased, weights miss the hardware cache of the device that computes their phase",
          "[placement]") {
  const auto phased = [](const std::string& activations) {
    return on_cards(920, 2000,
                    "policy: {name: phased, in_flight: 1, overlap: false, placement: cached}\n"
                    "phases: {activations: " +
                        activations + "}\nworkload: {batch: 1, steps: 3}\n");
  };
  // In each step, the transfers take 80 + 40 s for the weights, 4 s for the input and 2 s for the answer. The weights
  // and the input come from host memory, so they miss. The second device reads the tensor between the products through
  // the cache of the first device, in no time for the transfer, and finds it there.
  CHECK(seconds_of(phased("on_chip")) == Approx(3 * (126 + 9.2 + 84 + 5 + 40)).epsilon(1e-9));
  // Over the link between the devices, the tensor takes 8 s. Then it misses the cache of the second device.
  CHECK(seconds_of(phased("pair_link")) == Approx(3 * (134 + 9.2 + 84 + 5 + 48)).epsilon(1e-9));
  const Plan plan = make_plan(phased("on_chip"));
  CHECK(bytes_of(plan, "hit_", "gpu0") == 80 + 80);
  CHECK(bytes_of(plan, "miss_", "gpu1") == 400);
  CHECK(bytes_of(plan, "hit_", "gpu1") == 20);
}

TEST_CASE("what devices with one second memory send to each other stays beside their caches",
          "[placement]") {
  const auto seconds = [](std::int64_t first) {
    return seconds_of(on_cards(first, 2000, shards(), test::Seconds::common));
  };
  // The 80 bytes of the tensor between the devices are in both first memories. The cache of the first device has 840
  // bytes for the weights and the input. Only the input misses.
  CHECK(seconds(920) == Approx(120 + 3 * (14 + 9.2 + 4 + 5)).epsilon(1e-9));
  // With one byte less, this cache has 787 bytes. Its first 53 places have two addresses: those of the first 53 bytes
  // of the weights, and those of the last 13 bytes of the weights and of the input. All these bytes miss.
  CHECK(seconds(919) == Approx(120 + 3 * (14 + 9.2 + 10.6 + 5)).epsilon(1e-9));
}

TEST_CASE("a second device that does nothing changes nothing in a hardware cache", "[placement]") {
  for (const std::int64_t first : {100, 500, 900, 1500, 2000}) {
    const Plan one = make_plan(test::on_card(first, 2000, shards())),
               two = make_plan(on_cards(first, 2000, shards(", devices: [gpu0, gpu0]")));
    CHECK(test::seconds_in_both_executors(two) ==
          Approx(test::seconds_in_both_executors(one)).epsilon(1e-12));
    for (const char* fact : {"", "hit_", "miss_", "written_back_"})
      CHECK(bytes_of(two, fact, "") == bytes_of(one, fact, ""));
  }
}

/// Returns the bytes that miss the cache in a round of training with two micro-batches. `sums` says whether replicas
/// sum the gradients.
double misses_of_round(const std::string& resident, const std::string& optimizer, bool sums) {
  const Scenario scenario = test::on_card(
      9000, 9000,
      "policy: {name: streamed, placement: none, in_flight: 1, overlap: false, resident: " +
          resident +
          "}\nfates: keep_all\nworkload: {mode: training, batch: 2, micro_batch: 1, steps: 3, "
          "backward: per_layer, optimizer: " +
          optimizer + "}\n");
  const PlannedScenario planned = plan_scenario(scenario);
  PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
  request.sums_gradients = sums;
  PlacedPrices prices(request, {"gpu"});
  const PlacedKinds placed(prices, planned.plan, /*in_turn=*/true);
  const CachedTurns cached(prices, placed);
  return cached.round(0, cached.sizes().front().front()).miss_bytes;
}

TEST_CASE("gradients that replicas have summed miss a hardware cache", "[placement][training]") {
  for (const char* optimizer : {"sgd", "none"}) {
    INFO(optimizer);
    // Without sums, only the inputs of the two micro-batches miss. The gradients have 1200 bytes.
    CHECK(misses_of_round("all", optimizer, false) == 2 * 40);
    CHECK(misses_of_round("all", optimizer, true) == 2 * 40 + 1200);
  }
  // If gradients take turns, each of the two passes over the model brings them as another tensor. The sums are in the
  // second one, which the update reads.
  CHECK(misses_of_round("none", "sgd", true) == misses_of_round("none", "sgd", false) + 1200);
}

TEST_CASE("a hardware cache of any size is used for the same bytes, and bounds hold",
          "[placement][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    const RandomDevices random(seed);
    Unplaced unplaced(random);
    const bool in_turn = unplaced.scenario.policy.keys.map().find("overlap") != nullptr;
    const PlacedKinds placed(unplaced.prices, unplaced.planned.plan, in_turn);
    const CachedTurns cached(unplaced.prices, placed);
    const std::vector<CacheSizes> all = cached.sizes();
    const CacheSizes &largest = all.front(), &none = all.back();
    INFO("seed " << seed << "\n" << random.text());
    REQUIRE(largest.size() == random.devices().size());
    Dice dice(seed);
    for (int n = 0; n < 8; ++n) {
      const CacheSizes& sizes = all[dice.below(all.size())];
      for (std::size_t c = 0; c < sizes.size(); ++c) {
        const CachedMemory::Round &round = cached.round(c, sizes[c]), &zero = cached.round(c, 0);
        CHECK(zero.hit_bytes == 0);
        CHECK(round.hit_bytes + round.miss_bytes == Approx(zero.miss_bytes).margin(1e-6));
        CHECK(round.written_back_bytes <= zero.written_back_bytes + 1e-6);
        CHECK(cached.round(c, largest[c]).miss_bytes <= round.miss_bytes + 1e-6);
        CHECK(cached.round(c, largest[c]).written_back_bytes == 0);
      }
      const double seconds = replay(cached.plan(sizes)).makespan;
      CHECK(cached.at_least(sizes) <= seconds);
      CHECK(placed.cached_at_least() <= seconds);
      ++runs;
    }
    CHECK(none == CacheSizes(none.size(), 0));
  }
  CHECK(runs > 200);
}

}  // namespace
}  // namespace sluice
