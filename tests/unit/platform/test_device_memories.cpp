// Tests devices that own several memories, or share memories with other devices. Also tests groups of devices, and
// copies between memories by a copy engine and by compute units.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "document/load.hpp"
#include "planning/builder.hpp"
#include "platform/platform.hpp"

using namespace sluice;
using Catch::Matchers::Contains;

namespace {

Platform read(const std::string& text) {
  return read_platform(parse_text("format: sluice-platform/1\nname: test\n" + text, "p.yaml"));
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

using Names = std::vector<std::string>;

Names channel_names(const Platform& platform, const Path& path) {
  Names names;
  for (const std::uint32_t channel : path.channels)
    names.push_back(platform.channels.at(channel).name);
  return names;
}

Names pools_of(const Platform& platform, const std::string& owner) {
  Names names;
  for (const Pool& pool : PlanBuilder(platform, "test", /*capacity_enforced=*/true).finish(0).pools)
    if (pool.owner == owner) names.push_back(pool.name);
  return names;
}

const std::string two_memories = R"(devices:
  gpu:
    count: 2
    rate: {float32: 1TFLOP/s}
    memory:
    - {capacity: 24GB, bandwidth: 960GB/s, reserved: 4GB}
    - {name: ddr, capacity: 64GB, read: 100GB/s, write: 50GB/s}
memories:
  host: {capacity: unlimited}
links:
  pcie: {joins: [host, gpu], bandwidth: 30GB/s, sharing: private}
  far: {joins: [gpu, gpu_ddr], bandwidth: 80GB/s, sharing: private}
)";

const std::string server = R"(devices:
  cpu:
    rate: {float32: 1TFLOP/s}
    threads: 3
    memory: [dram, pmem]
memories:
  dram: {capacity: 192GB, by_threads: [{threads: 1, read: 10GB/s, write: 5GB/s}, {threads: 5, read: 50GB/s, write: 15GB/s}]}
  pmem: {capacity: 768GB, read: 40GB/s, write: 12GB/s, bandwidth: 35GB/s}
links:
  copy:
    joins: [dram, pmem]
    bandwidth: 2GB/s
    down: {bandwidth: 2.5GB/s}
    setup: 5us
    synchronous: {bandwidth: 29GB/s, down: {bandwidth: 12GB/s}}
)";

}  // namespace

TEST_CASE(
    "of two memories that are equally near to a device, the one that is nearer to the others feeds them") {
  // The disk is one link from the processor, which computes in host memory, and two links from the GPU. Host memory is
  // one link from the GPU.
  const Platform platform = read(
      "devices:\n"
      "  gpu: {rate: {float32: 10TFLOP/s}, memory: {capacity: 24GB}}\n"
      "  cpu: {rate: {float32: 1TFLOP/s}, memory: host}\n"
      "memories: {disk: {capacity: 1TB}, host: {capacity: 64GB}}\n"
      "links:\n"
      "  ssd: {joins: [host, disk], bandwidth: 2GB/s}\n"
      "  pcie: {joins: [host, gpu], bandwidth: 20GB/s}\n");
  CHECK(platform.host().name == "host");
  // Two sockets with a memory each: each memory is nearer to its own devices, whatever their number.
  const std::string memory = "memory: {capacity: 1GB}}\n";
  const Platform sockets = read(
      "devices:\n"
      "  one: {rate: {float32: 10TFLOP/s}, " +
      memory + "  two: {count: 2, rate: {float32: 10TFLOP/s}, " + memory +
      "memories: {a: {capacity: 64GB}, b: {capacity: 64GB}}\n"
      "links:\n"
      "  first: {joins: [a, one], bandwidth: 20GB/s}\n"
      "  second: {joins: [b, two], bandwidth: 20GB/s}\n"
      "  between: {joins: [a, b], bandwidth: 10GB/s}\n");
  CHECK_THROWS_WITH(sockets.host(), Contains("more than one memory may feed its devices: a, b"));
}

TEST_CASE("a device may have several memories of its own, and the first memory is the default") {
  const Platform platform = read(two_memories);
  const Device& gpu = platform.device("gpu1");
  REQUIRE(gpu.memories.size() == 2);
  CHECK(&gpu.memory() == &gpu.memories[0]);
  CHECK(gpu.memory().pool == "gpu1");
  CHECK(gpu.memory().capacity == 20'000'000'000);
  CHECK(gpu.memory().reserved == 4'000'000'000);
  CHECK((gpu.memory().read == 960e9 && gpu.memory().write == 960e9));
  const DeviceMemory* ddr = gpu.memory_or_null("gpu1_ddr");
  REQUIRE(ddr);
  CHECK((ddr->own && ddr->capacity == 64'000'000'000));
  CHECK((ddr->read == 100e9 && ddr->write == 50e9));
  CHECK(ddr->bandwidth() == 50e9);
  CHECK(gpu.memory_or_null("gpu0_ddr") == nullptr);
  // Of the 3 GB, 2 GB are read, which takes 0.02 s at 100 GB/s. The other 1 GB is written, which takes 0.02 s at 50
  // GB/s.
  CHECK(ddr->seconds(3e9, 1e9) == Approx(0.04).epsilon(1e-15));
  CHECK(gpu.memory().seconds(3e9, 1e9) == 3e9 / 960e9);
  CHECK(pools_of(platform, "gpu1") == Names{"gpu1", "gpu1_ddr"});
  CHECK(pools_of(platform, "") == Names{"host"});
}

TEST_CASE(
    "links can join the second memory of a device, and a copy engine of the device makes the copies") {
  const Platform platform = read(two_memories);
  CHECK(platform.path("gpu1", "gpu1_ddr").stream == "gpu1.far.down");
  CHECK(platform.path("gpu1_ddr", "gpu1").stream == "gpu1.far.up");
  const Path& out = platform.path("gpu1_ddr", "host");
  CHECK(out.device == "gpu1");
  CHECK(channel_names(platform, out) == Names{"far.gpu1_ddr.up", "pcie.gpu1.up"});
  CHECK(platform.path("host", "gpu1_ddr").stream == "gpu1.far.down");
  CHECK_THROWS_WITH(platform.path("host", "gpu1_dd"), Contains("did you mean 'gpu1_ddr'"));
}

TEST_CASE(
    "a processor uses memories of the platform, whose rates depend on the number of threads or "
    "on the direction") {
  const Platform platform = read(server);
  const Device& cpu = platform.device("cpu");
  REQUIRE(cpu.memories.size() == 2);
  CHECK((cpu.memory().pool == "dram" && !cpu.memory().own));
  // The rates of 3 threads are halfway between the rates of 1 and 5 threads.
  CHECK((cpu.memory().read == 30e9 && cpu.memory().write == 10e9));
  // `read` is 40 GB/s, but `bandwidth` limits each direction to 35 GB/s.
  CHECK((cpu.memories[1].read == 35e9 && cpu.memories[1].write == 12e9));
  CHECK(cpu.memories[1].capacity == 768'000'000'000);
  // No other device has tensors in `dram`, so this device owns the pool `dram`.
  CHECK(pools_of(platform, "") == Names{"pmem"});
  CHECK(pools_of(platform, "cpu") == Names{"dram"});
  const PlanBuilder builder(platform, "test", /*capacity_enforced=*/true);
  CHECK(builder.pool("cpu") == builder.pool("dram"));
  CHECK_THROWS_WITH(platform.path("dram", "cpu"), Contains("device 'cpu' uses the memory 'dram'"));
  CHECK(platform.path("pmem", "cpu").channels == platform.path("pmem", "dram").channels);
}

TEST_CASE("compute units copy over their own channels, at other rates than a copy engine") {
  const Platform platform = read(server);
  const auto rate = [&](const Path& path) {
    double least = 1e18;
    for (const std::uint32_t channel : path.channels)
      least = std::min(least, platform.channels[channel].bandwidth);
    return least;
  };
  const Path &down = platform.path("dram", "pmem"), &up = platform.path("pmem", "dram");
  CHECK(down.stream == "cpu.copy.down");
  CHECK(up.stream == "cpu.copy.up");
  CHECK((rate(down) == 2.5e9 && rate(up) == 2e9 && down.setup_s == 5e-6));
  const Path& by_units = platform.path("dram", "pmem", CopyMode::synchronous);
  CHECK(by_units.stream == "cpu.copy.down.synchronous");
  CHECK(by_units.setup_s == 0);
  // The platform gives rates for 5 threads: copies have 12 GB/s to PMEM and 29 GB/s from PMEM, DRAM is read at 50 GB/s,
  // and DRAM is written at 15 GB/s. But 3 threads read DRAM only at 30 GB/s and write DRAM only at 10 GB/s. So their
  // copies are slower, too.
  CHECK(rate(by_units) == Approx(12e9 * (1 / 50.0 + 1 / 12.0) / (1 / 30.0 + 1 / 12.0)));
  CHECK(rate(platform.path("pmem", "dram", CopyMode::synchronous)) ==
        Approx(29e9 * (1 / 35.0 + 1 / 15.0) / (1 / 35.0 + 1 / 10.0)));
  CHECK(&platform.path("dram", "pmem") == &down);
}

TEST_CASE("compute units copy only if it is clear to which device they belong") {
  const Platform two = read(R"(devices:
  a: {rate: {float32: 1TFLOP/s}, memory: dram}
  b: {rate: {float32: 1TFLOP/s}, memory: dram}
memories: {dram: {capacity: 1GB}, pmem: {capacity: 1GB}}
links: {copy: {joins: [dram, pmem], bandwidth: 2GB/s, synchronous: {bandwidth: 29GB/s}}}
)");
  CHECK(two.path("dram", "pmem").device == "dram");
  PlanBuilder builder(two, "test", /*capacity_enforced=*/true);
  const std::uint32_t x = builder.tensor("x", TensorClass::weight, 1, "dram");
  CHECK_THROWS_WITH(builder.transfer(ActionKind::move, x,
                                     {.from = "dram", .to = "pmem", .synchronous = true}, 0, 0),
                    Contains("no device can use its compute units to copy from 'dram' to 'pmem'"));
}

TEST_CASE("a group exists as often as its count says, and each instance has its own links") {
  const Platform platform = read(R"(groups:
  node:
    count: 3
    devices: {gpu: {count: 2, rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}}
    memories: {host: {capacity: 8GB}}
    switches: [leaf]
    links:
      pcie: {joins: [host, gpu], bandwidth: 30GB/s}
      port: {joins: [leaf, gpu], bandwidth: 25GB/s, sharing: private}
switches: [spine]
links:
  rail: {joins: [spine, node_leaf], bandwidth: 50GB/s, sharing: private}
  side: {joins: [node0_gpu0, node1_gpu0], bandwidth: 1GB/s}
)");
  Names devices;
  for (const Device& device : platform.devices) devices.push_back(device.name);
  CHECK(devices ==
        Names{"node0_gpu0", "node0_gpu1", "node1_gpu0", "node1_gpu1", "node2_gpu0", "node2_gpu1"});
  CHECK(platform.memories.size() == 3);
  CHECK(channel_names(platform, platform.path("node1_host", "node1_gpu1")) ==
        Names{"node1_pcie.down"});
  CHECK(channel_names(platform, platform.path("node0_gpu1", "node2_gpu0")) ==
        Names{"node0_port.node0_gpu1.up", "rail.node0_leaf.up", "rail.node2_leaf.down",
              "node2_port.node2_gpu0.down"});
  CHECK(channel_names(platform, platform.path("node0_gpu0", "node1_gpu0")) == Names{"side.down"});
}

TEST_CASE(
    "if both ends of a link have equally many nodes, the link joins the first nodes, the second nodes, and so on") {
  const Platform platform = read(R"(groups:
  node:
    count: 2
    devices: {gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}}
    switches: [leaf]
links:
  pair: {joins: [node_leaf, node_gpu], bandwidth: 25GB/s, sharing: private}
)");
  CHECK(platform.edges.size() == 4);
  CHECK(platform.edges[2].from == "node1_leaf");
  CHECK(platform.edges[2].to == "node1_gpu");
  CHECK_THROWS_WITH(platform.path("node0_gpu", "node1_gpu"), Contains("no link that leads"));
}

TEST_CASE("errors in memories and groups are refused at their position") {
  struct Case {
    std::string text, where, says;
  };
  const std::string gpu = "devices:\n  gpu: {rate: {float32: 1TFLOP/s}, memory: ";
  const std::string dram = "}\nmemories:\n  dram: {capacity: 1GB";
  const std::string rows = ", by_threads: [{threads: 2, read: 1GB/s, write: 1GB/s}, {threads: ";
  const std::vector<Case> cases = {
      {gpu + "[]}\n", "p.yaml:4:44", "device 'gpu' has no memory"},
      {gpu + "drm" + dram + "}\n", "p.yaml:4:44", "did you mean 'dram'"},
      {gpu + "dram}\n", "p.yaml:4:44", "the platform has no memory of this name"},
      {gpu + "[{capacity: 1GB}, {capacity: 1GB}]}\n", "p.yaml:4:62",
       "'name' is missing in a memory after the first memory of device 'gpu'"},
      {gpu + "{name: hbm, capacity: 1GB}}\n", "p.yaml:4:51", "has the name of the device"},
      {gpu + "[{capacity: 1GB}, {name: a, capacity: 1GB}, {name: a, capacity: 1GB}]}\n",
       "p.yaml:4:88", "has the memory 'a' twice"},
      {gpu + "[dram, dram]" + dram + "}\n", "p.yaml:4:51", "has the memory 'dram' twice"},
      {gpu + "[[dram]]" + dram + "}\n", "p.yaml:4:45", "a list inside the list"},
      {gpu + "{capacity: 1GB, bandwith: 1GB/s}}\n", "p.yaml:4:60", "did you mean 'bandwidth'"},
      {gpu + "dram" + dram + rows + "4, read: 1GB/s, write: 1GB/s}]}\n", "p.yaml:4:44",
       "has no key 'threads'"},
      {gpu + "dram, threads: 5" + dram + rows + "4, read: 1GB/s, write: 1GB/s}]}\n", "p.yaml:4:44",
       "has 5 threads, but 'dram' has rates under by_threads for 2 to 4 threads"},
      {gpu + "dram, threads: 2" + dram + rows + "2, read: 1GB/s, write: 1GB/s}]}\n",
       "p.yaml:6:", "more threads than the row before"},
      {gpu + "{capacity: 1GB, bandwidth: 1GB/s, by_threads: [{threads: 1, read: 1GB/s, write: "
             "1GB/s}]}}\n",
       "p.yaml:4:71", "cannot be given with 'by_threads'"},
      {"groups: {node: {count: 0}}\n", "p.yaml:3:24", "at least 1"},
      {"groups: {node: {switches: [a]}}\n", "p.yaml:", "at least one device"},
      {"groups: {node: {device: {}}}\n", "p.yaml:3:17", "did you mean 'devices'"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.text);
    const std::string message = error_of(wrong.text);
    CHECK_THAT(message, Contains(wrong.where));
    CHECK_THAT(message, Contains(wrong.says));
  }
}
