// Replicas with different numbers of batches: under data_parallel, all of them have the same placement.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "document/load.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/two_memory_cards.hpp"

namespace sluice {
namespace {

TEST_CASE("a replica with fewer batches has the placement of the others", "[placement]") {
  const auto plan = [](int batches) {
    Value document = test::on_cards(20'000, 20'000,
                                    "policy: {name: data_parallel, replica: resident, placement: "
                                    "all_slow, transfers: together}\n"
                                    "workload: {batch: 1, batches_per_step: " +
                                        std::to_string(batches) + "}\n",
                                    test::Seconds::own)
                         .document;
    apply_overrides(document, {"stages={cut: whole}", "platform.links.host.sharing=shared"});
    return make_plan(read_scenario(document, "cards"));
  };
  const Plan uneven = plan(3), even = plan(4);
  std::map<std::string, std::int64_t> passes;
  for (std::uint32_t a = 0; a < uneven.actions.size(); ++a)
    if (const Stream& stream = uneven.streams[uneven.actions[a].stream];
        stream.kind == StreamKind::compute)
      passes[stream.device] += uneven.executions_of(a);
  REQUIRE(passes.size() == 2);
  CHECK(passes.at("gpu1") > 0);
  CHECK(passes.at("gpu0") == 2 * passes.at("gpu1"));
  CHECK(test::seconds_in_both_executors(uneven) <= test::seconds_in_both_executors(even));
  CHECK(test::seconds_in_both_executors(uneven) > test::seconds_in_both_executors(plan(2)));
}

}  // namespace
}  // namespace sluice
