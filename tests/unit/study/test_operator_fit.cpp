// Tests how rows of profiles become kernels with sizes, to which the cost model `fitted` is fitted. The expected sizes
// are computed by hand.
#include <catch2/catch.hpp>

#include "cost/fitted/row_kernel.hpp"
#include "study/operator_fit/samples.hpp"
#include "support/bad_input.hpp"

using namespace sluice;
using Catch::Matchers::Contains;

namespace {

ProfileRow row(const std::string& operator_class, const std::string& config,
               std::vector<std::int64_t> input) {
  ProfileRow made;
  made.operator_class = operator_class;
  made.config = config;
  if (!input.empty()) made.inputs = {std::move(input)};
  made.dtype = "float32";
  made.processed = Processed::yes;
  return made;
}

Profile table(const std::string& rows) {
  return parse_profile("# format: sluice-profile/1\n" + rows, "p.csv");
}

}  // namespace

TEST_CASE("the sizes of a row become the sizes of a product or of a stream") {
  ProfileRow gemm = row("gemm", "", {});
  gemm.sizes = {{"m", 7}, {"n", 5}, {"k", 3}};
  const auto kernel = kernel_of(gemm, "linear", 2);
  REQUIRE(kernel);
  CHECK(kernel->flop == 2 * 7 * 5 * 3);
  CHECK(kernel->bytes == 2 * (7 * 3 + 3 * 5 + 7 * 5));
  ProfileRow two = row("add", "", {}), one = row("relu", "", {});
  two.sizes = one.sizes = {{"b", 4}, {"h", 6}};
  // A sum of two tensors reads two tensors and writes one tensor. A relu reads one tensor and writes one tensor.
  CHECK(kernel_of(two, "elementwise", 4)->bytes == 3 * 4 * 24);
  CHECK(kernel_of(one, "elementwise", 4)->bytes == 2 * 4 * 24);
}

TEST_CASE(
    "a convolution becomes the same product whether it is written as in torch or as in Sluice") {
  // The images have 56 x 56 pixels. So along each axis, the output has floor((56 + 6 - 7) / 2) + 1 = 28 pixels.
  const auto torch = kernel_of(
      row("Conv2d", "Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False)",
          {32, 3, 56, 56}),
      "conv", 4);
  const auto ours =
      kernel_of(row("conv2d",
                    "conv2d bias=false channels=64 groups=1 kernel=[7,7] padding=[3,3] "
                    "stride=[2,2]",
                    {32, 56, 56, 3}),
                "conv", 4);
  REQUIRE(torch);
  REQUIRE(ours);
  for (const Kernel& kernel : {*torch, *ours}) {
    CHECK(kernel.rows == 32 * 28 * 28);
    CHECK(kernel.columns == 64);
    CHECK(kernel.depth == 3 * 49);
    CHECK(kernel.bytes == 4. * (32 * 3 * 56 * 56 + 64 * 147 + 32 * 28 * 28 * 64));
  }
  // In this row, one number gives the kernel for both axes, and one number gives the stride for both axes. If the row
  // names the shape of its output, this shape gives the number of pixels.
  ProfileRow once =
      row("conv2d", "conv2d channels=64 groups=1 kernel=7 padding=same stride=2", {32, 56, 56, 3});
  CHECK(kernel_of(once, "conv", 4)->rows == 32 * 28 * 28);
  once.outputs = {{32, 20, 20, 64}};
  CHECK(kernel_of(once, "conv", 4)->rows == 32 * 20 * 20);
  const auto signal = kernel_of(
      row("conv1d", "conv1d channels=8 kernel=3 padding=1 stride=1", {2, 100, 4}), "conv", 4);
  REQUIRE(signal);
  CHECK(signal->rows == 200);
  CHECK(signal->depth == 12);
  const auto grouped = kernel_of(
      row("Conv2d", "Conv2d(8, 16, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=4)",
          {2, 8, 5, 5}),
      "grouped_conv", 4);
  REQUIRE(grouped);
  CHECK(grouped->count == 4);
  CHECK(grouped->columns == 4);
  CHECK(grouped->depth == 2 * 9);
  CHECK(grouped->flop == 2. * 2 * 25 * 16 * 18);
}

TEST_CASE(
    "dense layers, norms and pools become kernels whose sizes follow from the shapes of their inputs") {
  const auto dense =
      kernel_of(row("Linear", "Linear(in_features=512, out_features=10, bias=True)", {8, 7, 512}),
                "linear", 4);
  REQUIRE(dense);
  CHECK(dense->rows == 56);
  CHECK(dense->columns == 10);
  CHECK(dense->depth == 512);
  CHECK(kernel_of(row("BatchNorm2d", "BatchNorm2d(64)", {2, 64, 5, 5}), "batch_norm", 4)->bytes ==
        2 * 4 * 2 * 64 * 25);
  CHECK(kernel_of(row("AdaptiveAvgPool2d", "AdaptiveAvgPool2d(output_size=1)", {2, 64, 5, 5}),
                  "pool", 4)
            ->bytes == 4 * (2 * 64 * 25 + 2 * 64));
  // In the notation of Sluice, the last axis counts the channels.
  const auto norm = kernel_of(row("batch_norm", "batch_norm", {2, 5, 7, 64}), "batch_norm", 4);
  CHECK(norm->columns == 64);
  CHECK(norm->rows == 70);
  const auto pool =
      kernel_of(row("max_pool", "max_pool kernel=3 padding=1 stride=2", {2, 8, 8, 64}), "pool", 4);
  CHECK(pool->bytes == 4 * (2 * 64 * 64 + 2 * 16 * 64));
  CHECK(kernel_of(row("global_avg_pool", "global_avg_pool", {2, 5, 5, 64}), "pool", 4)->bytes ==
        4 * (2 * 64 * 25 + 2 * 64));
  // This row names the shape of its output. The shape gives the sizes of the kernel: 2 x 7 = 14 rows of 32 elements.
  ProfileRow words = row("embedding", "embedding features=32", {2, 7});
  words.outputs = {{2, 7, 32}};
  CHECK(kernel_of(words, "elementwise", 4)->rows == 14);
  CHECK(kernel_of(words, "elementwise", 4)->columns == 32);
  CHECK(kernel_of(words, "elementwise", 4)->bytes == 4 * (14 + 14 * 32));
  CHECK_FALSE(kernel_of(row("Linear", "Linear()", {8, 512}), "linear", 4));
  CHECK_FALSE(kernel_of(row("Conv2d", "Conv2d()", {8, 512}), "conv", 4));
  ProfileRow empty = row("gemm", "", {});
  empty.sizes = {{"m", 2}, {"n", 2}, {"k", 0}};  // a product of depth 0 has no FLOP
  CHECK_FALSE(kernel_of(empty, "linear", 4));
  empty.sizes = {{"b", 0}, {"h", 2}};
  CHECK_FALSE(kernel_of(empty, "softmax", 4));
}

TEST_CASE("joules above idle are fitted together with the idle power of the device") {
  const std::string rows =
      "operator,sizes,dtype,device,pass,level,seconds_median,joules_median\n"
      "gemm,m=64;n=64;k=64,float32,a,forward,leaf,2e-3,0.5\n";
  Device device = load_platform("a100_pcie").devices.front();
  device.idle_w = 30;
  const auto joules = [&](const std::string& header) {
    const FitSamples samples = samples_of({table(header + rows)}, {{"a", device}});
    return *samples.classes.at(0).samples.at(0).joules;
  };
  CHECK(joules("") == 0.5);
  CHECK(joules("# joules: above_idle\n") == Approx(0.5 + 30 * 2e-3));
  CHECK(joules("# joules: above_idle\n# idle: 50W\n") == Approx(0.5 + 50 * 2e-3));
}

TEST_CASE("dropout with probability 0 is not a sample of the class of dropout") {
  const Profile profile = table(
      "operator,config,inputs,dtype,device,pass,level,seconds_median\n"
      "StochasticDepth,\"StochasticDepth(p=0.0, "
      "mode=row)\",32x128x56x56,float32,a,forward,leaf,3e-6\n"
      "StochasticDepth,\"StochasticDepth(p=0.05, "
      "mode=row)\",32x128x56x56,float32,a,forward,leaf,8e-5\n"
      "Dropout,\"Dropout(p=0, inplace=False)\",32x128,float32,a,forward,leaf,3e-6\n");
  const Device device = load_platform("a100_pcie").devices.front();
  const FitSamples samples = samples_of({profile}, {{"a", device}});
  REQUIRE(samples.classes.size() == 1);
  CHECK(samples.classes[0].samples.size() == 1);
  CHECK(samples.left_out.at("of modules that drop nothing and therefore do nothing") == 2);
}

TEST_CASE("rows that cannot be fitted are left out and counted by reason") {
  const Profile profile = table(
      "operator,sizes,dtype,device,pass,level,seconds_median\n"
      "gemm,m=64;n=64;k=64,float32,a,forward,leaf,1e-5\n"
      "gemm,m=64;n=64;k=128,float16,a,forward,leaf,1e-5\n"
      "gemm,m=64;n=64;k=64,float32,b,forward,leaf,1e-5\n"
      "gemm,m=64;n=64;k=64,float32,a,backward,leaf,1e-5\n"
      "gemm,m=64;n=64;k=32,float32,a,forward,leaf,0\n"
      "Flatten,m=64;n=64;k=64,float32,a,forward,leaf,1e-5\n"
      "gemm,m=64,float32,a,forward,leaf,1e-5\n"
      "gemm,,float32,a,forward,whole,1e-5\n");
  const Device device = load_platform("a100_pcie").devices.front();
  const FitSamples samples = samples_of({profile}, {{"a", device}, {"b", device}});
  REQUIRE(samples.classes.size() == 2);  // `linear` in float32 and in float16
  CHECK(samples.classes[0].samples.size() == 2);
  CHECK(samples.classes[1].samples.size() == 1);
  // There is a data sheet for each device and dtype: two for device a, and one for device b.
  REQUIRE(samples.sheets.size() == 3);
  CHECK(samples.sheets[0].rate == 19.5e12);
  CHECK(samples.sheets[1].rate == 312e12);
  CHECK(samples.sheets[2].name == "b");
  CHECK(samples.left_out.size() == 5);
  CHECK(samples.left_out.count("of another pass than forward") == 1);
  CHECK(samples.left_out.count("of a class that is not fitted: Flatten") == 1);
  CHECK_THAT(test::error_of([&] {
               samples_of({profile}, {{"a", device}});
             }),
             Contains("device 'b'") && Contains("--on 'NAME=PLATFORM'"));
}

TEST_CASE("rows that were measured in different ways are not fitted together") {
  const std::string rows =
      "gemm,m=64;n=64;k=64,float32,a,hot,1e-5\n"
      "gemm,m=64;n=64;k=128,float32,a,cold,2e-5\n";
  const Device device = load_platform("a100_pcie").devices.front();
  const std::string columns = "operator,sizes,dtype,device,cache,seconds_median\n";
  CHECK_THAT(
      test::error_of([&] {
        samples_of({table(columns + rows)}, {{"", device}});
      }),
      Contains("operators of the class 'linear' on 'a' were measured with cache cold and hot") &&
          Contains("--where 'cache=cold'"));
  // If the row with a hot cache and the row with a cold cache are in two files, they are refused, too.
  CHECK_THROWS_WITH(samples_of({table(columns + rows.substr(0, rows.find('\n') + 1)),
                                table(columns + rows.substr(rows.find('\n') + 1))},
                               {{"", device}}),
                    Contains("cache cold and hot"));
  // Rows of different classes or devices may have been measured in different ways.
  CHECK(samples_of({table(columns + "gemm,m=64;n=64;k=64,float32,a,hot,1e-5\n"
                                    "gemm,m=64;n=64;k=64,float32,b,cold,1e-5\n"
                                    "add,b=64;h=64,float32,a,cold,1e-5\n")},
                   {{"a", device}, {"b", device}})
            .classes.size() == 2);
}

TEST_CASE("a data sheet may be given for only one device") {
  const Profile profile = table(
      "operator,sizes,dtype,device,pass,level,seconds_median\n"
      "gemm,m=64;n=64;k=64,float32,a,forward,leaf,1e-5\n"
      "gemm,m=64;n=64;k=64,float32,b,forward,leaf,1e-5\n");
  const Device device = load_platform("a100_pcie").devices.front();
  CHECK_THAT(test::error_of([&] {
               samples_of({profile}, {{"", device}});
             }),
             Contains("devices 'a' and 'b'") && Contains("--on 'NAME=PLATFORM'") &&
                 Contains("--where 'device=a'"));
  // The data sheet with the name "" is for all devices without a data sheet of their own, so it is for device b.
  CHECK(samples_of({profile}, {{"", device}, {"a", device}}).sheets.size() == 2);
}
