// Tests the programs of streamed inference (planning/streaming/program.hpp).
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "planning/streaming/fit.hpp"
#include "planning/streaming/program.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/drawn_layers.hpp"

namespace sluice {
namespace {

using test::Dice;

std::string random_scenario(Dice& dice) {
  const std::size_t count = 2 + dice.below(6);
  std::string after;
  for (std::size_t l = 1; l < count; ++l)
    if (dice.one_in(2)) after += (after.empty() ? "l" : ", l") + std::to_string(l);
  return "format: sluice-scenario/1\n" + test::model_text(50, test::random_layers(dice, count)) +
         R"(platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 1MB}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}
policy: streamed
workload: {batch: )" +
         std::to_string(1 + dice.below(5)) + ", micro_batch: 1}\n" +
         (after.empty() ? "stages: whole\n" : "stages: {cut: explicit, after: [" + after + "]}\n");
}

TEST_CASE("without early loads, the program of streamed inference needs as many bytes as counted") {
  Dice dice(91);
  for (int c = 0; c < 200; ++c) {
    const Scenario scenario = read_scenario(parse_text(random_scenario(dice), "s.yaml"), "s");
    const CutModel cut = cut_model(scenario);
    const PolicyRequest request = {{scenario.model, cut.stages, scenario.platform, *scenario.cost,
                                    scenario.workload.dtype, nullptr},
                                   scenario.workload};
    const std::int64_t per_step = scenario.workload.micro_batches_per_step();
    const bool returns = !dice.one_in(3);
    const CommonParameters common{scenario.platform.devices.front(), "host", true, 2, returns};
    StreamedChoice choice{.in_flight = 1 + static_cast<std::int64_t>(
                                               dice.below(static_cast<std::uint64_t>(per_step))),
                          .buffers = 1 + static_cast<std::int64_t>(dice.below(4)),
                          .offload = dice.one_in(2),
                          .piece = static_cast<std::int64_t>(dice.below(3))};
    const StreamedCase streamed = streamed_case(request, common, choice.offload);
    for (const StreamedCase::Group& group : streamed.groups)
      choice.resident.push_back(static_cast<std::int64_t>(
          dice.below(static_cast<std::uint64_t>(group.bytes.weights) + 1)));
    // All weights of a single group stay.
    if (cut.stages.size() == 1) choice.resident = {streamed.groups.front().bytes.weights};
    INFO("case " << c << ", " << choice.text(cut.stages.size()));
    const Program program = program_as_asked(request, common, streamed, choice);
    CHECK(program.count() == per_step * static_cast<std::int64_t>(cut.stages.size()));
    CHECK(program.peak() == StreamedFit(request, common, choice).peak(choice.in_flight));
  }
}

}  // namespace
}  // namespace sluice
