// Tests that certain settings are among those that are compared if a scenario leaves them open. In each test, the run
// with these settings is the fastest, or nearly so.
#include <catch2/catch.hpp>

#include "base/never.hpp"
#include "planning/run_seconds.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

constexpr double hardly = 0.01;

// Returns a plan for a model whose last group has large inputs. While the group before it runs, the device may keep
// room for one of these inputs. Then less room is left for weights, and some weights of the last group come late.
Plan with_large_inputs(const std::string& text) {
  return make_plan(test::small_scenario(
      4684, {{0.225, 24672, 1604}, {0.225, 179204, 15724}, {0.425, 121172, 3560}},
      "workload: {batches_per_step: 5, steps: 1}\nstages: {cut: per_layer}\n" + text,
      {"platform.links.host.bandwidth=200MB/s", "platform.devices.gpu.memory.capacity=339745B"}));
}

TEST_CASE("weights may be loaded before the large inputs of their group") {
  const double by_hand = run_seconds(with_large_inputs(
      "fates: {strategy: offload_all}\n"
      "policy: {name: streamed, in_flight: 5, prefetch: 1, pieces: 20kB, buffers: 6}\n"));
  CHECK(run_seconds(with_large_inputs("policy: {name: streamed}\n")) <= by_hand * 1.001);
}

// The scenario gives the number of buffers and leaves the other choices open. One of these choices is to load only the
// first input of a group before the group begins. A scenario has no key for this choice. So the fact `chosen` names the
// choice in words, after a semicolon.
TEST_CASE("a run is equally fast if the scenario gives the number of buffers that was chosen") {
  const auto text_of = [](const Plan& plan) {
    return std::get<std::string>(find_fact(plan.facts, "chosen")->value);
  };
  const Plan chosen = with_large_inputs("policy: {name: streamed}\n");
  CHECK_THAT(text_of(chosen), Catch::Contains("buffers: 6, pieces"));
  const Plan given = with_large_inputs("policy: {name: streamed, buffers: 6}\n");
  CHECK(run_seconds(given) == run_seconds(chosen));
  const Plan fewer = with_large_inputs("policy: {name: streamed, buffers: 2}\n");
  CHECK_THAT(text_of(fewer),
             Catch::Contains("buffers: 2, pieces") &&
                 Catch::Contains("; before a group begins, only the first of its inputs is"));
  CHECK(run_seconds(fewer) > run_seconds(chosen));
}

// A step has two micro-batches, and the latency of the link makes each transfer take 20 ms. With eight buffers, the
// inputs of several steps are in transfer at the same time.
TEST_CASE(
    "if the scenario gives a number of buffers, this number is tried even if a step has fewer micro-batches") {
  const auto seconds = [](const std::string& layers, const std::string& keys) {
    return run_seconds(make_plan(test::small_scenario(
        1000, {{0.1, 1000, 1000}, {0.1, 1000, 1000}},
        "workload: {batches_per_step: 2, steps: 10}\nstages: {cut: " + layers +
            "}\nfates: {strategy: keep_all}\n"
            "policy: {name: streamed, pieces: whole, resident: all, prefetch: 1" +
            keys + "}\n",
        {"platform.links.host.latency=20ms"})));
  };
  for (const char* cut : {"whole", "per_layer"})
    for (const int buffers : {2, 3, 4, 6, 8, 12}) {
      INFO(cut << ", " << buffers << " buffers");
      const std::string given = ", buffers: " + std::to_string(buffers);
      CHECK(seconds(cut, given) <= seconds(cut, given + ", in_flight: 2") * (1 + 1e-9));
    }
  CHECK(seconds("whole", ", buffers: 12") < seconds("whole", ", buffers: 6"));
}

// Copies in both directions take turns on the link, and each copy has a set-up. On a faster link, the copy engine is
// free before the next input is in host memory. If the copy engine then loads weights, these weights delay the input.
TEST_CASE("a link that is free before an input is in host memory may wait for the input") {
  const std::vector<test::Row> rows(4, {0.6, 600'000, 3'500});
  const auto seconds = [&](const std::string& bandwidth) {
    return run_seconds(make_plan(test::small_scenario(
        4, rows,
        "workload: {batches_per_step: 1, steps: 2}\nstages: {cut: per_layer}\n"
        "fates: {strategy: offload_all}\npolicy: {name: streamed}\n",
        {"platform.links.host.bandwidth=" + bandwidth, "platform.links.host.setup=50us",
         "platform.links.host.duplex=half", "platform.devices.gpu.memory.capacity=1400000B"})));
  };
  double before = never;
  for (const char* bandwidth : {"1GB/s", "1.5GB/s", "2GB/s", "3GB/s"}) {
    INFO(bandwidth);
    const double now = seconds(bandwidth);
    CHECK(now <= before);
    before = now;
  }
}

// If the latency of a link is high, many inputs should be in transfer at once, but here eight inputs have no room.
TEST_CASE("numbers of buffers above three are tried if eight buffers do not fit") {
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

double seconds_on(std::int64_t input, const std::vector<test::Row>& rows, const std::string& text,
                  const std::vector<std::string>& machine) {
  return run_seconds(make_plan(test::small_scenario(input, rows, text, machine)));
}

// The last group computes in no time and makes large answers. A rehearsal keeps room for several answers during the
// whole group. Plans without this room are tried, too. In these plans, a load of weights waits until an answer has been
// saved, and takes the bytes of this answer. So more weights come early.
TEST_CASE("plans are tried in which a transfer waits for the room of another transfer") {
  const auto seconds = [](const std::string& keys) {
    return seconds_on(
        380, {{0.425, 16860, 2320}, {0.5, 42476, 188}, {0.025, 118680, 9180}, {0, 217208, 15352}},
        "workload: {batches_per_step: 10, steps: 4}\nstages: {cut: per_layer}\n" + keys,
        {"platform.links.host.bandwidth=200MB/s", "platform.devices.gpu.memory.capacity=418454B"});
  };
  const double by_hand = seconds(
      "fates: {strategy: keep_all}\n"
      "policy: {name: streamed, in_flight: 4, prefetch: 2, pieces: 20kB, buffers: 6}\n");
  CHECK(seconds("policy: {name: streamed}\n") <= by_hand * 1.001);
}

TEST_CASE("plans in which transfers wait for room are also tried if the link has a high latency") {
  const auto seconds = [](const std::string& keys) {
    return seconds_on(
        2736, {{0.075, 73992, 7824}, {1, 74240, 10848}, {0, 103428, 4788}, {0.025, 18988, 10792}},
        "workload: {batches_per_step: 5, steps: 3}\n" + keys,
        {"platform.links.host.latency=300us", "platform.devices.gpu.memory.capacity=113961B"});
  };
  const double by_hand = seconds(
      "stages: {cut: by_weight, groups: 15}\nfates: {strategy: keep_all}\n"
      "policy: {name: streamed, in_flight: 5, prefetch: 4, pieces: 60kB, buffers: 6}\n");
  CHECK(seconds("policy: {name: streamed}\n") <= by_hand);
}

TEST_CASE("all cuts of a small model are tried if its weights take turns") {
  const std::vector<test::Row> rows = {{0.35, 212996, 7312},
                                       {0.175, 17916, 2204},
                                       {0.275, 165716, 6224},
                                       {0.675, 58224, 5756},
                                       {0.45, 73868, 11680}};
  const auto seconds = [&](const std::string& keys) {
    return seconds_on(14896, rows,
                      "workload: {mode: training, batch: 1, micro_batch: 1, optimizer: sgd}\n"
                      "policy: {name: streamed, overlap: false}\n" +
                          keys,
                      {"platform.links.host.bandwidth=200MB/s", "platform.links.host.latency=7us",
                       "platform.devices.gpu.memory.capacity=1098128B"});
  };
  CHECK(seconds("") <=
        seconds("stages: {cut: explicit, after: [2, 3]}\nfates: {strategy: keep_all}\n") *
            (1 + 1e-9));
}

// On this machine, a plan with three groups is the fastest. Every plan with another number of groups takes at least 1.6
// % longer.
TEST_CASE("three groups are tried when weights take turns in training") {
  const auto seconds = [](const std::string& keys) {
    return seconds_on(
        5480, {{0.125, 53840, 3340}},
        "workload: {mode: training, batch: 1, micro_batch: 1, steps: 4, optimizer: adam}\n" + keys,
        {"platform.links.host.bandwidth=200MB/s", "platform.links.host.latency=300us",
         "platform.links.host.setup=3us", "platform.devices.gpu.memory.capacity=199144B"});
  };
  const double by_hand = seconds(
      "stages: {cut: by_weight, groups: 3}\nfates: {strategy: recompute_all}\n"
      "policy: {name: streamed, in_flight: 1}\n");
  CHECK(seconds("policy: {name: streamed}\n") <= by_hand * (1 + 1e-9));
}

// Two replicas load their weights over the same link. If the stages take about equally long, one replica can compute
// while the other replica loads.
TEST_CASE("stages of about equal time are tried for resident replicas that share a link") {
  const std::vector<test::Row> rows = {{0.6, 163472, 9624},   {0.5, 233572, 13944},
                                       {0.05, 131120, 11364}, {0.35, 57404, 7112},
                                       {0.15, 157164, 2164},  {0.675, 239448, 8588}};
  const auto seconds = [&](const std::string& keys) {
    return seconds_on(12600, rows, "workload: {batches_per_step: 10, steps: 4}\n" + keys,
                      {"platform.links.host.bandwidth=200MB/s", "platform.links.host.latency=300us",
                       "platform.links.host.setup=3us", "platform.devices.gpu.count=2",
                       "platform.devices.gpu.memory.capacity=1022651B"});
  };
  const double by_hand = seconds(
      "stages: {cut: balanced, count: 4}\n"
      "policy: {name: data_parallel, replica: resident, buffers: 4, transfers: together}\n");
  CHECK(seconds("policy: {name: data_parallel, replica: resident}\n") <= by_hand * (1 + 1e-9));
}

// On the slowest of these devices, the fastest listing is the one that assumes a pace of 1.4: as if the loads took 1.4
// times as long as the computation. This listing is the fastest on the faster devices, too. So Sluice must try it on
// every device.
TEST_CASE("a faster device uses a listing of loads that is timed for a slower device") {
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

// The latency of the link is longer than most computations. The listing that is the fastest on the slower device counts
// this latency. It is timed for a pace that neither device has.
TEST_CASE("a faster device uses a listing that counts the latency of the link") {
  const auto seconds = [](const char* rate) {
    return run_seconds(make_plan(test::small_scenario(
        8116, {{0.95, 184596, 920}},
        "workload: {mode: training, batch: 3, micro_batch: 1, steps: 2, optimizer: sgd}\n"
        "stages: {cut: by_weight, groups: 16}\nfates: {strategy: keep_all}\n"
        "policy: {name: phased, in_flight: 3}\n",
        {"platform.links.host.bandwidth=50MB/s", "platform.links.host.latency=300us",
         "platform.links.host.setup=3us", "platform.devices.gpu.count=2",
         "platform.links.host.sharing=private", "platform.devices.gpu.memory.capacity=384190B",
         std::string("platform.devices.gpu.rate.float32=") + rate})));
  };
  CHECK(seconds("4GFLOP/s") <= seconds("3.5GFLOP/s"));
}

}  // namespace
}  // namespace sluice
