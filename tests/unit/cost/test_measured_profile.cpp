// Tests the cost model `measured` with a profile. The comments next to the numbers show how each number is computed.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "cost/account.hpp"
#include "cost/cost.hpp"
#include "document/load.hpp"
#include "profile/utilisation.hpp"
#include "support/bad_input.hpp"
#include "support/models.hpp"

using namespace sluice;
using sluice::test::error_of;

namespace {

/// Returns a platform with a device of 10 TFLOP/s and a memory of 100 GB/s. The idle device takes 20 W.
Platform bench() {
  return read_platform(
      parse_text("format: sluice-platform/1\n"
                 "devices: {gpu: {rate: {float32: 10TFLOP/s}, idle: 20W, busy: 100W, "
                 "memory: {capacity: 1GB, bandwidth: 100GB/s}}}\n"
                 "memories: {host: {capacity: unlimited}}\n"
                 "links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}\n",
                 "bench.yaml"));
}

Model small() {
  return sluice::test::model_of(
      "- {type: input, name: x, shape: [30]}\n"
      "- {type: dense, name: full, features: 50, bias: false}\n"
      "- {type: relu, name: last}\n");
}

const std::string columns =
    "operator,config,inputs,batch,node,cache,pass,dtype,seconds_samples,joules_mean\n";
const std::string full = "dense,dense bias=false features=50 sparsity=0,";
const std::string rows = full + "4x30,4,a,,forward,float32,0.002;0.004;0.003,0.9\n" + full +
                         "4x30,4,a,,backward,float32,0.006,\n" + full +
                         "16x30,16,a,,forward,float32,0.006,\n"
                         "relu,relu,4x50,4,b,hot,forward,,0.001,\n"
                         "relu,relu,4x50,4,b,cold,forward,,0.005,\n";

struct Prices {
  Platform platform = bench();
  Model model = small();
  ChosenCost cost;

  explicit Prices(const std::string& keys, const std::string& text = columns + rows,
                  const std::string& header = "") {
    const auto file = std::filesystem::temp_directory_path() /
                      ("sluice_measured_" + std::to_string(getpid()) + ".csv");
    std::ofstream(file) << "# format: sluice-profile/1\n" << header << text;
    Value mapping = parse_text("{model: measured" + keys + "}", "cost.yaml");
    mapping.set("profile", Value::make(file.string()));
    cost = choose_cost(mapping, "", platform);
    std::filesystem::remove(file);
  }
  Price of(std::size_t layer, std::int64_t samples, Pass pass = Pass::forward) const {
    return cost->of(query_of(model, model.layers[layer], pass, samples, DType::float32,
                             platform.devices.front()));
  }
};

}  // namespace

TEST_CASE(
    "a row of a profile prices a layer with the configuration, shapes, batch and pass of the row") {
  const Prices prices(", where: {pass: forward}, statistic: median");
  const Price full_price = prices.of(1, 4);
  CHECK(full_price.seconds == 0.003);
  CHECK(full_price.measured_s == 0.003);
  CHECK(full_price.flop == 2.0 * 4 * 30 * 50);
  // The measured 0.9 J include 20 W of idle power for 3 ms. The price has only the rest, 0.9 - 20 x 0.003 J.
  CHECK(full_price.joules == Approx(0.84).epsilon(1e-15));
  CHECK(full_price.joules_s == 0.003);
  CHECK(prices.of(1, 4, Pass::recompute).seconds == 0.003);
  CHECK(Prices(", statistic: mean", columns + full + "4x30,4,a,,forward,,0.001;0.001;0.004,\n")
            .of(1, 4)
            .seconds == Approx(0.002));
}

TEST_CASE(
    "the idle power of a profile replaces the device's idle power, and is not subtracted from joules above idle") {
  CHECK(Prices("", columns + rows, "# idle: 50W\n").of(1, 4).joules == Approx(0.9 - 50 * 0.003));
  CHECK(Prices("", columns + rows, "# joules: above_idle\n").of(1, 4).joules == 0.9);
}

TEST_CASE(
    "one of the two gradients takes its share of a backward pass that was measured as a whole") {
  const Prices prices("");
  // The model's input has no gradient, so the whole backward pass computes the gradient of the weights.
  CHECK(prices.of(1, 4, Pass::backward).seconds == 0.006);
  CHECK(prices.of(1, 4, Pass::backward_weight).seconds == 0.006);
  CHECK(prices.of(1, 4, Pass::backward_input).seconds == 0);
}

TEST_CASE(
    "layers that were not measured are refused or, if `outside` names a cost model, priced by this cost model") {
  const Prices prices("");
  CHECK(error_of([&] { prices.of(1, 8); }).find("it was measured for 4, 16 samples") !=
        std::string::npos);
  CHECK(error_of([&] { prices.of(1, 16, Pass::backward); }).find("was measured for 4 samples") !=
        std::string::npos);
  CHECK(
      error_of([&] {
        prices.of(2, 4);
      }).find("with cache cold and hot; choose one of these values: with cost.where={cache: cold} in a scenario") !=
      std::string::npos);
  CHECK(Prices(", where: {cache: hot}").of(2, 4).seconds == 0.001);
  CHECK(error_of([&] { Prices(", where: {cache: hot}").of(1, 4); }).find("was not measured") !=
        std::string::npos);
  const Price fallen = Prices(", outside: peak").of(1, 8);
  CHECK(fallen.seconds == 2.0 * 8 * 30 * 50 / 10e12);
  CHECK(fallen.measured_s == 0);
  CHECK(error_of([] {
          Prices(", outside: measured");
        }).find("expected one of refuse, peak, roofline") != std::string::npos);
  CHECK(prices.cost->only_samples(prices.model) == 0);
  CHECK(Prices(", where: {batch: 4}").cost->only_samples(prices.model) == 4);
  const Value keys = parse_text("{model: measured, interpolate: batch}", "c.yaml");
  CHECK(error_of([&] { choose_cost(keys, "", prices.platform); }).find("give profile: FILE") !=
        std::string::npos);
}

TEST_CASE(
    "between two batches, the reached share of the rates is interpolated, and not the seconds") {
  const Prices prices(", interpolate: batch");
  // Bytes limit the layer: n samples move 4 x (n x 80 + 1500) bytes, at most at 100 GB/s. The measured times of 4 and
  // 16 samples are 3 ms and 6 ms. `low` and `high` are the shares of 100 GB/s that were reached.
  const auto ideal = [](double n) { return 4 * (n * 80 + 1500) / 100e9; };
  const double low = ideal(4) / 0.003, high = ideal(16) / 0.006;
  // On a logarithmic scale, 8 is half way between 4 and 16. So its share is the geometric mean of `low` and `high`.
  const Price between = prices.of(1, 8);
  CHECK(between.seconds == Approx(ideal(8) / std::sqrt(low * high)).epsilon(1e-12));
  CHECK(between.measured_s == 0);
  CHECK(prices.of(1, 4).measured_s == 0.003);
  CHECK(error_of([&] { prices.of(1, 32); }).find("was not measured") != std::string::npos);
}

TEST_CASE(
    "the account of a price names the device of the rows and the error of the interpolation") {
  // The rows of 4 and 16 samples reach the same share of the device's rates. The row of 8 samples reaches half of this
  // share. To find the error of the interpolation, the seconds of 8 samples are estimated from the rows of 4 and 16
  // samples. The estimate is half of the measured seconds, so the error is 0.5.
  const auto ideal = [](double n) { return 4 * (n * 80 + 1500) / 100e9; };
  std::string text = "operator,config,inputs,batch,dtype,device,seconds_median\n";
  for (const int n : {4, 8, 16})
    text += full + std::to_string(n) + "x30," + std::to_string(n) + ",float32,card," +
            std::to_string(1e9 * ideal(n) * (n == 8 ? 2 : 1)) + "e-6\n";
  const auto grounds = [&](const Prices& prices, std::int64_t samples) {
    const auto all =
        prices.cost->grounds(query_of(prices.model, prices.model.layers[1], Pass::forward, samples,
                                      DType::float32, prices.platform.devices.front()));
    REQUIRE(all.size() == 1);
    return all.front();
  };
  const Prices prices(", interpolate: batch", text);
  CHECK(grounds(prices, 8).measured);
  CHECK(grounds(prices, 8).on == "card");
  const Grounds between = grounds(prices, 10);
  CHECK(between.interpolated);
  CHECK(between.on == "card");
  CHECK(between.median == Approx(0.5).epsilon(1e-5));
  CHECK(between.ninety == Approx(0.5).epsilon(1e-5));
  // An error is given only for a row that lies between two other rows, because it is estimated from these. Here are
  // only two rows. The rows do not name a device, so the header names their device.
  const Prices two(", interpolate: batch, where: {pass: forward}", columns + rows,
                   "# device: disk\n");
  CHECK(std::isnan(grounds(two, 8).median));
  CHECK(grounds(two, 8).on == "disk");
  CHECK(grounds(Prices(""), 4).on == "");
  const Account account =
      account_of(*prices.cost, prices.model, prices.platform.devices.front(), DType::float32, 10);
  CHECK(account.interpolation_errors.median == Approx(0.5).epsilon(1e-5));
  CHECK(account.measured_on == std::vector<std::string>{"card"});
}

TEST_CASE("rows of several batches that were measured in different ways are not interpolated") {
  const std::string text = "operator,config,inputs,batch,cache,dtype,seconds_median\n" + full +
                           "4x30,4,hot,float32,0.001\n" + full + "16x30,16,cold,float32,0.02\n";
  CHECK(error_of([&] {
          Prices(", interpolate: batch", text).of(1, 8);
        }).find("measured with cache cold and hot") != std::string::npos);
}

TEST_CASE(
    "with memory_power, seconds without joules take less power if memory limits the operator") {
  // Only the row of 4 samples has joules. At the full rates, the bytes of 4 samples take 72.8 ns, and their FLOP take
  // 1.2 ns. So memory limits the operator.
  const Prices prices(", where: {pass: forward}, memory_power: 50%");
  CHECK(prices.of(1, 4).joules == Approx(0.84).epsilon(1e-15));
  CHECK(prices.of(1, 4).measured_j == prices.of(1, 4).joules);
  const Price without = prices.of(1, 16);
  CHECK(without.joules == Approx(0.5 * (100 - 20) * 0.006).epsilon(1e-12));
  CHECK(without.joules_s == 0.006);
  CHECK(without.measured_j == 0);
  CHECK(Prices(", where: {pass: forward}").of(1, 16).joules_s == 0);
  // The model of `outside` gets `memory_power` if it has such a key. Roofline has, peak has not.
  const Price outside = Prices(", outside: roofline, memory_power: 50%").of(1, 8);
  CHECK(outside.joules == Approx(0.5 * (100 - 20) * outside.seconds).epsilon(1e-12));
  CHECK(Prices(", outside: peak, memory_power: 50%").of(1, 8).joules_s == 0);
}

TEST_CASE(
    "products of sizes that were not measured are estimated from measured products, within the range of the measured "
    "sizes") {
  // For a product with m rows, the measured machine reaches m^0.5 / 1000 of its 10 TFLOP/s. The logarithm of this share
  // is a linear function of log m. The interpolation fits a linear function, so its estimates are exact.
  std::string table = "operator,sizes,dtype,seconds_median\n";
  const auto seconds = [](double m, double n, double k) {
    return 2 * m * n * k / 10e12 / (std::sqrt(m) / 1000);
  };
  for (const int m : {4096, 8192, 16384})
    for (const int n : {4096, 8192})
      for (const int k : {4096, 8192})
        table += "gemm,m=" + std::to_string(m) + ";n=" + std::to_string(n) +
                 ";k=" + std::to_string(k) + ",float32," + std::to_string(seconds(m, n, k)) + "\n";
  const Prices prices(", interpolate: sizes", table);
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [5000]}\n"
      "- {type: dense, name: y, features: 6000, bias: false}\n");
  const auto of = [&](std::int64_t samples) {
    return prices.cost
        ->of(query_of(model, model.layers[1], Pass::forward, samples, DType::float32,
                      prices.platform.devices.front()))
        .seconds;
  };
  CHECK(of(10000) == Approx(seconds(10000, 6000, 5000)).epsilon(1e-3));
  CHECK(error_of([&] { of(100); }).find("was not measured") != std::string::npos);
}

TEST_CASE(
    "rows of a class that were measured in different ways are an error only for layers of this class") {
  std::string table = "operator,config,inputs,batch,cache,dtype,device,seconds_median\n";
  for (const int n : {4, 8, 16}) {
    const std::string batch = std::to_string(n), wide = std::to_string(5 * n);
    table += "relu,relu," + batch + "x" + wide + "," + batch + ",hot,float32,card,0.00" + batch +
             "\n" + full + batch + "x20," + batch + (n == 8 ? ",cold" : ",hot") +
             ",float32,card,0.01\n";
  }
  const Prices prices(", interpolate: sizes", table);
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [20]}\n"
      "- {type: dense, name: y, features: 40, bias: false}\n"
      "- {type: relu, name: z}\n");
  const auto query = [&](std::size_t layer) {
    return query_of(model, model.layers[layer], Pass::forward, 6, DType::float32,
                    prices.platform.devices.front());
  };
  CHECK(prices.cost->of(query(2)).seconds > 0);
  const Grounds grounds = prices.cost->grounds(query(2)).front();
  CHECK(grounds.on == "card");
  CHECK_FALSE(std::isnan(grounds.median));
  CHECK(error_of([&] {
          prices.cost->of(query(1));
        }).find("operators of the class 'linear' were measured with cache cold and hot") !=
        std::string::npos);
}

TEST_CASE(
    "convolutions and elementwise operators of sizes that were not measured are estimated from measured "
    "operators of their class") {
  // The measured machine reaches 1 / 20 of its 100 GB/s in streams. In convolutions with c channels, the machine
  // reaches sqrt(c) / 1000 of its 10 TFLOP/s. So the logarithm of the share that the machine
  // reaches is a linear function of the logarithms of the sizes. The interpolation fits a linear function, so its
  // estimates are exact.
  std::string table = "operator,config,inputs,batch,dtype,seconds_median\n";
  const auto conv_s = [](double samples, double channels) {
    return 2 * samples * 64 * channels * 9 * 512 / 10e12 / (std::sqrt(channels) / 1000);
  };
  const auto relu_s = [](double samples, double channels) {
    return 2 * 4 * samples * 64 * channels / 100e9 * 20;
  };
  for (const int samples : {64, 128, 256})
    for (const int channels : {64, 128, 256}) {
      const std::string batch = std::to_string(samples), wide = std::to_string(channels);
      table += "conv2d,conv2d channels=" + wide + " groups=1 kernel=3 padding=1 stride=1," + batch +
               "x8x8x512," + batch + ",float32," + std::to_string(conv_s(samples, channels)) +
               "\n" + "relu,relu," + batch + "x8x8x" + wide + "," + batch + ",float32," +
               std::to_string(1e3 * relu_s(samples, channels)) + "e-3\n";
    }
  const Prices prices(", interpolate: sizes", table);
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [8, 8, 512]}\n"
      "- {type: conv2d, name: c, channels: 90, kernel: 3, padding: 1, bias: false}\n"
      "- {type: relu, name: r}\n"
      "- {type: softmax, name: s}\n");
  const auto of = [&](std::size_t layer, std::int64_t samples) {
    return prices.cost
        ->of(query_of(model, model.layers[layer], Pass::forward, samples, DType::float32,
                      prices.platform.devices.front()))
        .seconds;
  };
  CHECK(of(1, 100) == Approx(conv_s(100, 90)).epsilon(0.01));
  CHECK(of(2, 100) == Approx(relu_s(100, 90)).epsilon(0.01));
  CHECK(error_of([&] { of(1, 500); }).find("was not measured") != std::string::npos);
  // A softmax is an operator of a class of its own. The profile has no row of this class.
  CHECK(error_of([&] { of(3, 100); }).find("was not measured") != std::string::npos);
}

TEST_CASE(
    "products are estimated from rows of one device without sparsity, and equal rows count with their median") {
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [1000]}\n"
      "- {type: dense, name: y, features: 1000, bias: false}\n");
  const auto of = [&](const std::string& table, const std::string& keys = "") {
    const Prices prices(", interpolate: sizes" + keys, table);
    return prices.cost
        ->of(query_of(model, model.layers[1], Pass::forward, 1000, DType::float32,
                      prices.platform.devices.front()))
        .seconds;
  };
  const std::string head = "operator,sizes,dtype,device,cache,node,sparsity,seconds_median\n";
  const auto row = [](const std::string& circumstances, const std::string& seconds) {
    return "gemm,m=1000;n=1000;k=1000,float32," + circumstances + "," + seconds + "\n";
  };
  const std::string fast = row("fast,hot,1,", "0.001"), slow = row("slow,hot,1,", "0.005");
  CHECK(error_of([&] { of(head + fast + slow); })
            .find("operators of the class 'linear' were measured with device fast and slow; choose "
                  "one of these values: with cost.where={device: fast} in a scenario") !=
        std::string::npos);
  CHECK(of(head + fast + slow, ", where: {device: slow}") == Approx(0.005));
  CHECK(error_of([&] {
          of(head + fast + row("fast,cold,1,", "0.002"));
        }).find("with cache cold and hot") != std::string::npos);
  CHECK(of(head + row("fast,hot,0,0.9", "0.0001") + fast) == Approx(0.001));
  CHECK(of(head + row("fast,hot,2,", "0.009") + fast + row("fast,hot,3,", "0.002")) ==
        Approx(0.002));
}

TEST_CASE("a row that is left out is estimated from the other rows if it lies between them") {
  // A point {size, reached share of the rates} has the share size / 10. The interpolation is exact for a power of the
  // size, so the estimates have no error. The first and the last point have only one neighbour: they get no estimate.
  const Utilisation power({{{1}, 0.1}, {{2}, 0.2}, {{4}, 0.4}, {{8}, 0.8}});
  CHECK(power.left_out().rows == 2);
  CHECK(power.left_out().median == Approx(0).margin(1e-12));
  CHECK(*power.share({3}) == Approx(0.3));
  CHECK(*power.share({8}) == 0.8);
  CHECK_FALSE(power.share({9}));
  // On a logarithmic scale, 0.2 is in the middle between 0.1 and 0.4. So 0.2 is the estimate of the measured share
  // 0.25. The estimated seconds are 0.25 / 0.2 = 1.25 times the measured seconds.
  const Utilisation off({{{1}, 0.1}, {{2}, 0.25}, {{4}, 0.4}});
  CHECK(off.left_out().rows == 1);
  CHECK(off.left_out().median == Approx(0.25));
}

TEST_CASE(
    "the account says which seconds were measured, which were interpolated, and which come from another cost model") {
  const Prices prices(", interpolate: batch, outside: roofline, where: {pass: forward}",
                      columns + rows.substr(0, rows.find("relu")));
  const Device& gpu = prices.platform.devices.front();
  const auto account = [&](std::int64_t samples) {
    return account_of(*prices.cost, prices.model, gpu, DType::float32, samples);
  };
  // The profile has no row for the relu, so `roofline` prices it at the rates of the device. For each sample, the relu
  // reads and writes 50 elements of 4 B. For 4 samples, these 1600 B take 16 ns at 100 GB/s.
  const double relu = 16e-9;
  CHECK(prices.of(2, 4).seconds == Approx(relu));
  const Account exact = account(4);
  CHECK(exact.seconds == Approx(0.003 + relu).epsilon(1e-12));
  CHECK(exact.measured == Approx(0.003 / (0.003 + relu)).epsilon(1e-12));
  CHECK(exact.interpolated == 0);
  CHECK(account_text(exact).empty());
  const Account between = account(8);
  const double dense = prices.of(1, 8).seconds;
  CHECK(between.measured == 0);
  CHECK(between.interpolated == Approx(dense / (dense + 2 * relu)).epsilon(1e-12));
  CHECK(account_text(between) ==
        "100 % of the computation's seconds were interpolated between rows of the profile. For 100 % of the "
        "seconds the error of the interpolation is not known: of the rows behind these seconds, none lies between "
        "other rows, so none can be estimated from them as a test.");
}

TEST_CASE("a cost model says which files it reads, and which key names a missing file") {
  const Platform platform = bench();
  const Prices prices(", outside: fitted");
  const auto files = prices.cost->files(platform);
  REQUIRE(files.size() == 1);
  CHECK(files[0].what == "cost.profile");
  CHECK(plain_cost("roofline")->files(platform).empty());
  Platform fitted = platform;
  fitted.devices.front().fit = "t4";
  CHECK(prices.cost->files(fitted).back().what == "the fit t4");
  for (const std::string& keys : {std::string("{model: measured, profile: no.csv}"),
                                  std::string("{model: fitted, file: no.yaml}")}) {
    const std::string error =
        error_of([&] { choose_cost(parse_text(keys, "c.yaml"), "", platform); });
    CHECK(error.find("3 c.yaml:1:") == 0);
    CHECK(error.find("cannot read") != std::string::npos);
  }
}

TEST_CASE("with statistic least, the price is the least of several samples") {
  CHECK(Prices(", where: {pass: forward}, statistic: least").of(1, 4).seconds == 0.002);
}
