// Tests which cuts are compared if a scenario leaves the cut open.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scenario/open_cuts.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Returns a scenario with two devices, and with `layers` layers besides the input.
Scenario on_two_devices(std::size_t layers, const std::string& keys, const std::string& capacity) {
  const std::vector<test::Row> rows(layers, {1, 400, 40});
  return test::small_scenario(400, rows, keys,
                              {"platform.devices.gpu.count=2",
                               "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 1GB/s}",
                               "platform.devices.gpu.memory.capacity=" + capacity});
}

/// Returns the explicit cuts among the compared cuts, as texts.
std::vector<std::string> explicit_cuts(const Scenario& scenario) {
  std::vector<std::string> texts;
  for (const Chosen<Cut>& cut : open_cuts(scenario))
    if (cut->name == "explicit") texts.push_back(text_of(cut));
  return texts;
}

TEST_CASE("for a model of many layers, the compared cuts join neighbours of a few stages") {
  const std::string sharded = "policy: {name: sharded}\n";
  const std::vector<std::string> cuts = explicit_cuts(on_two_devices(14, sharded, "1MB"));
  // 14 equal layers make 7 stages of two layers each, by time and by weights. Of the 6 places between these stages, all
  // sets are cuts, except no place and all places.
  CHECK(cuts.size() == 2 * 62);
  CHECK(std::ranges::count(cuts, "cut: explicit, after: [3]") == 2);
  CHECK(std::ranges::count(cuts, "cut: explicit, after: [5, 11, 13]") == 2);
  CHECK(std::ranges::count(cuts, "cut: explicit, after: [4]") == 0);
  CHECK(explicit_cuts(on_two_devices(14, sharded, "1kB")) == cuts);  // the memory does not matter
  // In training, there are 5 stages, and so 4 places between them.
  const std::string training =
      "policy: {name: phased}\nworkload: {mode: training, batch: 2, micro_batch: 1}\n";
  CHECK(explicit_cuts(on_two_devices(14, training, "1MB")).size() == 2 * 14);
  // If the scenario gives the strategy for fates, there are also the cuts into 5 and 6 stages that join neighbours of 7
  // stages of equal weights: 15 and 6 cuts. And there are the cuts in at least 2 of the 7 places that are nearest to
  // eighths of the weights.
  const std::vector<std::string> given =
      explicit_cuts(on_two_devices(14, training + "fates: sqrt\n", "1MB"));
  CHECK(given.size() == 2 * 14 + 21 + (128 - 1 - 7));
  // The places are after layers 1.75, 3.5, 5.25 and so on of the 14 layers, and the input comes first.
  CHECK(std::ranges::count(given, "cut: explicit, after: [3, 4, 6, 8, 10, 11, 13]") == 1);
}

TEST_CASE("for a model of a few layers, the compared cuts are all cuts, each once") {
  const std::vector<std::string> cuts =
      explicit_cuts(on_two_devices(7, "policy: {name: sharded}\n", "1MB"));
  CHECK(cuts.size() == 63);  // the sets of 6 places, except no place
}

}  // namespace
}  // namespace sluice
