// Tests how many bytes of weights that are loaded early are tried if loads and saves share a half-duplex link.
#include <catch2/catch.hpp>

#include "planning/run_seconds.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

TEST_CASE(
    "on a half-duplex link, a run that leaves open how many weights are loaded early is not slower than with a few "
    "groups") {
  // Each of 16 groups has 10 kB of weights, which take 10 us on the link and 4 us of computation. Weights of 60 or 80 kB
  // stay on the device. In the other bytes, the weights of a few groups can be loaded early, but not half of all weights
  // that take turns.
  const std::vector<test::Row> rows(16, {0.004, 10'000, 400});
  for (const char* capacity : {"100kB", "110kB", "120kB"}) {
    const auto seconds = [&](const std::string& ahead) {
      return run_seconds(make_plan(
          test::small_scenario(400, rows,
                               "workload: {steps: 3}\nstages: {cut: per_layer}\nfates: keep_all\n"
                               "policy: {name: streamed" +
                                   ahead + "}\n",
                               {"platform.links.host.duplex=half",
                                "platform.devices.gpu.memory.capacity=" + std::string(capacity)})));
    };
    for (const char* ahead : {"10kB", "20kB", "40kB"}) {
      INFO(capacity << ", ahead " << ahead);
      CHECK(seconds("") <= seconds(std::string(", ahead: ") + ahead) * (1 + 1e-9));
    }
  }
}

}  // namespace
}  // namespace sluice
