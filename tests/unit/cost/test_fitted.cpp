// Tests the cost model `fitted`: the kernels of a layer, layers without a fit, and the errors of a fit.
#include <catch2/catch.hpp>
#include <numeric>

#include "cost/account.hpp"
#include "cost/fitted/kernels.hpp"
#include "platform/platform.hpp"
#include "support/models.hpp"

using namespace sluice;
using Catch::Matchers::Contains;

namespace {

double flop_of(const std::vector<Kernel>& kernels) {
  return std::accumulate(kernels.begin(), kernels.end(), 0.0, [](double sum, const Kernel& kernel) {
    return sum + (kernel.is_product() ? kernel.flop : 0);
  });
}

std::vector<std::string> classes_of(const std::vector<Kernel>& kernels) {
  std::vector<std::string> classes;
  for (const Kernel& kernel : kernels) classes.push_back(kernel.of);
  return classes;
}

struct Case {
  Model model;
  Device device = load_platform("a100_pcie").devices.front();

  std::vector<Kernel> kernels(std::size_t layer, Pass pass, std::int64_t samples = 3,
                              AttentionKernels attention = AttentionKernels::eager) const {
    return kernels_of(
        query_of(model, model.layers.at(layer), pass, samples, DType::float32, device), attention);
  }
};

ChosenCost cost_of(const std::string& keys, const Platform& platform) {
  return choose_cost(parse_text("{model: fitted" + keys + "}", "s.yaml"), "", platform);
}

}  // namespace

TEST_CASE(
    "a matmul is one product, and its backward pass is two products with the three sizes of the forward pass in "
    "another order") {
  const Case a{
      sluice::test::model_of("- {type: input, name: x, shape: [5, 8]}\n"
                             "- {type: matmul, name: first, features: 6, bias: false}\n"
                             "- {type: matmul, name: y, features: 7, bias: false}\n")};
  const auto forward = a.kernels(2, Pass::forward);
  REQUIRE(classes_of(forward) == std::vector<std::string>{"linear"});
  // The product has 3 samples of 5 rows, and makes 7 features from 6 features.
  CHECK(forward[0].rows == 15);
  CHECK(forward[0].columns == 7);
  CHECK(forward[0].depth == 6);
  CHECK(forward[0].flop == 2 * 15 * 7 * 6);
  CHECK(forward[0].bytes == 4 * (15 * 6 + 6 * 7 + 15 * 7));
  const auto backward = a.kernels(2, Pass::backward);
  REQUIRE(backward.size() == 2);
  CHECK(backward[0].columns == 6);  // dX = dY W', with dY of 15 x 7 and W' of 7 x 6
  CHECK(backward[0].depth == 7);
  CHECK(backward[1].rows == 6);  // dW = X' dY, with X' of 6 x 15 and dY of 15 x 7
  CHECK(backward[1].depth == 15);
  CHECK(a.kernels(2, Pass::backward_input).size() == 1);
  CHECK(a.kernels(1, Pass::backward).size() == 1);  // no layer reads the input's gradient
}

TEST_CASE("a convolution is a product over all pixels, with one product per group") {
  const Case a{sluice::test::model_of(
      sluice::test::image +
      "- {type: conv2d, name: a, channels: 8, kernel: 3, padding: 1, bias: false}\n"
      "- {type: conv2d, name: b, channels: 8, kernel: 3, padding: 1, groups: 4, bias: false}\n")};
  const auto whole = a.kernels(1, Pass::forward), grouped = a.kernels(2, Pass::forward);
  REQUIRE(classes_of(whole) == std::vector<std::string>{"conv"});
  CHECK(whole[0].rows == 3 * 28 * 28);
  CHECK(whole[0].depth == 27);
  CHECK(whole[0].columns == 8);
  CHECK(whole[0].bytes == 4 * (3 * 28 * 28 * (3 + 8) + 27 * 8));
  REQUIRE(classes_of(grouped) == std::vector<std::string>{"grouped_conv"});
  CHECK(grouped[0].count == 4);
  CHECK(grouped[0].columns == 2);
  CHECK(grouped[0].depth == 18);
  for (std::size_t layer : {1, 2})
    CHECK(flop_of(a.kernels(layer, Pass::forward)) ==
          2. * 3 * static_cast<double>(a.model.layers[layer].macs));
}

TEST_CASE("attention is two products, and elementwise kernels over the scores between them") {
  const Case a{sluice::test::model_of(
      "- {type: input, name: x, shape: [16, 8]}\n"
      "- {type: matmul, name: q, inputs: [x], features: 8}\n"
      "- {type: matmul, name: k, inputs: [x], features: 8}\n"
      "- {type: matmul, name: v, inputs: [x], features: 8}\n"
      "- {type: attention, name: a, inputs: [q, k, v], heads: 2, dropout: true}\n")};
  const auto forward = a.kernels(4, Pass::forward);
  CHECK(classes_of(forward) == std::vector<std::string>{"bmm", "elementwise", "elementwise",
                                                        "softmax", "elementwise", "bmm"});
  // There are 2 heads and 3 samples. For each head and each sample, a product computes 16 x 16 scores. A score is a sum
  // over 4 features.
  CHECK(forward[0].count == 6);
  CHECK(forward[0].rows == 16);
  CHECK(forward[0].columns == 16);
  CHECK(forward[0].depth == 4);
  CHECK(forward[3].bytes == 2 * 4 * 6 * 16 * 16);
  // For each score, dropout reads 4 B and writes 4 B. It also writes a mask of 1 byte.
  CHECK(forward[4].bytes == (2 * 4 + 1) * 6 * 16 * 16);
  const double macs = 3. * static_cast<double>(a.model.layers[4].macs);
  CHECK(flop_of(forward) == 2 * macs);
  CHECK(flop_of(a.kernels(4, Pass::backward)) == 4 * macs);
  CHECK(a.kernels(4, Pass::backward_weight).empty());
  const auto fused = a.kernels(4, Pass::forward, 3, AttentionKernels::fused);
  CHECK(classes_of(fused) == std::vector<std::string>{"bmm", "bmm"});
  CHECK(flop_of(a.kernels(4, Pass::backward, 3, AttentionKernels::fused)) == 5 * macs);
}

TEST_CASE(
    "layers without a fit are refused or priced by roofline, and the account names their classes") {
  const Platform platform = load_platform("a100_pcie");
  const Case a{
      sluice::test::model_of("- {type: input, name: x, shape: [64, 64]}\n"
                             "- {type: matmul, name: y, features: 64}\n"
                             "- {type: lstm, name: z, hidden: 64}\n")};
  const auto query = [&](std::size_t layer, DType dtype = DType::float32) {
    return query_of(a.model, a.model.layers[layer], Pass::forward, 4, dtype,
                    platform.devices.front());
  };
  const ChosenCost strict = cost_of("", platform);
  CHECK(strict->of(query(1)).seconds > 0);
  CHECK_THROWS_WITH(strict->of(query(2)), Contains("layer 'z' is of the class 'lstm'") &&
                                              Contains("cost.unfitted=roofline"));
  CHECK_THROWS_WITH(strict->of(query(1, DType::float16)),
                    Contains("does not have in float16") && Contains("linear in float32"));
  const ChosenCost lenient = cost_of(", unfitted: roofline", platform);
  CHECK(lenient->of(query(2)).seconds == plain_cost("roofline")->of(query(2)).seconds);
  const Account account =
      account_of(*lenient, a.model, platform.devices.front(), DType::float32, 4);
  const double fitted = lenient->of(query(1)).seconds, other = lenient->of(query(2)).seconds;
  CHECK(account.fitted == Approx(fitted / (fitted + other)));
  REQUIRE(account.others.size() == 1);
  CHECK(account.others[0].first == "lstm");
  CHECK_THAT(account_text(account), Contains("The roofline model prices lstm"));
  // The layer computes on 256 rows of 64 elements. This is less than all measured sizes. Outside the measured sizes,
  // the error of the fit is not known.
  CHECK(account.fit_errors.share == 0);
  CHECK_THAT(account_text(account),
             Contains("the error of the fit is not known") && !Contains("in the median"));
  const Case large{
      sluice::test::model_of("- {type: input, name: x, shape: [1024, 1024]}\n"
                             "- {type: matmul, name: y, features: 1024}\n")};
  const Account sure =
      account_of(*strict, large.model, platform.devices.front(), DType::float32, 4);
  CHECK(sure.fit_errors.share == Approx(sure.fitted));
  CHECK(sure.fit_errors.median > 0);
  CHECK_THAT(account_text(sure), Contains("in the median") && !Contains("not known"));
  CHECK(account_text(
            account_of(*plain_cost("peak"), a.model, platform.devices.front(), DType::float32, 4))
            .empty());
}

TEST_CASE("a fit that a document names must be within the document's root") {
  const Platform platform = load_platform("a100_pcie");
  const auto named = [&](const std::string& file) {
    choose_cost(parse_text("{model: fitted, file: " + file + "}", "/nowhere/a/s.yaml"), "",
                platform);
  };
  CHECK_THROWS_WITH(named("../../other/fit.yaml"), Contains("leads out of '/nowhere'"));
  CHECK_THROWS_WITH(named("/etc/passwd"), Contains("leads out of '/nowhere'"));
  CHECK_NOTHROW(named("t4"));  // this fit is bundled
  const auto of_device = [](const std::string& file) {
    return read_platform(
        parse_text("format: sluice-platform/1\ndevices:\n  gpu: {rate: "
                   "{float32: 1TFLOP/s}, memory: {capacity: 1GB}, fit: " +
                       file + "}\n",
                   "/nowhere/a/p.yaml"));
  };
  CHECK_THROWS_WITH(of_device("../../other/fit.yaml"), Contains("leads out of '/nowhere'"));
  CHECK(of_device("mine/fit.yaml").devices.front().fit == "/nowhere/a/mine/fit.yaml");
  CHECK(of_device("t4").devices.front().fit == "t4");
}

TEST_CASE("products of experts belong to no class, and take at least the time of their bytes") {
  const Case a{sluice::test::model_of(
      "- {type: input, name: x, shape: [16, 256]}\n"
      "- {type: matmul, name: scores, features: 8, bias: false}\n"
      "- {type: top_k, name: choice, k: 2}\n"
      "- {type: dispatch, inputs: [choice, x], name: out}\n"
      "- {type: expert_matmul, name: experts, experts: 8, features: 512}\n")};
  const Platform platform = load_platform("a100_pcie");
  const Device& device = platform.devices.front();
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const Query query = query_of(a.model, a.model.layers[4], pass, 1, DType::float32, device);
    CHECK(query.work.bytes >= 4. * 8 * 256 * 512);  // at least the weights of all eight experts
    CHECK(cost_of(", unfitted: roofline", platform)->of(query).seconds >=
          query.work.bytes / *device.memory().bandwidth());
    CHECK_THROWS_WITH(cost_of("", platform)->of(query), Contains("class 'expert_matmul'"));
  }
}

TEST_CASE("a platform's document gives the units, the cache and the fit of a device") {
  const Model model = sluice::test::model_of(
      "- {type: input, name: x, shape: [64, 64]}\n"
      "- {type: matmul, name: y, features: 64}\n");
  const auto price = [&](const Platform& platform, const std::string& keys) {
    return cost_of(keys, platform)
        ->of(query_of(model, model.layers[1], Pass::forward, 4, DType::float32,
                      platform.devices.front()));
  };
  const Platform none = load_platform("k40");
  CHECK_THROWS_WITH(price(none, ""),
                    Contains("device 'gpu' has no key 'fit'") && Contains("file: …"));
  CHECK_THROWS_WITH(price(none, ", file: t4"), Contains("how many units") && Contains("units: …"));
  CHECK_THROWS_WITH(price(none, ", file: t5"), Contains("not a fit of Sluice's own"));
  // The fit of a T4 prices an A100. `inside` is false, because the A100 was not measured for this fit.
  const Platform other = load_platform("a100_pcie");
  const ChosenCost cost = cost_of(", file: t4", other);
  const auto grounds = cost->grounds(
      query_of(model, model.layers[1], Pass::forward, 4, DType::float32, other.devices.front()));
  REQUIRE(grounds.size() == 1);
  CHECK_FALSE(grounds[0].inside);
}

TEST_CASE(
    "an answer does not give the error that a fit has on its own devices for another device") {
  const Case large{
      sluice::test::model_of("- {type: input, name: x, shape: [1024, 1024]}\n"
                             "- {type: matmul, name: y, features: 1024}\n")};
  const auto errors = [&](const std::string& platform, const std::string& fit) {
    const Platform on = load_platform(platform);
    return account_of(*cost_of(", file: " + fit, on), large.model, on.devices.front(),
                      DType::float32, 4);
  };
  CHECK(errors("t4", "t4").fit_errors.share == 1);
  // The measurements of this fit come from one device. So the error of the fit on another device is not known.
  const Account another = errors("a100_pcie", "t4");
  CHECK(another.fitted == 1);
  CHECK(another.fit_errors.share == 0);
  CHECK_THAT(account_text(another),
             Contains("the error of the fit is not known") && !Contains("in the median"));
  // The measurements of this fit come from five devices. So the error of the fit on a sixth device is known. It is
  // larger than the error on one of the five devices.
  const Account sixth = errors("h100_pcie", "gpus_float32");
  CHECK(sixth.inside == 0);
  CHECK(sixth.fit_errors.share == 1);
  CHECK(sixth.fit_errors.median > errors("t4", "gpus_float32").fit_errors.median);
}

TEST_CASE(
    "with memory_power, a kernel of a fit without joules takes less power if memory limits the kernel") {
  const Case a{
      sluice::test::model_of("- {type: input, name: x, shape: [4096, 4096]}\n"
                             "- {type: matmul, name: product, features: 4096, bias: false}\n"
                             "- {type: relu, name: stream}\n"
                             "- {type: lstm, name: other, hidden: 64}\n")};
  const Platform platform = load_platform("a100_pcie");
  const auto price = [&](std::size_t layer, const std::string& keys) {
    return cost_of(", unfitted: roofline" + keys, platform)
        ->of(query_of(a.model, a.model.layers[layer], Pass::forward, 1, DType::float32,
                      platform.devices.front()));
  };
  const Device& device = platform.devices.front();
  const Price stream = price(2, ", memory_power: 60%");
  CHECK(stream.seconds == price(2, "").seconds);
  CHECK(stream.joules == Approx(0.6 * (device.busy_w - device.idle_w) * stream.seconds));
  CHECK(stream.joules_s == stream.seconds);
  CHECK(stream.measured_j == 0);
  CHECK(price(1, ", memory_power: 60%").joules_s ==
        0);  // computation limits this kernel, not memory, so `memory_power` does not apply
  CHECK(price(2, "").joules_s == 0);
  // The cost model `roofline` prices the operators without a fit, such as the lstm. The key `memory_power` applies to
  // them, too. Memory limits the lstm, because it has few FLOP per byte.
  const Price other = price(3, ", memory_power: 60%");
  const Price by_roofline =
      choose_cost(parse_text("{model: roofline, memory_power: 60%}", "s.yaml"), "", platform)
          ->of(query_of(a.model, a.model.layers[3], Pass::forward, 1, DType::float32, device));
  CHECK(other.joules == by_roofline.joules);
}
