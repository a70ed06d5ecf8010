// Products with weights: what dense, matmul and the convolutions share.
//
// Forward pass: each stored weight is multiplied with `meets` values, and each of these products is
// a multiply-accumulate (2 FLOP); a bias adds 1 FLOP per output. Backward pass, as automatic
// differentiation computes it (Goodfellow, Bengio and Courville, Deep Learning, section 6.5): the
// gradients of the input and of the weights each take as many multiply-accumulates as the forward
// pass, and that of a bias sums 1 FLOP per output; the input is read again.
//
// Sparsity is structured: this share of the weights (not of the bias) is zero and left out of the
// storage, of the products and of their gradients. The number of zeros is sparsity x weights,
// rounded to a whole number. The indices of the stored weights are not counted. Source: Hoefler et
// al., Sparsity in deep learning (2021), sections 2.2 and 6.1.
#pragma once

#include "document/record.hpp"
#include "model/catalog.hpp"

namespace sluice {

Field sparsity_field();

/// Sets the counts of a layer whose `shape` is set and that has the keys `bias` and `sparsity`;
/// each of its `weights` is multiplied with `meets` values. Throws InputError on overflow.
void count_product(LayerCounts& counts, const Reader& keys, std::int64_t weights,
                   std::int64_t meets);

}  // namespace sluice
