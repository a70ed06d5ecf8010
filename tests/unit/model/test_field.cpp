// Tests receptive fields against hand calculations. A receptive field is the part of the model's input on which one
// pixel of a layer's output depends. The jump of a layer is the distance between two neighbouring pixels of its output,
// in pixels of the model's input.
#include <catch2/catch.hpp>

#include "model/field.hpp"
#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;

namespace {

ReceptiveField square(std::int64_t size, std::int64_t jump) {
  return {{size, size}, {jump, jump}};
}

std::optional<ReceptiveField> last_field(const std::string& layers) {
  return model_of(image + layers).layers.back().field;
}

const std::string conv = "- {type: conv2d, name: c, channels: 4, kernel: 3, padding: 1}\n";
const std::string halved =
    "- {type: conv2d, name: h, channels: 4, kernel: 3, padding: 1, stride: 2}\n";

}  // namespace

TEST_CASE("the receptive fields of the small CNN are 3, 5 and 6 pixels, and then the whole image") {
  const Model model = load_model(zoo + "cnn_mnist.yaml", {});
  CHECK(model.layers[0].field == square(1, 1));
  CHECK(model.layers[1].field == square(3, 1));
  CHECK(model.layers[2].field == square(5, 1));  // 3 + 2
  CHECK(model.layers[3].field == square(6, 2));  // 5 + 1
  CHECK_FALSE(model.layers[4].field);
  CHECK_FALSE(model.layers[5].field);
}

TEST_CASE(
    "along each axis, a receptive field grows by the jump times (the extent of the window minus one)") {
  CHECK(last_field(halved + conv) == square(7, 2));  // 3 + 2 x (3 - 1)
  CHECK(last_field(halved + "- {type: max_pool, kernel: 3, stride: 2, padding: 1}\n" + conv) ==
        square(15, 4));  // 3 + 2 x (3 - 1) + 4 x (3 - 1)
  // A window of 3 pixels with dilation 2 extends over 5 pixels. A window of 7 x 1 pixels extends over 7 pixels along
  // one axis, and over 1 pixel along the other axis.
  CHECK(last_field("- {type: conv2d, channels: 1, kernel: 3, dilation: 2}\n") == square(5, 1));
  CHECK(last_field("- {type: conv2d, channels: 1, kernel: [7, 1], stride: [1, 2]}\n") ==
        ReceptiveField{{7, 1}, {1, 2}});
  CHECK(last_field("- {type: avg_pool, kernel: 3, stride: 2}\n" + conv) == square(7, 2));
  CHECK(last_field("- {type: adaptive_avg_pool, output: 7}\n") == square(4, 4));  // 28 / 7
  CHECK_FALSE(last_field("- {type: adaptive_avg_pool, output: 6}\n"));
}

TEST_CASE(
    "elementwise layers keep the field, and after a layer that mixes all pixels there is no field") {
  for (const char* type :
       {"relu", "gelu", "batch_norm", "layer_norm", "rms_norm", "dropout", "softmax"})
    CHECK(last_field(conv + "- {type: " + type + "}\n") == square(3, 1));
  for (const char* keys : {"global_avg_pool", "flatten", "dense, features: 2",
                           "group_norm, groups: 2", "reshape, shape: [28, 28, 4]"})
    CHECK_FALSE(last_field(conv + "- {type: " + keys + "}\n"));
}

TEST_CASE("if branches join, the field of the result is the largest field of the branches") {
  CHECK(last_field(conv + "- {type: add, inputs: [c, c]}\n") == square(3, 1));
  CHECK(last_field(conv + "- {type: conv2d, name: d, channels: 4, kernel: 5, padding: 2}\n" +
                   "- {type: concat, inputs: [x, c, d]}\n") == square(7, 1));
  // One factor of the product is a global mean, which depends on the whole image. So the product has no receptive
  // field.
  CHECK_FALSE(last_field(conv + "- {type: global_avg_pool, name: g}\n" +
                         "- {type: mul, inputs: [c, g]}\n"));
}

TEST_CASE("a transposed convolution divides the jump by its stride") {
  // With 2 x 2 windows at a stride of 2, each output pixel depends on one input pixel. So the field stays 3 pixels
  // wide, and the jump becomes 2 / 2 = 1.
  CHECK(last_field(halved + "- {type: conv_transpose2d, channels: 1, kernel: 2, stride: 2}\n") ==
        square(3, 1));
  // With 4 x 4 windows at a stride of 2, each output pixel depends on two pixels of the layer's input along each axis.
  // In the model's input, these two pixels are 2 pixels apart. So the field is 3 + 2 pixels wide.
  CHECK(last_field(halved + "- {type: conv_transpose2d, channels: 1, kernel: 4, stride: 2}\n") ==
        square(5, 1));
  // The jump would be 1 / 2, which is not a whole number.
  CHECK_FALSE(last_field("- {type: conv_transpose2d, channels: 1, kernel: 2, stride: 2}\n"));
}

TEST_CASE("rows of features are an image of one axis, but tokens are not an image") {
  const Model model = load_model(zoo + "matmul_chain.yaml", {});
  CHECK(model.layers.back().field == ReceptiveField{{1}, {1}});
  CHECK_FALSE(load_model(zoo + "gpt2.yaml", {"blocks=1"}).layers.back().field);
}

TEST_CASE(
    "the fields of AlexNet and VGG-16 are the published fields, and the field of ResNet-50 equals a hand calculation") {
  // Araujo et al. (2019) publish a table of receptive fields: 195 pixels for AlexNet v2, and 212 pixels for VGG-16. For
  // VGG-16, the table also gives a stride of 32 pixels, which is the jump here.
  const auto field = [](const std::string& model, const std::string& layer) {
    const Model read = load_model(zoo + model + ".yaml", {});
    return read.layers[read.layer_at(Value::make(layer))].field;
  };
  CHECK(field("alexnet_torchvision", "pool5") == square(195, 32));
  CHECK(field("vgg16", "average") == square(212, 32));
  // In ResNet-50, the jump j of a layer is the distance between two neighbouring output pixels, in pixels of the image.
  // The first convolution has a field of 7 (j = 2), and the pool has a field of 11 (j = 4). Every 3 x 3 convolution
  // adds 2 times the jump of its input. The three convolutions of the first group add 3 x 8, which gives 35. The four
  // of the second group add 8 and 3 x 16, which gives 91 (j = 8). The six of the third group add 16 and 5 x 32, which
  // gives 267 (j = 16). The three of the fourth group add 32 and 2 x 64, which gives 427 (j = 32). The published field
  // of 483 pixels is for a ResNet-50 that has its strides in other layers.
  CHECK(field("resnet50", "average") == std::nullopt);
  const Model resnet = load_model(zoo + "resnet50.yaml", {});
  CHECK(resnet.layers[resnet.layer_at(Value::make(std::string("average"))) - 1].field ==
        square(427, 32));
}
