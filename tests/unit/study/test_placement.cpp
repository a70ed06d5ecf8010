#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "study/placement/curve.hpp"
#include "support/two_products.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

Scenario two_products(const std::string& workload = "batch: 1", const std::string& copy = "2B/s") {
  return test::on_server("policy: {name: resident}\nworkload: {" + workload + "}\n", "4000B", copy);
}

const PlacementResult& found(const PlacementCurve& curve, const std::string& way) {
  for (const PlacementResult& result : curve.results)
    if (result.way == way) return result;
  throw std::runtime_error("no " + way);
}

TEST_CASE("two products have the seconds and the placement computed by hand", "[placement]") {
  const PlacementCurve curve = placement_curve(two_products(), {.fast = "800B"});
  CHECK(curve.question.kernel_count() == 2);
  CHECK(curve.needed == 40 + 800 + 80 + 400);
  CHECK(curve.all_fast_s == Approx((40 + 800 + 80 + 80 + 400 + 20) / 100.));
  CHECK(curve.slowdown(found(curve, "all_slow")) == Approx(10));
  // DRAM has room only for the weights of the first product. At 100 byte/s, their 800 bytes take 8 s. The other 620
  // bytes are read and written in PMEM, in 62 s.
  CHECK(found(curve, "static").seconds() == Approx(8 + 62));
  CHECK(found(curve, "static").gap() == Approx(0).margin(1e-9));
  CHECK_THAT(found(curve, "all_fast").refused,
             Contains("exceeds memory 'dram' at kernel 'one' (step 1 of 2)") &&
                 Contains("the largest tensors are weights of one (800 B), "));
}

TEST_CASE(
    "the seconds of bytes in slow memory are added to the seconds with all tensors in fast memory",
    "[placement]") {
  const PlacementCurve curve = placement_curve(
      two_products(),
      {.fast = "800B", .in_place = PlacementProblem::Rates{.to_fast = 10, .to_slow = 5}});
  CHECK(curve.all_fast_s == Approx(14.2));
  // With all tensors in slow memory, 1320 bytes are read at 10 byte/s, and 100 bytes are written at 5 byte/s. Their
  // seconds are added to the 14.2 s.
  CHECK(found(curve, "all_slow").seconds() == Approx(14.2 + 132 + 20));
  // The weights of the first product are in DRAM, which saves 80 s. Instead of them, all other tensors would fit, but
  // they would save less: 4 s for the input (40 bytes), 8 + 16 s for the tensor between the products (80 bytes), 4 s
  // for the output (20 bytes) and 40 s for the weights of the second product (400 bytes).
  CHECK(found(curve, "static").seconds() == Approx(14.2 + 152 - 80));
}

TEST_CASE("training consists of forward passes, the loss, backward passes and updates",
          "[placement]") {
  const Scenario scenario =
      two_products("mode: training, batch: 1, optimizer: momentum, backward: per_layer");
  const PlacementQuestion question(
      placement_problem(scenario, two_memories(scenario.platform, "")));
  std::vector<std::string> kernels;
  for (const auto& kernel : question.problem().kernels) kernels.push_back(kernel.name);
  CHECK(kernels == std::vector<std::string>{"one", "two", "loss", "two backward", "one backward",
                                            "one update", "two update"});
  // The backward pass of the second product needs the most bytes. It needs the weights and the state of both products,
  // the input of the model (40), the input of this product (80), and the gradients of its output (20), its input (80)
  // and its weights (400).
  CHECK(question.live_bytes()[3] == 2 * (800 + 400) + 40 + 80 + 20 + 80 + 400);
}

TEST_CASE("sizes of fast memory may be given as bytes, shares, ratios and steps", "[placement]") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(fast_sizes("40%", 1000) == Sizes{400});
  CHECK(fast_sizes("1:8,16kB", 900) == Sizes{100, 16000});
  CHECK(fast_sizes("10%..30%", 1000) == Sizes{100, 200, 300});
  CHECK(fast_sizes("10%..30%:20", 1000) == Sizes{100, 300});
  CHECK(fast_sizes("0%,100%", 1000) == Sizes{0, 1000});
  for (const char* text : {"", "x", "-1%", "0:0", "1:0", "0:8", "30%..10%", "10%..20%:0", "1%..2",
                           "10GB/s", "101%", "10%..110%"})
    CHECK_THROWS_AS(fast_sizes(text, 1000), UsageError);
  CHECK_THROWS_WITH(fast_sizes("10%,50", 1000),
                    Contains("'50' for '--fast' is not a size of fast memory; expected bytes"));
  CHECK_THROWS_WITH(fast_sizes("30%..10%", 1000), Contains("ends before it begins"));
  CHECK_THROWS_WITH(fast_sizes("1:0", 1000), Contains("no fast or no slow memory"));
  CHECK_THROWS_WITH(fast_sizes("200%", 1000), Contains("expected at most 100%"));
}

TEST_CASE(
    "if no sizes of fast memory are given, the device's size is included, unless all tensors fit",
    "[placement]") {
  Scenario scenario = two_products();
  const auto capacities = [](const Scenario& of, const std::string& fast) {
    std::vector<std::int64_t> all;
    for (const PlacementResult& result :
         placement_curve(of, {.fast = fast, .ways = {"all_slow"}}).results)
      all.push_back(result.capacity);
    return all;
  };
  CHECK(capacities(scenario, "").size() ==
        10);  // all tensors need only 1320 bytes, and DRAM has 4000
  scenario.platform.devices[0].memories[0].capacity = 700;
  const std::vector<std::int64_t> with = capacities(scenario, "");
  CHECK(with.size() == 11);
  CHECK(with[5] == 700);  // 700 bytes are between 50 % and 60 % of the bytes of all tensors
  CHECK(capacities(scenario, "50%") == std::vector<std::int64_t>{660});
}

TEST_CASE("a cost model that does not distinguish memories is refused at its key", "[placement]") {
  Scenario scenario = two_products();
  scenario.cost = plain_cost("peak");
  CHECK_THROWS_WITH(placement_curve(scenario, {}),
                    Contains("the cost model 'peak' does not count the bandwidths of memories") &&
                        Contains("cost.model=roofline"));
  CHECK(placement_curve(two_products(), {.fast = "50%"}).cost_model == "roofline");
}

TEST_CASE("an unknown device, or an unknown way, is refused", "[placement]") {
  CHECK_THROWS_WITH(placement_curve(two_products(), {.device = "gpu"}), Contains("cpu"));
  CHECK_THROWS_WITH(placement_curve(two_products(), {.ways = {"statik"}}),
                    Contains("no way to place tensors is called 'statik'"));
}

/// Returns the two products on a processor that computes in host memory. `disk` is another memory and its link.
Scenario on_processor(const std::string& disk, const std::string& links) {
  return read_scenario(parse_text(test::two_products_model + R"(platform:
  format: sluice-platform/1
  name: server
  devices:
    gpu: {rate: {float32: 1TFLOP/s}, memory: {capacity: 4000B, bandwidth: 100B/s}}
    cpu: {rate: {float32: 1000TFLOP/s}, memory: dram}
  memories:
    dram: {capacity: 4000B, bandwidth: 100B/s}
)" + disk + "  links:\n    pcie: {joins: [dram, gpu], bandwidth: 2B/s}\n" +
                                      links + "policy: {name: resident}\nworkload: {batch: 1}\n",
                                  "two.yaml"),
                       "two");
}

TEST_CASE("the slow memory of a processor in host memory is the disk that it reads fastest",
          "[placement]") {
  const Scenario scenario = on_processor("    tape: {capacity: 1MB}\n    disk: {capacity: 1MB}\n",
                                         "    slow: {joins: [tape, dram], bandwidth: 1B/s}\n"
                                         "    ssd: {joins: [disk, dram], bandwidth: 10B/s}\n");
  const PlacementCurve curve = placement_curve(scenario, {.device = "cpu", .fast = "800B"});
  CHECK(curve.question.problem().slow == "disk");
  // The weights of the first product are in DRAM. The first product reads the image, 40 bytes, and the second product
  // reads 80 + 400 bytes, over the link of the disk. Each product writes its output, 80 and 20 bytes, over its other
  // direction, at the same time.
  CHECK(found(curve, "static").seconds() == Approx(8 + 48));
  CHECK_THROWS_WITH(placement_curve(on_processor("", ""), {.device = "cpu"}),
                    Contains("device 'cpu' reaches only memory 'dram'"));
}

TEST_CASE("without a link between the two memories, tensors are placed but do not move",
          "[placement]") {
  Scenario scenario = two_products();
  scenario.platform.edges.clear();
  scenario.platform.lookup = {};
  const PlacementCurve curve = placement_curve(scenario, {.fast = "800B"});
  for (const char* way : {"static", "synchronous"})
    CHECK(found(curve, way).seconds() == Approx(8 + 62));
  CHECK_THAT(found(curve, "asynchronous").refused, Contains("no copy engine moves tensors"));
}

}  // namespace
}  // namespace sluice
