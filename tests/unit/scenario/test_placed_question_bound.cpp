// Tests the bound of the question if tensors may be in two memories of a device.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "document/load.hpp"
#include "scenario/question_bound.hpp"
#include "support/random_question.hpp"

namespace sluice {
namespace {

using test::Campaign, test::Dice, test::pick, test::random_model, test::random_platform;
using test::random_policy, test::random_workload;

/// Returns the text with `found` replaced by `by`. The text must have `found`.
std::string with(std::string text, const std::string& found, const std::string& by) {
  const std::size_t at = text.find(found);
  REQUIRE(at != std::string::npos);
  return text.replace(at, found.size(), by);
}

TEST_CASE("No plan that places tensors in two memories is faster than the bound of its question",
          "[property]") {
  const std::vector<std::string> policies = {"resident", "streamed", "phased",
                                             "data_parallel, replica: streamed"};
  Campaign campaign;
  for (std::uint64_t seed = 0; seed < test::cases_of<std::uint64_t>(160, 400); ++seed) {
    Dice dice(seed);
    const std::string& policy = policies[seed % policies.size()];
    const bool training = dice.one_in(2);
    std::string machine = random_platform(dice, policy != "resident" && policy != "streamed");
    machine = with(machine, "memory: {capacity", "memory:\n      - {capacity");
    machine = with(machine, "bandwidth: 10GB/s}\n",
                   "bandwidth: 10GB/s}\n      - {name: ddr, capacity: " +
                       pick(dice, {"unlimited", "300kB", "2MB"}) + ", bandwidth: 2GB/s}\n");
    machine += "    far: {joins: [gpu, gpu_ddr], sharing: private, bandwidth: " +
               pick(dice, {"2GB/s", "20MB/s"}) + "}\n";
    if (dice.one_in(3))
      machine += "    other: {joins: [host, gpu_ddr], sharing: private, bandwidth: " +
                 pick(dice, {"2GB/s", "50MB/s"}) + "}\n";
    const std::string placed = ", placement: " +
                               pick(dice, {"auto", "static", "all_slow", "first_touch",
                                           "synchronous", "asynchronous", "backing", "cached"}) +
                               "}\nstages";
    const std::string text = "format: sluice-scenario/1\n" + random_model(dice) + machine +
                             random_workload(dice, training) +
                             with(random_policy(dice, policy, training), "}\nstages", placed);
    campaign.ask(policy, seed,
                 [&] { return read_scenario(parse_text(text, "random.yaml"), "random"); });
  }
  CHECK(campaign.ran.size() == 4);
  for (const auto& [name, count] : campaign.ran) {
    INFO(name);
    CHECK(count > 5);
  }
  CHECK(campaign.near["must cross"] > 3);
}

TEST_CASE(
    "With two memories, the bound of the question counts the bytes that cross the host's links") {
  // Ten samples of 4000 B come over the link of host memory, and ten answers of 4000 B leave, at 1 GB/s. Each ReLU
  // computes 1 us, and reads and writes 8000 B in 0.8 us in the faster memory. Both memories are reached over the link
  // of host memory, or the second memory also has a link of its own, over which half of the bytes may come.
  const auto bound = [](const std::string& more) {
    return question_bound(read_scenario(
        parse_text("format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
                   "    name: m\n    layers:\n      - {type: input, name: x, shape: [1000]}\n"
                   "      - {type: relu, name: one}\n"
                   "platform:\n  format: sluice-platform/1\n  name: p\n  devices:\n    gpu:\n"
                   "      rate: {float32: 1GFLOP/s}\n      memory:\n"
                   "      - {capacity: unlimited, bandwidth: 10GB/s}\n"
                   "      - {name: ddr, capacity: unlimited, bandwidth: 5GB/s}\n"
                   "  memories: {host: {capacity: unlimited}}\n  links:\n"
                   "    host: {joins: [host, gpu], bandwidth: 1GB/s}\n"
                   "    far: {joins: [gpu, gpu_ddr], bandwidth: 10GB/s}\n" +
                       more +
                       "workload: {batches_per_step: 10}\nstages: whole\n"
                       "policy: {name: resident, placement: static}\ncost: peak\n",
                   "ten.yaml"),
        "ten"));
  };
  CHECK(bound("").seconds == Approx(40e-6).epsilon(1e-12));
  CHECK(bound("").reason.find("must cross") != std::string::npos);
  CHECK(bound("    other: {joins: [host, gpu_ddr], bandwidth: 1GB/s}\n").seconds ==
        Approx(20e-6).epsilon(1e-12));
}

}  // namespace
}  // namespace sluice
