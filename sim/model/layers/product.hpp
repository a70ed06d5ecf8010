// Products with weights: what dense, matmul and the convolutions share.
//
// Forward: each weight that is stored meets so many values, a multiply-accumulate (2 FLOP) each; a
// bias adds 1 FLOP an output. Backward, as automatic differentiation does it (Goodfellow, Bengio
// and Courville, Deep Learning, section 6.5): the gradient of the input and that of the weights
// take as many multiply-accumulates as the forward pass each, that of a bias sums 1 FLOP an output;
// the input is read again.
//
// Sparsity is structured: that share of the weights (not of the bias) is zero and left out, of the
// storage, of the products and of their gradients. The zeros are sparsity x weights, rounded to a
// whole number. The indices of those that are stored are not counted. Source: Hoefler et al.,
// Sparsity in deep learning (2021), section 2.2 and 6.1.
#pragma once

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

Field sparsity_field();

/// Counts of a layer whose `shape` is set and that has the keys `bias` and `sparsity`; each of its
/// `weights` meets `meets` values. Throws InputError on overflow.
void count_product(LayerCounts& counts, const Reader& keys, std::int64_t weights,
                   std::int64_t meets);

}  // namespace sluice
