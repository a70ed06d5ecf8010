// Tests platforms: what a platform's document means, routes, the bundled platforms, and bad input.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/version.hpp"
#include "document/load.hpp"
#include "platform/platform.hpp"

using namespace sluice;
using Catch::Matchers::Contains;

namespace {

Platform read(const std::string& text) {
  return read_platform(parse_text("format: sluice-platform/1\nname: test\n" + text, "p.yaml"));
}

const std::string gpu = "  gpu: {rate: {float32: 10TFLOP/s}, memory: {capacity: 24GB}}\n";
const std::string two_gpus =
    "  gpu: {count: 2, rate: {float32: 10TFLOP/s}, memory: {capacity: 24GB}}\n";
const std::string host = "memories:\n  host: {capacity: unlimited}\n";

std::vector<std::string> channel_names(const Platform& platform, const Path& path) {
  std::vector<std::string> names;
  for (const std::uint32_t channel : path.channels)
    names.push_back(platform.channels.at(channel).name);
  return names;
}

using Names = std::vector<std::string>;

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a device has the numbers of its document, in SI units") {
  const Platform platform = read(R"(devices:
  ipu:
    rate: {float16: 250TFLOP/s, float32: 62.5TFLOP/s}
    efficiency: 50%
    memory: {capacity: 900MB, bandwidth: 47.5TB/s}
    roofline: {compute: 0.6, memory: 75%}
    launch_overhead: 5us
    idle: 20W
    busy: 150W
    tiles: 1000
    io_tiles: 200
)");
  const Device& ipu = platform.device("ipu");
  CHECK(ipu.rate.at(DType::float16) == 250e12);
  CHECK(ipu.memory().capacity == 900'000'000);
  CHECK(ipu.memory().bandwidth() == 47.5e12);
  CHECK(ipu.roofline.compute == 0.6);
  CHECK(ipu.roofline.memory == 0.75);
  CHECK(ipu.launch_overhead == 5e-6);
  CHECK(ipu.idle_w == 20);
  CHECK(ipu.busy_w == 150);
  // 250e12 FLOP/s x efficiency 0.5 x 0.8 = 1e14, because only 1 - 200 / 1000 = 0.8 of the tiles compute
  CHECK(ipu.flop_per_s(DType::float16) == Approx(1e14).epsilon(1e-15));
  CHECK_THROWS_WITH(ipu.flop_per_s(DType::bfloat16),
                    Contains("no rate for bfloat16") && Contains("float32, float16"));
}

TEST_CASE("a count makes numbered devices, and a shared link makes one channel per direction") {
  const Platform platform = read("devices:\n" + two_gpus + host +
                                 "links:\n  pcie: {joins: [host, gpu], bandwidth: 30GB/s}\n");
  REQUIRE(platform.devices.size() == 2);
  CHECK(platform.devices[0].name == "gpu0");
  CHECK(platform.devices[1].name == "gpu1");
  CHECK(platform.device_or_null("gpu") == nullptr);
  REQUIRE(platform.channels.size() == 2);
  CHECK(platform.channels[0].name == "pcie.down");
  CHECK(platform.channels[0].bandwidth == 30e9);
  const Path down = platform.path("host", "gpu1");
  CHECK(down.name == "host>gpu1");
  CHECK(down.stream == "gpu1.pcie.down");
  CHECK(down.device == "gpu1");
  CHECK(channel_names(platform, down) == Names{"pcie.down"});
  CHECK(platform.path("gpu0", "host").stream == "gpu0.pcie.up");
  CHECK(channel_names(platform, platform.path("gpu0", "host")) == Names{"pcie.up"});
  // A copy engine of the sending device makes the transfer. The bytes go up to the host, and from there down.
  CHECK(channel_names(platform, platform.path("gpu0", "gpu1")) == Names{"pcie.up", "pcie.down"});
  CHECK(platform.path("gpu0", "gpu1").stream == "gpu0.pcie.up");
}

TEST_CASE("a private link gives each device its own channels") {
  const Platform platform =
      read("devices:\n" + two_gpus + host +
           "links:\n  pcie: {joins: [host, gpu], bandwidth: 30GB/s, sharing: private}\n");
  CHECK(channel_names(platform, platform.path("host", "gpu0")) == Names{"pcie.gpu0.down"});
  CHECK(channel_names(platform, platform.path("host", "gpu1")) == Names{"pcie.gpu1.down"});
  CHECK(platform.path("host", "gpu1").stream == "gpu1.pcie.down");
}

TEST_CASE("a half-duplex link is one channel and two copy engines") {
  const Platform platform =
      read("devices:\n" + gpu + host +
           "links:\n  bus: {joins: [host, gpu], bandwidth: 8GB/s, duplex: half, idle: 1W, busy: "
           "3W}\n");
  REQUIRE(platform.channels.size() == 1);
  CHECK(platform.channels[0].name == "bus");
  CHECK(platform.channels[0].idle_w == 1);
  CHECK(platform.channels[0].busy_w == 3);
  CHECK(platform.path("host", "gpu").channels == platform.path("gpu", "host").channels);
  CHECK(platform.path("host", "gpu").stream == "gpu.bus.down");
  CHECK(platform.path("gpu", "host").stream == "gpu.bus.up");
}

TEST_CASE("each direction of a link has the rates that the document gives for it") {
  const std::string link =
      "links:\n  pcie: {joins: [host, gpu], bandwidth: 24GB/s, setup: 5us, latency: 1us, up: "
      "{bandwidth: 20GB/s, setup: 7us}, together: 1.5, pageable: {bandwidth: 6GB/s, setup: "
      "20us, up: {bandwidth: 2GB/s}}";
  const auto rates = [&](const std::string& more) {
    return read("devices:\n" + gpu + host + link + more + "}\n");
  };
  const Platform pinned = rates("");
  const Path &down = pinned.path("host", "gpu"), &up = pinned.path("gpu", "host");
  CHECK(channel_names(pinned, down) == Names{"pcie.down", "pcie.together"});
  CHECK(channel_names(pinned, up) == Names{"pcie.up", "pcie.together"});
  CHECK(pinned.channels[down.channels[0]].bandwidth == 24e9);
  CHECK(pinned.channels[up.channels[0]].bandwidth == 20e9);
  CHECK(pinned.channels[up.channels[1]].bandwidth == 36e9);
  CHECK((down.setup_s == 5e-6 && up.setup_s == 7e-6));
  CHECK((down.latency_s == 1e-6 && up.latency_s == 1e-6));
  const Platform shares = read(
      "devices:\n" + gpu + host +
      "links:\n  pcie: {joins: [host, gpu], bandwidth: 20GB/s, up: {share: 0.5}, down: {share: "
      "110%}}\n");
  CHECK(shares.channels[shares.path("host", "gpu").channels[0]].bandwidth == 22e9);
  CHECK(shares.channels[shares.path("gpu", "host").channels[0]].bandwidth == 10e9);
  const Platform pageable = rates(", copies: pageable");
  const Path &slow = pageable.path("host", "gpu"), &slower = pageable.path("gpu", "host");
  CHECK(pageable.channels[slow.channels[0]].bandwidth == 6e9);
  CHECK(pageable.channels[slower.channels[0]].bandwidth == 2e9);
  CHECK((slow.setup_s == 20e-6 && slower.setup_s == 20e-6));
}

TEST_CASE("tensors cannot use the reserved part of a device's memory") {
  const Platform platform = read(
      "devices:\n  gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 16GB, reserved: "
      "1343MiB}}\n");
  CHECK(platform.device("gpu").memory().reserved == 1'408'237'568);
  CHECK(platform.device("gpu").memory().capacity == 16'000'000'000 - 1'408'237'568);
}

TEST_CASE("every route from or to a memory crosses the ports of this memory") {
  const Platform platform = read("devices:\n" + gpu +
                                 "memories:\n"
                                 "  host: {capacity: 64GB, read: 100GB/s, write: 80GB/s, "
                                 "bandwidth: 120GB/s}\n"
                                 "links:\n  pcie: {joins: [host, gpu], bandwidth: 30GB/s}\n");
  CHECK(platform.memories.at(0).capacity == 64'000'000'000);
  CHECK(channel_names(platform, platform.path("host", "gpu")) ==
        Names{"host.read", "host.port", "pcie.down"});
  CHECK(channel_names(platform, platform.path("gpu", "host")) ==
        Names{"pcie.up", "host.write", "host.port"});
}

TEST_CASE("a route takes the fewest links, and has the sums of their setups and latencies") {
  const Platform platform = read("devices:\n" + gpu + R"(memories:
  host: {capacity: unlimited}
  disk: {capacity: unlimited}
switches: [sw]
links:
  long: {joins: [disk, host], bandwidth: 5GB/s, latency: 3us, setup: 10us}
  trunk: {joins: [host, sw], bandwidth: 64GB/s, latency: 1us}
  leaf: {joins: [sw, gpu], bandwidth: 32GB/s, latency: 2us, setup: 4us}
)");
  const Path path = platform.path("disk", "gpu");
  CHECK(channel_names(platform, path) == Names{"long.down", "trunk.down", "leaf.down"});
  CHECK(path.setup_s == Approx(14e-6).epsilon(1e-15));
  CHECK(path.latency_s == Approx(6e-6).epsilon(1e-15));
  CHECK(path.stream == "gpu.leaf.down");
  CHECK(platform.path("gpu", "disk").stream == "gpu.leaf.up");
  CHECK(platform.path("disk", "host").stream == "disk.long.down");
  CHECK(platform.host().name == "host");  // the disk is farther away
}

TEST_CASE("of several routes with the fewest links, the route declared first is taken") {
  const Platform platform = read("devices:\n" + gpu + host + R"(switches: [a, b]
links:
  slow: {joins: [host, b], bandwidth: 1GB/s}
  fast: {joins: [host, a], bandwidth: 9GB/s}
  a: {joins: [a, gpu], bandwidth: 9GB/s}
  b: {joins: [b, gpu], bandwidth: 1GB/s}
)");
  CHECK(channel_names(platform, platform.path("host", "gpu")) == Names{"slow.down", "b.down"});
}

TEST_CASE("a copy over a link between two devices is made by an engine of the sender") {
  const Platform platform = read("devices:\n" + two_gpus + host +
                                 "links:\n"
                                 "  pcie: {joins: [host, gpu], bandwidth: 30GB/s}\n"
                                 "  bridge: {joins: [gpu0, gpu1], bandwidth: 50GB/s}\n");
  CHECK(platform.path("gpu0", "gpu1").stream == "gpu0.bridge.down");
  CHECK(platform.path("gpu1", "gpu0").stream == "gpu1.bridge.up");
  CHECK(channel_names(platform, platform.path("gpu1", "gpu0")) == Names{"bridge.up"});
}

TEST_CASE("a path that is requested again is the same, and a changed platform has other paths") {
  const std::string links = "links: {pcie: {joins: [host, gpu], bandwidth: 30GB/s, setup: 1us}}\n";
  const Platform platform = read("devices:\n" + gpu + host + links);
  const Path& first = platform.path("host", "gpu");
  CHECK(&first == &platform.path("host", "gpu"));
  Platform slower = platform;
  for (Platform::Edge& edge : slower.edges) {
    edge.setup_s = 1;
    if (edge.to == "gpu") edge.to = "card";
  }
  slower.devices[0].name = "card";
  CHECK(slower.path("host", "card").setup_s == 1);
  CHECK(slower.device_or_null("gpu") == nullptr);
  CHECK(first.setup_s == 1e-6);
}

TEST_CASE("unknown names are refused with a list of the platform's names") {
  const Platform platform = read("devices:\n" + gpu + host);
  CHECK_THROWS_WITH(platform.device("gpv"), Contains("did you mean 'gpu'"));
  CHECK_THROWS_WITH(platform.path("host", "cpu"), Contains("no device or memory 'cpu'"));
  CHECK_THROWS_WITH(platform.path("host", "gpu"), Contains("no link that leads from 'host'"));
  CHECK_THROWS_WITH(read("devices:\n" + gpu).host(),
                    Contains("no memory that could feed its devices"));
  CHECK_THROWS_WITH(read("devices:\n" + gpu +
                         "memories: {a: {capacity: 1GB}, b: {capacity: 1GB}}\n"
                         "links: {l: {joins: [gpu, a, b], bandwidth: 1GB/s}}\n")
                        .host(),
                    Contains("more than one memory may feed its devices: a, b"));
}

TEST_CASE("a faulty platform document is refused at the position of the fault") {
  struct Case {
    std::string text, where, says;
  };
  const std::string link = "devices:\n" + gpu + host + "links:\n";
  const std::vector<Case> cases = {
      {"", "p.yaml:1:1", "'devices' is missing"},
      {"devices: {}\n", "p.yaml:3:10", "at least one device"},
      {"devices:\n  gpu: {memory: {capacity: 1GB}}\n", "p.yaml:4:8", "'rate' is missing"},
      {"devices:\n  gpu: {rate: {}, memory: {capacity: 1GB}}\n", "p.yaml:4:15",
       "needs a rate for at least one of: float64"},
      {"devices:\n  gpu: {rate: {float31: 1TFLOP/s}, memory: {capacity: 1GB}}\n", "p.yaml:4:16",
       "did you mean 'float3"},
      {"devices:\n  gpu: {rate: {float32: 0TFLOP/s}, memory: {capacity: 1GB}}\n", "p.yaml:4:25",
       "more than 0"},
      {"devices:\n  gpu: {rate: {float32: 1TB/s}, memory: {capacity: 1GB}}\n", "p.yaml:4:25",
       "1TB/s"},
      {"devices:\n  gpu: {rate: {float32: 1TFLOP/s}, memory: {}}\n", "p.yaml:4:44",
       "'capacity' is missing in the memory of device 'gpu'"},
      {"devices:\n  gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 24}}\n", "p.yaml:4:55",
       "unit is missing"},
      {"devices:\n  gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 0.5B}}\n", "p.yaml:4:55",
       "0.5B"},
      {"devices:\n  gpu: {count: 0, rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}\n",
       "p.yaml:4:16", "at least 1"},
      {"devices:\n  gpu: {efficiency: 1.5, rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}\n",
       "p.yaml:4:21", "at most 1"},
      {"devices:\n  gpu: {roofline: {compute: 1.5}, rate: {float32: 1TFLOP/s}, memory: {capacity: "
       "1GB}}\n",
       "p.yaml:4:29", "at most 1"},
      {"devices:\n  gpu: {roofline: {memory: 0}, rate: {float32: 1TFLOP/s}, memory: {capacity: "
       "1GB}}\n",
       "p.yaml:4:28", "more than 0"},
      {"devices:\n  gpu: {idle: 9W, busy: 8W, rate: {float32: 1TFLOP/s}, memory: {capacity: "
       "1GB}}\n",
       "p.yaml:4:25", "less than the idle watts"},
      {"devices:\n  gpu: {io_tiles: 3, rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}\n",
       "p.yaml:4:19", "fewer than tiles (0)"},
      {"devices:\n  1gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}\n", "p.yaml:4:3",
       "'1gpu' is not a name"},
      {"devices:\n" + gpu + "memories:\n  gpu: {capacity: 1GB}\n", "p.yaml:6:3",
       "are called 'gpu'"},
      {"devices:\n" + two_gpus + "memories:\n  gpu: {capacity: 1GB}\n", "p.yaml:6:3",
       "are called 'gpu'"},
      {"devices:\n" + two_gpus + "switches: [gpu1]\n", "p.yaml:5:12", "are called 'gpu1'"},
      {link + "  l: {joins: [host, gpu], bandwith: 1GB/s}\n", "p.yaml:8:27",
       "unknown key 'bandwith' in link 'l' (did you mean 'bandwidth'?)"},
      {link + "  l: {joins: [host, gpu]}\n", "p.yaml:8:6", "'bandwidth' is missing"},
      {link + "  l: {joins: [host, gpu], bandwidth: 0GB/s}\n", "p.yaml:8:38", "more than 0"},
      {link + "  l: {joins: [host], bandwidth: 1GB/s}\n", "p.yaml:8:14", "at least two"},
      {link + "  l: {joins: [host, gpv], bandwidth: 1GB/s}\n", "p.yaml:8:21", "did you mean 'gpu'"},
      {link + "  l: {joins: [host, gpu, gpu], bandwidth: 1GB/s}\n", "p.yaml:8:26", "twice"},
      {link + "  l: {joins: [host, gpu], bandwidth: 1GB/s, duplex: both}\n", "p.yaml:8:53",
       "full, half"},
      {link + "  l: {joins: [host, gpu], bandwidth: 1GB/s, up: {bandwith: 1GB/s}}\n", "p.yaml:8:50",
       "unknown key 'bandwith' in the direction up of a link"},
      {link + "  l: {joins: [host, gpu], bandwidth: 1GB/s, duplex: half, up: {setup: 1us}}\n",
       "p.yaml:8:53", "both directions share one bandwidth"},
      {link + "  l: {joins: [host, gpu], bandwidth: 1GB/s, up: {bandwidth: 1GB/s, share: 1}}\n",
       "p.yaml:8:75", "give either the bandwidth"},
      {link + "  l: {joins: [host, gpu], bandwidth: 1GB/s, copies: pageable}\n", "p.yaml:8:53",
       "add this rate, such as pageable: {bandwidth: 6GB/s}"},
      {"devices:\n  gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB, reserved: 1GB}}\n",
       "p.yaml:4:70", "less than the capacity, 1GB"},
      {"devices:\n  gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: unlimited, reserved: "
       "1GB}}\n",
       "p.yaml:4:76", "the memory has no limit, so remove 'reserved'"},
      {link + "  l.m: {joins: [host, gpu], bandwidth: 1GB/s}\n", "p.yaml:8:3", "is not a name"},
      {"devices:\n" + two_gpus + host + "links:\n  l: {joins: [gpu, host], bandwidth: 1GB/s}\n",
       "p.yaml:8:15", "is 2 nodes: gpu0, gpu1"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.text);
    const std::string message = error_of(wrong.text);
    CHECK_THAT(message, Contains(wrong.where + ": error: "));
    CHECK_THAT(message, Contains(wrong.says));
  }
}

TEST_CASE("a document of another format or of another version is not read as a platform") {
  CHECK_THROWS_WITH(read_platform(parse_text("format: sluice-model/1\n", "p.yaml")),
                    Contains("sluice-platform/1"));
  CHECK_THROWS_WITH(read_platform(parse_text("format: sluice-platform/2\n", "p.yaml")),
                    Contains("p.yaml:1:9"));
}

TEST_CASE("every bundled platform is read, gives its sources, and joins all its parts by links") {
  int count = 0;
  const std::filesystem::path zoo = std::filesystem::path(data_root()) / "platforms";
  for (const auto& entry : std::filesystem::directory_iterator(zoo)) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    INFO(entry.path().string());
    const Platform platform = load_platform(entry.path().string());
    CHECK(platform.name == entry.path().stem().string());
    for (const Device& device : platform.devices) {
      CHECK(device.flop_per_s(DType::float32) > 0);
      if (!device.memory().own) continue;  // this device computes in a memory of the platform
      const Path down = platform.path(platform.host().name, device.name);
      const Path up = platform.path(device.name, platform.host().name);
      CHECK(down.device == device.name);
      CHECK(up.device == device.name);
    }
    const Value document = load_file(entry.path().string());
    CHECK(document.find("source") != nullptr);
    CHECK(document.find("summary") != nullptr);
  }
  CHECK(count >= 9);
}

TEST_CASE(
    "cards of a node reach each other over NVLink, and a disk reaches a card through the host") {
  for (const auto& [name, rate] :
       {std::pair("a100_nvlink_8", 228.3e9), std::pair("h100_nvlink_8", 347.7e9)}) {
    const Platform node = load_platform(name);
    REQUIRE(node.devices.size() == 8);
    const Path& path = node.path("gpu2", "gpu5");
    CHECK(channel_names(node, path) == Names{"nvlink.gpu2.up", "nvlink.gpu5.down"});
    CHECK(node.channels[path.channels[0]].bandwidth == rate);
  }
  const Platform disk = load_platform("t4_nvme");
  CHECK(disk.host().name == "host");
  CHECK(channel_names(disk, disk.path("nvme", "gpu")) == Names{"ssd.up", "host.down"});
  CHECK(disk.path("nvme", "gpu").stream == "gpu.host.down");
  CHECK(disk.path("nvme", "host").stream == "nvme.ssd.up");
}

TEST_CASE("the Optane server copies at the rates that AutoTM uses") {
  const Platform server = load_platform("optane_server");
  const auto rate = [&](const char* from, const char* to, CopyMode mode) {
    return server.channels[server.path(from, to, mode).channels.at(0)].bandwidth;
  };
  CHECK(rate("pmem", "dram", CopyMode::synchronous) == 29e9);
  CHECK(rate("dram", "pmem", CopyMode::synchronous) == 12e9);
  CHECK(rate("pmem", "dram", CopyMode::asynchronous) == 2e9);
  CHECK(rate("dram", "pmem", CopyMode::asynchronous) == 2.5e9);
  const Device& cpu = server.device("cpu");
  CHECK((cpu.memories[0].pool == "dram" && cpu.memories[1].pool == "pmem"));
  CHECK((cpu.memory().read == 107.3e9 && cpu.memory().write == 78.6e9));
  // 6 threads get the mean of the rates of 4 and 8 threads. The measured rate of 6 threads was 66.3 GB/s.
  CHECK(load_platform("optane_server", {"devices.cpu.threads=6"}).device("cpu").memory().read ==
        Approx(62.7e9).epsilon(1e-12));
}

TEST_CASE("the platform rx7900xtx_as_written has a thousandth of the real card's FLOP/s") {
  const Platform card = load_platform("rx7900xtx_pcie4");
  const Platform written = load_platform("rx7900xtx_as_written");
  CHECK(card.device("gpu").flop_per_s(DType::float32) == 61e12);
  CHECK(written.device("gpu").flop_per_s(DType::float32) == 61e9);
  CHECK(written.device("gpu").memory().capacity == card.device("gpu").memory().capacity);
  CHECK(written.channels.at(0).bandwidth == 30e9);
}

TEST_CASE("an override changes one value of a bundled platform") {
  const Platform platform = load_platform(
      "ipu_pair_gc200",
      {"links.host.bandwidth=64GB/s", "links.host.sharing=private", "devices.ipu.io_tiles=0"});
  CHECK(platform.channels.at(0).name == "host.ipu0.down");
  CHECK(platform.channels.at(0).bandwidth == 64e9);
  CHECK(platform.device("ipu1").flop_per_s(DType::float16) == 250e12);
}
