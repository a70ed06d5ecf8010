// Activation layers apply a function to each element. One operation counts as one FLOP. A call of exp, erf, tanh, max
// or min also counts as one FLOP, although its real cost is different on each machine.
//
// The backward pass multiplies the gradient g of the output by the derivative of the function. Either the output y or
// the input x is kept to compute the derivative, as PyTorch's derivatives.yaml says. In the table, the middle column is
// the product of g and the derivative. The last column is the FLOP per element of the backward pass:
//   relu         g where y > 0                        1
//   relu6        g where 0 < x, x < 6                 2
//   leaky_relu   g where x > 0, else g slope          2
//   sigmoid      g y (1 - y)                          3
//   tanh         g (1 - y y)                          3
//   silu         g s (1 + x (1 - s)), s = sigmoid(x)  4 + 5
//   gelu         g ((1 + erf(x / sqrt 2)) / 2 + x exp(-x x / 2) / sqrt(2 pi))  4 + 1 + 4 + 1 + 1
//   hardsigmoid  g / 6 where -3 < x, x < 3            3
//   hardswish    g (x / 3 + 1 / 2) where -3 < x, x < 3; g where 3 < x       5
//   softmax      y (g - sum of g y)                   4
#include "base/quantity.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

enum class Reads { input, output };

template <int flop_each, int backward_flop_each, Reads reads>
LayerCounts infer(const Reader&, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  const std::int64_t elements = elements_of(counts.shape);
  counts.flop = checked_mul(elements, flop_each, "FLOP");
  counts.backward = {.input_flop = checked_mul(elements, backward_flop_each, "FLOP"),
                     .reads_inputs = reads == Reads::input,
                     .reads_output = reads == Reads::output};
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

}  // namespace

extern const LayerType relu_layer, relu6_layer, leaky_relu_layer, sigmoid_layer, tanh_layer,
    silu_layer, gelu_layer, hardsigmoid_layer, hardswish_layer, softmax_layer;

const LayerType relu_layer = {
    .name = "relu",
    .summary = "Computes max(x, 0) of each element, with 1 FLOP per element.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g where y is above 0, and 0 elsewhere. "
        "This takes 1 FLOP per element. As in PyTorch, training keeps the output y for the backward pass. The layer "
        "has no parameters.",
    .source = "Nair and Hinton, Rectified linear units improve restricted Boltzmann machines",
    .example = "{type: input, shape: [56, 56, 64]}, {type: relu}",
    .infer = infer<1, 1, Reads::output>,
};

const LayerType relu6_layer = {
    .name = "relu6",
    .summary = "Computes min(max(x, 0), 6) of each element, with 2 FLOP per element.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g where x is between 0 "
        "and 6, and 0 elsewhere. This takes 2 FLOP per element. As in PyTorch, training keeps the "
        "input x for the backward pass. Use `relu6` for networks such as MobileNet. The outputs of "
        "`relu6` are bounded, so few bits are enough to store them.",
    .source =
        "Howard et al., MobileNets (2017); Krizhevsky, Convolutional deep belief networks on CIFAR-10 (2010)",
    .example = "{type: input, shape: [56, 56, 64]}, {type: relu6}",
    .infer = infer<2, 2, Reads::input>,
};

const LayerType leaky_relu_layer = {
    .name = "leaky_relu",
    .summary = "Computes max(x, slope x) of each element, with 2 FLOP per element.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g where x is above 0, "
        "and slope g elsewhere. This takes 2 FLOP per element. As in PyTorch, training keeps the "
        "input x for the backward pass. No count depends on the slope, so the layer has no key for "
        "the slope.",
    .source =
        "Maas, Hannun and Ng, Rectifier nonlinearities improve neural network acoustic models (2013), section 2",
    .example = "{type: input, shape: [56, 56, 64]}, {type: leaky_relu}",
    .infer = infer<2, 2, Reads::input>,
};

const LayerType sigmoid_layer = {
    .name = "sigmoid",
    .summary =
        "Computes 1 / (1 + exp(-x)) of each element, with 4 FLOP per element: negate, exp, add, divide.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g y (1 - y). This takes 3 FLOP per "
        "element. As in PyTorch, training keeps the output y for the backward pass. Use `sigmoid` for values between "
        "0 and 1, such as the gates of squeeze-and-excitation networks.",
    .source = "Goodfellow, Bengio and Courville, Deep Learning, section 3.10",
    .example = "{type: input, shape: [56, 56, 64]}, {type: sigmoid}",
    .infer = infer<4, 3, Reads::output>,
};

const LayerType tanh_layer = {
    .name = "tanh",
    .summary = "Computes tanh(x) of each element, with 1 FLOP per element.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g (1 - y y). This takes 3 FLOP per "
        "element. As in PyTorch, training keeps the output y for the backward pass. A call of tanh counts as 1 FLOP. "
        "Its real cost depends on the machine.",
    .source = "Goodfellow, Bengio and Courville, Deep Learning, section 6.3.2",
    .example = "{type: input, shape: [56, 56, 64]}, {type: tanh}",
    .infer = infer<1, 3, Reads::output>,
};

const LayerType silu_layer = {
    .name = "silu",
    .summary = "Computes x sigmoid(x) of each element, also called swish, with 5 FLOP per element.",
    .details =
        "Let g be the gradient of the output, and s = sigmoid(x). The gradient of the input is g s "
        "(1 + x (1 - s)). This takes 9 FLOP per element. As in PyTorch, training keeps the input x "
        "for the backward pass. Of these 9 FLOP, the backward pass takes 4 to compute s again from "
        "x.",
    .source = "Elfwing, Uchibe and Doya, Sigmoid-weighted linear units (2018), section 2",
    .example = "{type: input, shape: [56, 56, 64]}, {type: silu}",
    .infer = infer<5, 9, Reads::input>,
};

const LayerType gelu_layer = {
    .name = "gelu",
    .summary = "Computes x (1 + erf(x / sqrt 2)) / 2 of each element, with 5 FLOP per element.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g ((1 + erf(x / sqrt 2)) / 2 + x exp(-x x "
        "/ 2) / sqrt(2 pi)). This takes 11 FLOP per element. As in PyTorch, training keeps the input x for the "
        "backward pass. A call of erf or exp counts as 1 FLOP. Its real cost depends on the machine.",
    .source = "Hendrycks and Gimpel, Gaussian error linear units (2016), section 2",
    .example = "{type: input, shape: [56, 56, 64]}, {type: gelu}",
    .infer = infer<5, 11, Reads::input>,
};

const LayerType hardsigmoid_layer = {
    .name = "hardsigmoid",
    .summary = "Computes relu6(x + 3) / 6 of each element, with 4 FLOP per element.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g / 6 where x is "
        "between -3 and 3, and 0 elsewhere. This takes 3 FLOP per element. As in PyTorch, training "
        "keeps the input x for the backward pass. Networks such as MobileNetV3 use `hardsigmoid` "
        "in place of `sigmoid`, because `hardsigmoid` needs no exponential function.",
    .source = "Howard et al., Searching for MobileNetV3 (2019), section 5.2",
    .example = "{type: input, shape: [56, 56, 64]}, {type: hardsigmoid}",
    .infer = infer<4, 3, Reads::input>,
};

const LayerType hardswish_layer = {
    .name = "hardswish",
    .summary = "Computes x relu6(x + 3) / 6 of each element, with 5 FLOP per element.",
    .details =
        "Let g be the gradient of the output. The gradient of the input is g (x / 3 + 1 / 2) where "
        "x is between -3 and 3, g where x is above 3, and 0 where x is below -3. This takes 5 FLOP "
        "per element. As in PyTorch, training keeps the input x for the backward pass. Networks "
        "such as MobileNetV3 use `hardswish` in place of `silu`, because `hardswish` needs no "
        "exponential function.",
    .source = "Howard et al., Searching for MobileNetV3 (2019), section 5.2",
    .example = "{type: input, shape: [56, 56, 64]}, {type: hardswish}",
    .infer = infer<5, 5, Reads::input>,
};

const LayerType softmax_layer = {
    .name = "softmax",
    .summary =
        "Computes exp(x - max) / sum over the last axis: max, subtract, exp, add, divide, which are 5 FLOP per "
        "element.",
    .details =
        "The maximum is subtracted so that exp does not overflow. Let g be the gradient of the "
        "output. The backward pass computes y (g - sum of g y), with 4 FLOP per element. For this, "
        "training keeps the output y. Use `softmax` after the last layer of a classifier. The "
        "layer `attention` contains its own softmax.",
    .source = "Goodfellow, Bengio and Courville, Deep Learning, sections 4.1 and 6.2.2.3",
    .example = "{type: input, shape: [1000]}, {type: softmax}",
    .infer = infer<5, 4, Reads::output>,
};

}  // namespace sluice
