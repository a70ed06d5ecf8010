// Tests the fit of a link to measured copies. Here, the seconds of the copies are computed from the numbers of a link,
// and the fit must find these numbers again.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "document/bundled.hpp"
#include "document/load.hpp"
#include "platform/platform.hpp"
#include "profile/link_fit.hpp"
#include "support/bad_input.hpp"

using namespace sluice;
using sluice::test::error_of;

namespace {

const std::string head =
    "# format: sluice-profile/1\noperator,sizes,input_pools,output_pools,method,seconds_median\n";

/// Returns the rows of a profile of copies. The copies have 1 kB to 1 GB, and take `constant` + bytes / `bandwidth`
/// seconds.
std::string copies(const std::string& from, const std::string& to, const std::string& method,
                   double constant, double bandwidth) {
  std::string rows;
  for (double bytes = 1e3; bytes < 2e9; bytes *= 10)
    rows += "copy,bytes=" + std::to_string(static_cast<std::int64_t>(bytes)) + "," + from + "," +
            to + "," + method + "," + std::to_string(1e6 * (constant + bytes / bandwidth)) +
            "e-6\n";
  return rows;
}

Profile profile(const std::string& rows) {
  return parse_profile(head + rows, "copies.csv");
}

/// Returns whether at least one channel of the route has the bandwidth `rate`. The route may have other channels, for
/// example a channel that both directions of the link share.
bool has_rate(const Platform& platform, const std::string& from, const std::string& to,
              double rate) {
  const Path& path = platform.path(from, to);
  return std::any_of(path.channels.begin(), path.channels.end(), [&](auto channel) {
    return platform.channels[channel].bandwidth == Approx(rate).epsilon(1e-4);
  });
}

}  // namespace

TEST_CASE("the fit finds the latency, set-up and bandwidth with which the copies were computed") {
  const Profile read = profile(copies("pinned", "device", "single", 12e-6, 25e9) +
                               copies("pinned", "device", "queued", 10e-6, 25e9) +
                               copies("device", "pinned", "queued", 8e-6, 20e9) +
                               copies("pageable", "device", "single", 30e-6, 6e9));
  const std::vector<LinkDirection> found = fit_link(read);
  REQUIRE(found.size() == 3);
  CHECK(found[0].direction == "down");
  CHECK(found[0].memory == "pageable");
  CHECK(found[0].fit.bandwidth == Approx(6e9).epsilon(1e-4));
  CHECK(found[1].memory == "pinned");
  CHECK(found[1].setup_s() == Approx(10e-6).epsilon(1e-4));
  CHECK(found[1].latency_s() == Approx(2e-6).epsilon(1e-3));
  CHECK(found[1].fit.worst_error < 1e-4);
  CHECK(found[2].direction == "up");
  CHECK(found[2].fit.bandwidth == Approx(20e9).epsilon(1e-4));
  CHECK(found[2].latency_s() == 0);

  // The written link can replace the link of a platform.
  Value document = link_document(found, "host", "gpu", "k40");
  CHECK(to_yaml(document).find("file: k40") != std::string::npos);
  Value alone = link_document(found, "host", "gpu", "");
  alone.set("format", Value::make(std::string("sluice-platform/1")));
  alone.set("devices",
            parse_text("{gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 1GB}}}", "d.yaml"));
  alone.set("memories", parse_text("{host: {capacity: unlimited}}", "m.yaml"));
  const Platform platform = read_platform(parse_text(to_yaml(alone), "p.yaml"));
  const Path& down = platform.path("host", "gpu");
  CHECK(down.setup_s == Approx(10e-6).epsilon(1e-4));
  CHECK(down.latency_s == Approx(2e-6).epsilon(1e-3));
  CHECK(platform.channels[down.channels.front()].bandwidth == Approx(25e9).epsilon(1e-4));
  CHECK(platform.channels[platform.path("gpu", "host").channels.front()].bandwidth ==
        Approx(20e9).epsilon(1e-4));
}

TEST_CASE("a fitted link can replace the link of each platform that comes with Sluice") {
  const std::string pinned = copies("pinned", "device", "", 10e-6, 25e9),
                    back = copies("device", "pinned", "", 8e-6, 20e9),
                    pageable = copies("pageable", "device", "", 30e-6, 6e9) +
                               copies("device", "pageable", "", 30e-6, 5e9);
  const auto file = std::filesystem::temp_directory_path() /
                    ("sluice_link_" + std::to_string(getpid()) + ".yaml");
  std::size_t written = 0;
  for (const std::string& name : bundled_names("platforms")) {
    // This platform includes a file, and its links are in this file.
    if (name == "rx7900xtx_as_written") continue;
    if (name == "optane_server") continue;  // no link joins this processor to a host
    CAPTURE(name);
    for (const std::string& rows : {pinned, pinned + back, back, pinned + back + pageable}) {
      const auto found = fit_link(profile(rows));
      std::ofstream(file) << to_yaml(link_document(found, "host", "gpu", name));
      const Platform platform = load_platform(file.string());
      const std::string memory = name.rfind("ipu", 0) == 0 ? "streaming" : "host";
      const std::string& device = platform.devices.front().name;
      CHECK(has_rate(platform, memory, device, rows == back ? 20e9 : 25e9));
      if (rows != pinned) CHECK(has_rate(platform, device, memory, 20e9));
      ++written;
    }
  }
  std::filesystem::remove(file);
  CHECK(written >= 80);
  const auto found = fit_link(profile(pinned));
  CHECK(error_of([&] { link_document(found, "hots", "gpu", "k40"); }).find("did you mean 'host'") !=
        std::string::npos);
}

TEST_CASE("the fitted time of 0 bytes is never below 0 s") {
  // A copy of 1 kB takes 1 us, and a copy of 2 kB takes 4 us. A line through these two points would give -2 us for 0
  // bytes.
  const auto found = fit_link(
      profile("copy,bytes=1000,pinned,device,,1e-6\ncopy,bytes=2000,pinned,device,,4e-6\n"));
  CHECK(found[0].setup_s() == 0);
  // So a line through 0 is fitted instead. If a copy of s bytes takes t seconds, its rate is s / t. The slope of the
  // line is the sum of the rates, divided by the sum of their squares: (1e9 + 5e8) / (1e18 + 2.5e17) = 1.2e-9 s/B.
  CHECK(found[0].fit.bandwidth == Approx(1 / 1.2e-9));
  CHECK(found[0].fit.worst_error == Approx(0.4));
}

TEST_CASE("if no link can be fitted to the copies, the message says which data the copies lack") {
  CHECK(error_of([] { fit_link(profile("gemm,,,,,1\n")); }).find("holds no copies") !=
        std::string::npos);
  CHECK(error_of([] {
          fit_link(profile("copy,,pinned,device,,1\n"));
        }).find("3 copies.csv:3:1: error: this copy does not say how many bytes") == 0);
  CHECK(error_of([] {
          fit_link(profile("copy,bytes=1,device,device,,1\n"));
        }).find("a copy from 'device' to 'device'") != std::string::npos);
  CHECK(error_of([] {
          fit_link(profile("copy,bytes=1,pinned,device,,1\n"));
        }).find("in only one size") != std::string::npos);
  CHECK(error_of([] {
          fit_link(profile("copy,bytes=1,pinned,device,,2\ncopy,bytes=3,pinned,device,,1\n"));
        }).find("do not take longer") != std::string::npos);
}

TEST_CASE("copies of only pageable memory leave the rates of pinned memory as they are") {
  const auto found = fit_link(profile(copies("pageable", "device", "", 30e-6, 6e9) +
                                      copies("device", "pageable", "", 20e-6, 4e9)));
  const Value document = link_document(found, "host", "gpu", "k40");
  const Value& link = *document.find("links")->find("host");
  CHECK_FALSE(link.find("bandwidth"));
  CHECK_FALSE(link.find("share"));
  CHECK(link.find("copies")->text() == "pageable");
  const auto file = std::filesystem::temp_directory_path() /
                    ("sluice_pageable_" + std::to_string(getpid()) + ".yaml");
  for (const std::string name : {"k40", "a100_pcie", "t4"}) {
    CAPTURE(name);
    std::ofstream(file) << to_yaml(link_document(found, "host", "gpu", name));
    Value pinned = load_document(file.string(), "platforms");
    const Platform own = load_platform(name);
    const std::string& device = own.devices.front().name;
    const Platform measured = load_platform(file.string());
    CHECK(has_rate(measured, "host", device, 6e9));
    CHECK(has_rate(measured, device, "host", 4e9));
    CHECK(measured.path("host", device).setup_s == Approx(30e-6).epsilon(1e-4));
    pinned.find("links")->find("host")->set("copies", Value::make(std::string("pinned")));
    const Platform as_before = read_platform(pinned);
    for (const bool down : {true, false}) {
      const auto rate = [&](const Platform& platform) {
        const Path& path = down ? platform.path("host", device) : platform.path(device, "host");
        return platform.channels[path.channels.front()].bandwidth;
      };
      CHECK(rate(as_before) == rate(own));
    }
  }
  std::filesystem::remove(file);
  CHECK(error_of([&] {
          link_document(found, "host", "gpu", "");
        }).find("measure pinned copies, too, or name a platform") != std::string::npos);
}
