#include "cost/fitted/attention.hpp"

#include "cost/fitted/config.hpp"

namespace sluice {
namespace {

struct Sizes {
  /// The sizes of the matrices of attention. `matrices` is the number of heads x the number of samples.
  double matrices, rows, keys, width, depth;
  double size;  ///< the number of bytes of an element
  bool dropout;
};

Sizes sizes_of(const Query& query) {
  const Layer& layer = *query.layer;
  const Shape &queries = layer.input_shapes.at(0), &keys = layer.input_shapes.at(1);
  const double heads = config_number(layer, "heads", 1);
  return {.matrices = heads * static_cast<double>(query.samples),
          .rows = static_cast<double>(queries.at(0)),
          .keys = static_cast<double>(keys.at(0)) + config_number(layer, "cached", 0),
          .width = static_cast<double>(queries.at(1)) / heads,
          .depth = static_cast<double>(layer.shape.back()) / heads,
          .size = static_cast<double>(bytes_of(query.dtype)),
          .dropout = config_is_on(layer, "dropout")};
}

/// Returns a stream over all scores. Parameter `passes` is the number of times that the stream reads or writes each
/// score.
Kernel over_scores(const Sizes& s, const char* of, double passes) {
  const double rows = s.matrices * s.rows;
  return {.of = of, .rows = rows, .columns = s.keys, .bytes = passes * s.size * rows * s.keys};
}

/// Attention has two products. The first product multiplies queries by keys, and gives the scores. The second product
/// multiplies scores by values. Between the products, eager attention has a scale, a mask, softmax and dropout. Each of
/// these reads and writes all scores once. Dropout also writes a mask.
std::vector<Kernel> forward_kernels(const Sizes& s, bool eager) {
  std::vector<Kernel> kernels = {product("bmm", s.matrices, s.rows, s.keys, s.width, s.size)};
  if (eager) {
    for (int step = 0; step < 2; ++step) kernels.push_back(over_scores(s, "elementwise", 2));
    kernels.push_back(over_scores(s, "softmax", 2));
    if (s.dropout) kernels.push_back(over_scores(s, "elementwise", 2 + 1 / s.size));
  }
  kernels.push_back(product("bmm", s.matrices, s.rows, s.depth, s.keys, s.size));
  return kernels;
}

/// Each product has two gradients. Between the products, dropout reads its mask, and softmax reads its output and the
/// gradient. Two more kernels follow: one for attention's own mask, and one for the scale. Each of these two reads and
/// writes the gradient of each score. Fused attention does not keep the scores, so it computes them again.
std::vector<Kernel> backward_kernels(const Sizes& s, bool eager) {
  std::vector<Kernel> kernels = {product("bmm", s.matrices, s.keys, s.depth, s.rows, s.size),
                                 product("bmm", s.matrices, s.rows, s.keys, s.depth, s.size)};
  if (eager) {
    if (s.dropout) kernels.push_back(over_scores(s, "elementwise", 2 + 1 / s.size));
    kernels.push_back(over_scores(s, "softmax", 3));
    for (int step = 0; step < 2; ++step) kernels.push_back(over_scores(s, "elementwise", 2));
  } else {
    kernels.push_back(product("bmm", s.matrices, s.rows, s.keys, s.width, s.size));
  }
  kernels.push_back(product("bmm", s.matrices, s.rows, s.width, s.keys, s.size));
  kernels.push_back(product("bmm", s.matrices, s.keys, s.width, s.rows, s.size));
  return kernels;
}

}  // namespace

std::vector<Kernel> attention_kernels(const Query& query, AttentionKernels attention) {
  const Sizes sizes = sizes_of(query);
  const bool eager = attention == AttentionKernels::eager;
  if (query.pass == Pass::forward || query.pass == Pass::recompute)
    return forward_kernels(sizes, eager);
  if (query.pass == Pass::backward_weight) return {};  // attention has no weights
  return backward_kernels(sizes, eager);
}

}  // namespace sluice
