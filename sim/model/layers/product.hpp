// Counts the products of values with weights, for the layers `dense` and `matmul` and for the convolutions.
//
// In the forward pass, each stored weight is multiplied with several values: `meets` is their number. Each product is a
// multiply-accumulate of 2 FLOP. A bias adds 1 FLOP per output. The backward pass is counted as in automatic
// differentiation (Goodfellow, Bengio and Courville, Deep Learning, section 6.5). It computes two gradients: of the
// input and of the weights. Each gradient takes as many multiply-accumulates as the forward pass. The gradient of a
// bias takes 1 FLOP per output. The gradient of the weights depends on the input, so the backward pass reads the input.
//
// `sparsity` is the share of zeros among the weights, without the bias. Zeros are not stored. The products with zeros
// are computed neither in the forward pass nor in the backward pass. The number of zeros is sparsity x weights, rounded
// to a whole number. The indices of the stored weights are not counted. The counts of sparse weights follow Hoefler et
// al., Sparsity in deep learning (2021), sections 2.2 and 6.1.
#pragma once

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

Field sparsity_field();

/// Sets the counts of a layer that has the keys `bias` and `sparsity`. `counts.shape` must already be set. `weights` is
/// the number of the layer's weights, and each weight is multiplied with `meets` values. Throws InputError on overflow.
void count_product(LayerCounts& counts, const Reader& keys, std::int64_t weights,
                   std::int64_t meets);

}  // namespace sluice
