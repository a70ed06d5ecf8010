// Tests that the seconds of a pass depend on the memories of its operands. The comments next to the numbers show how
// each number is computed.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/version.hpp"
#include "cost/operands.hpp"
#include "document/load.hpp"
#include "planning/copy_time.hpp"
#include "planning/placed_price.hpp"
#include "support/bad_input.hpp"
#include "support/models.hpp"

using namespace sluice;
using Catch::Matchers::Contains;
using sluice::test::error_of;

namespace {

/// Returns a platform with one device and three memories. The device reads DRAM at 100 GB/s and writes DRAM at 50 GB/s.
/// The device reads PMEM at 20 GB/s and writes PMEM at 5 GB/s. The third memory is a disk behind a link.
Platform server(const std::string& dram = "read: 100GB/s, write: 50GB/s") {
  return read_platform(
      parse_text("format: sluice-platform/1\n"
                 "devices: {cpu: {rate: {float32: 1TFLOP/s}, memory: [dram, pmem]}}\n"
                 "memories:\n"
                 "  dram: {capacity: 192GB" +
                     std::string(dram.empty() ? "" : ", ") + dram +
                     "}\n"
                     "  pmem: {capacity: 768GB, read: 20GB/s, write: 5GB/s}\n"
                     "  disk: {capacity: unlimited}\n"
                     "  tape: {capacity: unlimited}\n"
                     "links: {ssd: {joins: [dram, disk], bandwidth: 2GB/s}}\n",
                 "server.yaml"));
}

/// Returns a model with two layers: a product with weights of 30 x 50, and a relu.
Model small() {
  return sluice::test::model_of(
      "- {type: input, name: x, shape: [30]}\n"
      "- {type: dense, name: full, features: 50, bias: false}\n"
      "- {type: relu, name: last}\n");
}

struct SmallQuestion {
  Platform platform = server();
  Model model = small();
  ChosenCost cost = plain_cost("roofline");

  Query query(std::size_t layer, Pass pass = Pass::forward) const {
    return query_of(model, model.layers[layer], pass, 1000, DType::float32,
                    platform.devices.front());
  }
  Query placed(std::size_t layer, const std::vector<std::string>& pools,
               Pass pass = Pass::forward) const {
    return placed_query(query(layer, pass), pools);
  }
};

// The bytes of the operands of layer `full` for 1000 samples in float32.
constexpr double input = 4.0 * 1000 * 30, weights = 4.0 * 30 * 50, output = 4.0 * 1000 * 50;

}  // namespace

TEST_CASE("for every pass, the bytes of its operands add up to the bytes of its work") {
  int passes = 0;
  for (const char* name : {"cnn_mnist", "gpt2", "resnet18"}) {
    const Model model = load_model(sluice::test::zoo + name + ".yaml", {});
    for (const Layer& layer : model.layers)
      for (const Pass pass : {Pass::forward, Pass::backward, Pass::recompute, Pass::backward_input,
                              Pass::backward_weight}) {
        INFO(name << " " << layer.name << " " << name_of(pass));
        const Work work = work_of(model, layer, pass, 3, DType::float16);
        double bytes = 0, written = 0;
        for (const Operand& operand : operands_of(model, layer, pass, 3, DType::float16)) {
          bytes += operand.read + operand.written;
          written += operand.written;
          CHECK_FALSE(operand.name.empty());
        }
        CHECK(bytes == Approx(work.bytes).epsilon(1e-12));
        CHECK(written == Approx(work.written).epsilon(1e-12));
        ++passes;
      }
  }
  CHECK(passes > 500);
}

TEST_CASE("the operands of a pass are named and have the order of a profile's columns") {
  const SmallQuestion question;
  const auto operands =
      operands_of(question.model, question.model.layers[1], Pass::forward, 1000, DType::float32);
  REQUIRE(operands.size() == 3);
  CHECK((operands[0].name == "input 'x'" && operands[0].read == input));
  CHECK((operands[1].name == "weights of 'full'" && operands[1].read == weights));
  CHECK((operands[2].name == "output of 'full'" && operands[2].written == output));
}

TEST_CASE("under roofline, the seconds of a device's memories add up") {
  const SmallQuestion question;
  const auto seconds = [&](const std::vector<std::string>& pools) {
    return question.cost->of(question.placed(1, pools)).seconds;
  };
  const double in_dram = (input + weights) / 100e9 + output / 50e9;
  CHECK(seconds({"dram", "dram", "dram"}) == Approx(in_dram).epsilon(1e-14));
  // If no memory is named for an operand, the operand is in the device's first memory, which is DRAM.
  CHECK(question.cost->of(question.query(1)).seconds == Approx(in_dram).epsilon(1e-14));
  CHECK(seconds({"pmem", "dram", "dram"}) ==
        Approx(input / 20e9 + weights / 100e9 + output / 50e9).epsilon(1e-14));
  CHECK(seconds({"dram", "dram", "pmem"}) ==
        Approx((input + weights) / 100e9 + output / 5e9).epsilon(1e-14));
  CHECK(seconds({"pmem", "pmem", "pmem"}) ==
        Approx((input + weights) / 20e9 + output / 5e9).epsilon(1e-14));
  // If both memories work at the same time, only the memory that takes longer counts. This is PMEM, which writes the
  // 200 kB of the output at 5 GB/s.
  const ChosenCost together = choose_cost(
      parse_text("{model: roofline, pools: side_by_side}", "c.yaml"), "", question.platform);
  CHECK(together->of(question.placed(1, {"dram", "dram", "pmem"})).seconds ==
        Approx(output / 5e9).epsilon(1e-14));
  // In all these cases, bytes limit the pass, and not FLOP. The 3 MFLOP take 3 us at 1 TFLOP/s, and even with all
  // operands in DRAM, the bytes take 5.26 us.
  CHECK(in_dram == Approx(5.26e-6).epsilon(1e-3));
}

TEST_CASE("the bytes of operands behind a link flow while the device uses the other operands") {
  const SmallQuestion question;
  const PlacedPrice placed =
      placed_price(question.platform, *question.cost, question.placed(1, {"disk", "pmem", "dram"}));
  CHECK(placed.price.seconds == Approx(weights / 20e9 + output / 50e9).epsilon(1e-14));
  CHECK(placed.price.bytes == weights + output);
  CHECK(placed.price.flop == 2.0 * 1000 * 30 * 50);
  REQUIRE(placed.flows.size() == 1);
  CHECK((placed.flows[0].from == "disk" && placed.flows[0].to == "cpu"));
  CHECK((placed.flows[0].bytes == input && placed.flows[0].operand == 0));
  const PlacedPrice out =
      placed_price(question.platform, *question.cost, question.placed(1, {"dram", "dram", "disk"}));
  REQUIRE(out.flows.size() == 1);
  CHECK((out.flows[0].from == "cpu" && out.flows[0].to == "disk"));
  const PlacedPrice all =
      placed_price(question.platform, *question.cost, question.placed(1, {"disk", "disk", "disk"}));
  CHECK(all.flows.size() == 3);
  CHECK((all.price.seconds == 3e-6 && all.price.bytes == 0));  // 3 MFLOP at 1 TFLOP/s
  CHECK(out.price.seconds == Approx(std::max((input + weights) / 100e9, 3e-6)).epsilon(1e-14));
}

TEST_CASE(
    "a placement that has no price is refused, and the message names the layer, the operand and the memory") {
  const SmallQuestion question;
  const auto refused = [&](const std::vector<std::string>& pools) {
    return error_of(
        [&] { placed_price(question.platform, *question.cost, question.placed(1, pools)); });
  };
  CHECK_THAT(refused({"dram", "", "dram"}),
             Contains("forward of layer 'full': weights of 'full' are in no memory"));
  CHECK_THAT(refused({"dram", "dram"}), Contains("it has 3 operands, but 2 memories are given"));
  CHECK_THAT(refused({"dram", "tape", "dram"}),
             Contains("weights of 'full' are in 'tape'") && Contains("no link that leads"));
  CHECK_THAT(refused({"drum", "dram", "dram"}),
             Contains("input 'x' is in 'drum'") && Contains("did you mean 'dram'"));
  // Bytes from the disk come over a link, as flows. A price that the cost model's function of() returns has no flows.
  // So of() refuses a pass with an operand on the disk.
  CHECK_THAT(error_of([&] {
               question.cost->of(question.placed(1, {"disk", "dram", "dram"}));
             }),
             Contains("input 'x' is in 'disk'") && Contains("the device reaches dram, pmem"));
  SmallQuestion without;
  without.platform = server("write: 50GB/s");
  CHECK_THAT(
      error_of([&] {
        without.cost->of(without.placed(1, {"dram", "dram", "dram"}));
      }),
      Contains("forward of layer 'full': input 'x' is in 'dram', but the platform gives no rate at "
               "which device 'cpu' could read it"));
  CHECK_THAT(error_of([&] { without.cost->of(without.query(1)); }),
             Contains("device 'cpu' uses the memory 'dram', which lacks the rates"));
}

namespace {

/// Returns the cost model `measured` with a profile that has measurements of the layer `full`. Each of the `rows` has
/// the form "POOLS READ,POOLS WRITTEN,SECONDS".
ChosenCost measured_so(const Platform& platform, const std::vector<std::string>& rows) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("sluice_placed_" + std::to_string(getpid()) + ".csv");
  std::ofstream out(file);
  out << "# format: sluice-profile/1\n"
         "operator,config,inputs,batch,input_pools,output_pools,seconds_median\n";
  for (const std::string& row : rows)
    out << "dense,dense bias=false features=50 sparsity=0,1000x30,1000," << row << "\n";
  out.close();
  Value mapping = parse_text("{model: measured}", "cost.yaml");
  mapping.set("profile", Value::make(file.string()));
  ChosenCost cost = choose_cost(mapping, "", platform);
  std::filesystem::remove(file);
  return cost;
}

}  // namespace

TEST_CASE("a profile with memories prices the placement that was measured") {
  SmallQuestion question;
  question.cost = measured_so(question.platform, {"DRAM;DRAM,DRAM,0.001", "PMEM;DRAM,DRAM,0.002",
                                                  "DRAM;DRAM,PMEM,0.004", "DISK;DRAM,DRAM,0.008"});
  const auto seconds = [&](const std::vector<std::string>& pools) {
    return question.cost->of(question.placed(1, pools)).seconds;
  };
  CHECK(seconds({"dram", "dram", "dram"}) == 0.001);
  CHECK(seconds({"pmem", "dram", "dram"}) == 0.002);
  CHECK(seconds({"dram", "dram", "pmem"}) == 0.004);
  CHECK(question.cost->of(question.query(1)).seconds ==
        0.001);  // without named memories, all operands are in DRAM
  CHECK_THAT(error_of([&] {
               seconds({"pmem", "pmem", "dram"});
             }),
             Contains("its inputs in pmem;pmem and its outputs in dram") &&
                 Contains("it was measured with DRAM;DRAM and DRAM, PMEM;DRAM and DRAM"));
  // One row was measured with all operands in DRAM. This row must not give the seconds for operands on the disk.
  CHECK_THAT(error_of([&] {
               placed_price(question.platform, *question.cost,
                            question.placed(1, {"disk", "disk", "disk"}));
             }),
             Contains("layer 'full'") && Contains("was not measured"));
  // When the last row was measured, an operand was on the disk. So the measured seconds include its transfer, and there
  // is no flow for it.
  const PlacedPrice far =
      placed_price(question.platform, *question.cost, question.placed(1, {"disk", "dram", "dram"}));
  CHECK(far.price.seconds == 0.008);
  CHECK(far.flows.empty());
}

TEST_CASE("if a row names no memory for an operand, the operand was in the first memory") {
  SmallQuestion question;
  question.cost = measured_so(question.platform, {"PMEM,,0.002", ",,0.001"});
  const auto seconds = [&](const std::vector<std::string>& pools) {
    return question.cost->of(question.placed(1, pools)).seconds;
  };
  CHECK(seconds({"pmem", "dram", "dram"}) == 0.002);
  CHECK(seconds({"dram", "dram", "dram"}) == 0.001);
  for (const std::vector<std::string>& pools : {std::vector<std::string>{"pmem", "pmem", "dram"},
                                                {"pmem", "dram", "pmem"},
                                                {"dram", "dram", "pmem"}})
    CHECK_THAT(error_of([&] { seconds(pools); }), Contains("was not measured"));
  // If no row of a profile names a memory, its rows are valid for every placement.
  question.cost = measured_so(question.platform, {",,0.003"});
  CHECK(seconds({"dram", "dram", "pmem"}) == 0.003);
}

/// Returns bandwidths that were measured in GB/s (darchr/ml-tools), in one row for each number of threads from 1 to 24.
/// The memories are six channels of DRAM and six modules of Optane memory. If the file of the measurements is missing,
/// prints a warning and returns an empty list.
std::vector<std::vector<double>> measured_bandwidths() {
  const std::string path =
      std::string(data_root()) + "/../shared/data/placement/bandwidth_vs_threads_GBps.csv";
  if (!std::filesystem::exists(path)) WARN("skipped: there are no measurements");
  std::vector<std::vector<double>> rows;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
    REQUIRE(rows.back().size() == 8);
  }
  return rows;
}

TEST_CASE("a copy by threads takes as long as reading all bytes and then writing all bytes") {
  std::vector<double> in_turn, side_by_side;
  const auto rows = measured_bandwidths();
  if (rows.empty()) return;
  for (const std::vector<double>& of : rows) {
    const double read_dram = of[1], write_dram = of[2], read_pmem = of[5];
    for (const auto& [read, copy] :
         {std::pair(read_dram, of[3]), std::pair(read_dram, of[4]), std::pair(read_pmem, of[6])}) {
      in_turn.push_back(std::abs(1 / (1 / read + 1 / write_dram) / copy - 1));
      side_by_side.push_back(std::abs(std::min(read, write_dram) / copy - 1));
    }
  }
  REQUIRE(in_turn.size() == 72);
  const auto median = [](std::vector<double> errors) {
    std::sort(errors.begin(), errors.end());
    return errors[errors.size() / 2];
  };
  CHECK(median(in_turn) < 0.05);
  CHECK(median(side_by_side) > 0.3);
}

/// Returns the bandwidth of a copy from one memory of optane_server to another, if `threads` threads copy.
double copied(const std::string& threads, const std::string& from, const std::string& to) {
  const Platform platform = load_platform("optane_server", {"devices.cpu.threads=" + threads});
  return copy_time(platform, from, to, CopyMode::synchronous).bandwidth;
}

TEST_CASE(
    "with fewer threads, copies are slower by the factor by which reading and writing are slower") {
  CHECK(copied("24", "pmem", "dram") == 29e9);
  CHECK(copied("24", "dram", "pmem") == 12e9);
  CHECK(copied("4", "pmem", "dram") ==
        Approx(29e9 * (1 / 38.2 + 1 / 78.6) / (1 / 13.5 + 1 / 18.5)));
  CHECK(copied("4", "dram", "pmem") ==
        Approx(12e9 * (1 / 107.3 + 1 / 11.86) / (1 / 40.9 + 1 / 9.2)));
  // Without CopyMode::synchronous, a copy engine copies. Its bandwidth does not depend on the number of threads.
  const Platform few = load_platform("optane_server", {"devices.cpu.threads=4"});
  CHECK(copy_time(few, "pmem", "dram").bandwidth == 2e9);
}

TEST_CASE("copies with fewer threads are predicted from copies with all threads") {
  // The copies that were measured go from PMEM to DRAM, with stores that bypass the cache.
  std::map<int, double> measured;
  for (const std::vector<double>& of : measured_bandwidths())
    measured[static_cast<int>(of[0])] = of[6];
  if (measured.empty()) return;
  REQUIRE(measured.size() == 24);
  std::vector<double> errors;
  for (const auto& [threads, rate] : measured) {
    const double share =
        copied(std::to_string(threads), "pmem", "dram") / copied("24", "pmem", "dram");
    errors.push_back(std::abs(share * measured.at(24) / rate - 1));
  }
  std::sort(errors.begin(), errors.end());
  CHECK(errors[12] < 0.06);
  CHECK(errors.back() < 0.11);
}

TEST_CASE("fitted kernels take longer in a slower memory, by the ratio of the memories' seconds") {
  const Platform platform = read_platform(parse_text(
      "format: sluice-platform/1\n"
      "devices:\n"
      "  cpu: {rate: {float32: 8.1TFLOP/s}, units: 40, cache: 4MB, memory: [dram, pmem]}\n"
      "memories:\n"
      "  dram: {capacity: 192GB, read: 320GB/s, write: 320GB/s}\n"
      "  pmem: {capacity: 768GB, read: 64GB/s, write: 16GB/s}\n",
      "server.yaml"));
  const ChosenCost cost =
      choose_cost(parse_text("{model: fitted, file: t4}", "s.yaml"), "", platform);
  const Model model = small();
  // The kernel reads 160 MB and writes 160 MB, far more than the cache of 4 MB holds.
  const Query query = query_of(model, model.layers[2], Pass::forward, 800'000, DType::float32,
                               platform.devices.front());
  const double home = cost->of(query).seconds;
  const auto in = [&](const std::string& read, const std::string& written) {
    return cost->of(placed_query(query, {read, written})).seconds;
  };
  CHECK(in("dram", "dram") == Approx(home).epsilon(1e-12));
  // The kernel writes as many bytes as it reads. In DRAM, a byte that is read and a byte that is written take 1 / 320 +
  // 1 / 320 ns. In PMEM, they take 1 / 64 + 1 / 16 ns, which is 12.5 times as long. If only the input is in PMEM, they
  // take 1 / 64 + 1 / 320 ns, which is 3 times as long. Only the seconds in which bytes come from memory grow by these
  // ratios. The other seconds, in which bytes come from the cache, do not change. `both` is the share of the seconds
  // that grow.
  const double both = (in("pmem", "pmem") / home - 1) / 11.5;
  CHECK((in("pmem", "dram") / home - 1) / 2 == Approx(both).epsilon(1e-9));
  CHECK(both > 0.8);
  CHECK(both <= 1);
}
