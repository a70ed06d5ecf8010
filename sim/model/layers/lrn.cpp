#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// An element takes `size` + 4 operations of 1 FLOP: its square, `size` - 1 additions of squares, the multiplication by
// alpha, the addition of k, the power beta, and the division. The square of an element is computed only once, although
// all its neighbours use it.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  const std::int64_t each = checked_add(keys.integer("size"), 4, "FLOP");
  counts.flop = checked_mul(elements_of(counts.shape), each, "FLOP");
  // The output is y = x s^-beta, where s = k + alpha (sum of squares). The backward pass computes s again. For each
  // element, it also adds up the gradients of the `size` neighbours.
  counts.backward = {.input_flop = checked_mul(counts.flop, 2, "FLOP"),
                     .reads_inputs = true,
                     .reads_output = true};
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

}  // namespace

extern const LayerType lrn_layer = {
    .name = "lrn",
    .summary =
        "Divides each element by a number that grows with the squares of its neighbours in the channels, with size + 4 "
        "FLOP per element. This is local response normalisation.",
    .details =
        "The formula is y = x / (k + alpha (sum of squares))^beta. The sum goes over `size` neighbouring channels. "
        "An element takes 1 FLOP for its square and size - 1 FLOP for the sum. The product with alpha, the addition "
        "of k, the power and the division take 1 FLOP each. The backward pass takes twice the FLOP of the forward "
        "pass, and reads input and output. Use `lrn` for networks such as AlexNet.",
    .source = "Krizhevsky, Sutskever and Hinton, ImageNet classification (2012), section 3.3",
    .example = "{type: input, shape: [55, 55, 96]}, {type: lrn, size: 5}",
    .parameters = {Key::integer("size", "the number of channels that are summed")
                       .by_default("5")
                       .at_least(1)},
    .infer = infer,
};

}  // namespace sluice
